// What the commands about epochs share.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <vector>

#include "apps/cli/settlement/line.h"
#include "common/base/result.h"
#include "common/solana/owner_rows.h"
#include "common/solana/sum_tree.h"

namespace weft::cli {

// The rows of a file, in its order.
[[nodiscard]] Result<std::vector<solana::Earned>> epoch_rows(const std::filesystem::path& path);
// What of the rows' amounts is emission, since the start.
[[nodiscard]] std::uint64_t emission_in(std::span<const solana::Earned> rows);
// What an epoch may emit, in micro-credits.
[[nodiscard]] std::uint64_t emission_left(const SettlementLine& line, std::uint64_t epoch);
// The newest final epoch whose tree these rows make; not_found.
[[nodiscard]] Result<std::uint64_t> final_slot_of(const SettlementLine& line,
                                                  const solana::SumTree& tree);
// The claim of an owner of the tree, against the root in this slot.
[[nodiscard]] Result<solana::ProgramCall> claim_call(const SettlementLine& line,
                                                     const solana::SumTree& tree,
                                                     const PublicKey& owner, std::uint64_t slot);
// What owners have claimed since the start, each page of them read once.
class ClaimedPages {
 public:
  explicit ClaimedPages(const SettlementLine& line) : line_(line) {}
  // nullopt if the owner's page is not open yet.
  [[nodiscard]] Result<std::optional<std::uint64_t>> of(std::uint32_t index);

 private:
  const SettlementLine& line_;
  std::map<std::uint32_t, std::optional<ByteVector>> pages_;
};
// As the program takes a path: 40 bytes for each level.
[[nodiscard]] ByteVector path_bytes(const solana::SumPath& path);

}  // namespace weft::cli
