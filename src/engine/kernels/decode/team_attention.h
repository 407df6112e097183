// The text of team_attention.wgsl for a group of heads.
#pragma once

#include <cstdint>
#include <string>

namespace weft::kernels {

// Heads of `dim` numbers, `group` of them to a key head, by teams of `team` threads.
struct TeamAttentionShape {
  std::uint32_t group = 1, dim = 0, team = 0;
};
// The sizes that it can do: numbers and threads divide evenly, and heads fit into registers.
[[nodiscard]] bool team_attention_possible(const TeamAttentionShape& shape);
[[nodiscard]] std::string team_attention_text(const TeamAttentionShape& shape);

}  // namespace weft::kernels
