// The rows of an epoch as its operator publishes them, a text that any reader can build the tree
// from: a first line "owner,index,amount,units,emission", then a line for each owner, sorted by
// owner, with its key in base58 and decimal numbers (micro-credits, millionths of compute units,
// and what of the micro-credits is emission, all since the start). Rows without an emission have
// the four columns before it.
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
// invalid_argument with the line where the text is something else; 2,097,152 rows are the most. The
// order and doubled owners are SumTree's to see.
[[nodiscard]] Result<std::vector<Earned>> parse_owner_rows(std::string_view text);

// The first owner, in the order of the tree, on which two sets of rows do not agree; its text names
// the owner and both sides. Both are sorted by owner.
[[nodiscard]] std::optional<std::string> first_difference(std::span<const Earned> here,
                                                          std::span<const Earned> there);
// The first owner that has less than before, another index, or is gone: what no later epoch may do.
[[nodiscard]] std::optional<std::string> first_loss(std::span<const Earned> before,
                                                    std::span<const Earned> after);
// The first owner whose loss the on-chain program takes as evidence against a root: what was
// emission is in no leaf, and an owner that had nothing may be gone.
[[nodiscard]] std::optional<PublicKey> first_provable_loss(std::span<const Earned> before,
                                                           std::span<const Earned> after);

}  // namespace weft::solana
