// The rows of an epoch as its operator publishes them: a text from which any reader can build the
// tree. The first line is "owner,index,amount,units,emission". Then comes a line for each owner,
// sorted by owner, with its key in base58 and decimal numbers since the start: micro-credits,
// millionths of compute units, and the part of the micro-credits that is emission. Rows without an
// emission have only the first four columns.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "common/solana/sum_tree.h"

namespace weft::solana {

[[nodiscard]] std::string owner_rows_text(std::span<const Earned> rows);
// Parses rows, 2,097,152 at most. Fails with invalid_argument and the line for any other text.
// SumTree checks the order and duplicate owners.
[[nodiscard]] Result<std::vector<Earned>> parse_owner_rows(std::string_view text);

// The first owner, in the order of the tree, on which two sets of rows differ. The text names the
// owner and both sides. Both sets are sorted by owner.
[[nodiscard]] std::optional<std::string> first_difference(std::span<const Earned> here,
                                                          std::span<const Earned> there);
// The first owner of `before` that has less in `after`, or another index, or no row. No later epoch
// may have such an owner.
[[nodiscard]] std::optional<std::string> first_loss(std::span<const Earned> before,
                                                    std::span<const Earned> after);
// The first owner whose loss the on-chain program accepts as evidence against a root. The emission
// is in no leaf, and an owner that had nothing may be missing.
[[nodiscard]] std::optional<PublicKey> first_provable_loss(std::span<const Earned> before,
                                                           std::span<const Earned> after);

}  // namespace weft::solana
