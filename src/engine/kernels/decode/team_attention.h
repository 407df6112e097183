// The text of team_attention.wgsl for a number of heads.
#pragma once

#include <cstdint>
#include <string>

namespace weft::kernels {

// Heads of `dim` numbers, with `group` query heads to a key head, and teams of `team` threads.
struct TeamAttentionShape {
  std::uint32_t group = 1, dim = 0, team = 0;
};
// True if the kernel supports these sizes: numbers and threads divide evenly, and the heads fit
// into registers.
[[nodiscard]] bool team_attention_possible(const TeamAttentionShape& shape);
[[nodiscard]] std::string team_attention_text(const TeamAttentionShape& shape);

}  // namespace weft::kernels
