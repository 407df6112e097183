// The rows of the next epoch: the credits that owners have settled in the ledger since the start,
// as far as the chain can pay them, and the owners' parts of the emission.
//
// A row holds everything that the owner was ever given, the part of it that was emission, and the
// millionths of compute units of verified work that the ledger counts for the owner. Each epoch's
// rows follow from four inputs: the rows of the epoch before, the ledger's settled accounts, the
// amount that is charged and not posted yet, and the epoch's emission. Equal inputs give equal
// rows, so lost rows can be made again.
//
// An owner has a row from its first settlement on. The emission of an epoch is shared by the units
// that owners have done since the previous rows. Work that was done before an owner had a row has
// no part in any emission, so an owner gains nothing by settling it in an epoch in which other
// owners do little. The units in a row never fall: if the ledger takes units back, the owner's
// later units first make up for them.
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
  std::uint64_t amount = 0;  // The micro-credits given from the start on.
  std::uint64_t units = 0;   // Millionths of compute units of verified work since the start.
};
// The amounts that an epoch may give out, in micro-credits.
struct EpochFunds {
  std::uint64_t available = 0;  // Charged by vouchers and not posted yet.
  std::uint64_t emission = 0;   // New tokens that the epoch may give out.
};
struct EpochRows {
  std::vector<solana::Earned> rows;  // The rows, sorted by owner.
  std::uint64_t given = 0;    // Settled credits that are given beyond the rows of the epoch before.
  std::uint64_t waiting = 0;  // Settled credits that are left for a later epoch.
  std::uint64_t emitted = 0;  // The whole emission, or 0 if no work was done.
};

// Makes the next rows. `previous` are the rows of the last posted epoch that is not void (empty: no
// epoch yet); `settled` names each owner at most once. At most `available` is given: to each owner
// all that it has settled, or, if that is more, its share of `available`, rounded down. Owners
// without a row get the next indices, in the order of their keys. Fails with data_loss if an owner
// has settled less than its row gives, as after the return to an old copy of the ledger; with
// invalid_argument if an owner occurs twice or a row's emission is above its amount; with
// resource_exhausted beyond solana::tree_owners_max owners.
[[nodiscard]] Result<EpochRows> next_rows(std::span<const solana::Earned> previous,
                                          std::span<const Settled> settled,
                                          const EpochFunds& funds);

// The emission that the on-chain program allows an epoch (chain/program/epochs.h, emission_of).
struct EmissionPlan {
  std::uint64_t first = 0;
  std::uint64_t halving_epochs = 1;
  std::uint64_t left = 0;  // The emission that is still possible below the cap.
};
[[nodiscard]] std::uint64_t emission_of(const EmissionPlan& plan, std::uint64_t epoch);

// Checks that each owner's new emission is its part of what these rows emit beyond the previous
// ones. Returns a sentence that names an owner whose emission is wrong; nullopt if all are right.
[[nodiscard]] std::optional<std::string> emission_difference(
    std::span<const solana::Earned> previous, std::span<const solana::Earned> rows);

}  // namespace weft::settlement
