// The rows of the next epoch: what owners have settled in the ledger since the start, as far as the
// chain can pay it.
//
// A row's amount and its units are both what the owner was ever given of what it settled, in
// micro-credits: each epoch's rows follow from those of the epoch before, the ledger's settled
// accounts and the amount that is charged and not posted yet. No row has a part of the emission.
// The same three give the same rows, so that rows that were lost are made again.
//
// Pure.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/solana/sum_tree.h"

namespace weft::settlement {

struct Settled {
  PublicKey owner;
  std::uint64_t amount = 0;  // Micro-credits since the start.
};
struct EpochRows {
  std::vector<solana::Earned> rows;  // Sorted by owner.
  std::uint64_t given = 0;           // More than in the epoch before.
  std::uint64_t waiting = 0;         // Settled and left for a later epoch.
};

// `previous` are the rows of the last epoch that was posted and is not void (empty: none),
// `settled` an owner at most once each. At most `available` is given: to all that they have
// settled, or if that is more, to each its share of it, rounded down. Owners without a row get the
// next indices, in the order of their keys. data_loss if an owner has settled less than its row
// gives, as after the return to an old copy of the ledger; invalid_argument if an owner comes
// twice; resource_exhausted beyond solana::tree_owners_max owners.
[[nodiscard]] Result<EpochRows> next_rows(std::span<const solana::Earned> previous,
                                          std::span<const Settled> settled,
                                          std::uint64_t available);

}  // namespace weft::settlement
