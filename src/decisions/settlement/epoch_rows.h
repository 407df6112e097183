// The rows of the next epoch: what owners have settled in the ledger since the start, as far as the
// chain can pay it, and their parts in the emission.
//
// A row has what the owner was ever given, how much of that was emission, and the millionths of
// compute units of verified work that the ledger counts for it. Each epoch's rows follow from those
// of the epoch before, the ledger's settled accounts, the amount that is charged and not posted yet
// and the epoch's emission. The same four give the same rows, so that rows that were lost are made
// again.
//
// An owner has a row from its first settlement on. The emission of an epoch is shared by the units
// that owners have done since the rows before: work that was done before an owner had a row has no
// part in any emission, so that nothing is gained by settling it in an epoch in which others do
// little. Units never fall in the rows; units that the ledger took back since are made up for
// first.
//
// Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/solana/sum_tree.h"

namespace weft::settlement {

struct Settled {
  PublicKey owner;
  std::uint64_t amount = 0;  // Micro-credits since the start.
  std::uint64_t units = 0;   // Millionths of compute units of verified work since the start.
};
// What an epoch may give out, both in micro-credits.
struct EpochFunds {
  std::uint64_t available = 0;  // Charged by vouchers and not posted yet.
  std::uint64_t emission = 0;   // New tokens.
};
struct EpochRows {
  std::vector<solana::Earned> rows;  // Sorted by owner.
  std::uint64_t given = 0;    // What is given of settled credits, more than in the epoch before.
  std::uint64_t waiting = 0;  // Settled and left for a later epoch.
  std::uint64_t emitted = 0;  // All of the emission, or nothing where no work was done.
};

// `previous` are the rows of the last epoch that was posted and is not void (empty: none),
// `settled` an owner at most once each. At most `available` is given: to all that they have
// settled, or if that is more, to each its share of it, rounded down. Owners without a row get the
// next indices, in the order of their keys. data_loss if an owner has settled less than its row
// gives, as after the return to an old copy of the ledger; invalid_argument if an owner comes
// twice or a row's emission is above its amount; resource_exhausted beyond solana::tree_owners_max
// owners.
[[nodiscard]] Result<EpochRows> next_rows(std::span<const solana::Earned> previous,
                                          std::span<const Settled> settled,
                                          const EpochFunds& funds);

// What the on-chain program lets an epoch emit (chain/program/epochs.h, emission_of).
struct EmissionPlan {
  std::uint64_t first = 0;
  std::uint64_t halving_epochs = 1;
  std::uint64_t left = 0;  // What the cap leaves.
};
[[nodiscard]] std::uint64_t emission_of(const EmissionPlan& plan, std::uint64_t epoch);

// Which owner's emission is not its part of what these rows emit beyond those before them, as a
// sentence; nullopt if each is.
[[nodiscard]] std::optional<std::string> emission_difference(
    std::span<const solana::Earned> previous, std::span<const solana::Earned> rows);

}  // namespace weft::settlement
