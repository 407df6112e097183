// Functions that several commands about epochs use.
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

// Reads the rows of a file, in its order.
[[nodiscard]] Result<std::vector<solana::Earned>> epoch_rows(const std::filesystem::path& path);
// The part of the rows' amounts that is emission, since the start.
[[nodiscard]] std::uint64_t emission_in(std::span<const solana::Earned> rows);
// The amount that an epoch may emit, in micro-credits.
[[nodiscard]] std::uint64_t emission_left(const SettlementLine& line, std::uint64_t epoch);
// The slot of the newest final epoch whose root is that of `tree`. Fails with not_found if no final
// epoch has this root.
[[nodiscard]] Result<std::uint64_t> final_slot_of(const SettlementLine& line,
                                                  const solana::SumTree& tree);
// Makes the claim of an owner of the tree, against the root in this slot.
[[nodiscard]] Result<solana::ProgramCall> claim_call(const SettlementLine& line,
                                                     const solana::SumTree& tree,
                                                     const PublicKey& owner, std::uint64_t slot);
// Reads the amounts that owners have claimed since the start; reads each page of the chain once.
class ClaimedPages {
 public:
  explicit ClaimedPages(const SettlementLine& line) : line_(line) {}
  // Returns nullopt if the owner's page was not created yet.
  [[nodiscard]] Result<std::optional<std::uint64_t>> of(std::uint32_t index);

 private:
  const SettlementLine& line_;
  std::map<std::uint32_t, std::optional<ByteVector>> pages_;
};
// Encodes a path for the on-chain program: 40 bytes for each level.
[[nodiscard]] ByteVector path_bytes(const solana::SumPath& path);

}  // namespace weft::cli
