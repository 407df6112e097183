// What owners, clients, watchers and the operator ask of the core, and what they are told, as plain
// data. Jobs and what workers say is events.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/protocol/api.h"
#include "common/protocol/watch.h"
#include "common/records/records.h"
#include "decisions/jobs/chain_stakes.h"
#include "decisions/jobs/events.h"
#include "decisions/ledger/ledger.h"

namespace weft::jobs {

// Credits between an owner and its stake. `wallet` is one of its devices.
struct StakeMove {
  PublicKey wallet;
  bool deposit = true;
  MicroCredits amount = 0;
  std::uint64_t number = 0;
};
struct StakeView {
  PublicKey wallet;
  MicroCredits staked = 0;    // In the ledger.
  MicroCredits on_chain = 0;  // On the chain, and not unbonding.
  MicroCredits at_risk = 0;   // For tasks and answers that are not decided.
  ledger::Funds spendable;
  double reputation = 0;
  bool established = false;
  UnixMillis suspended_until = 0;
};

// A reading of all stakes on the chain, as chain_stakes.h says, and what the coordinator knows
// then.
struct ChainReading {
  std::uint64_t slot = 0;
  std::vector<ChainStake> stakes;
};
struct ChainReadingTaken {
  std::uint64_t slot = 0;
  std::size_t owners = 0;
  MicroCredits staked = 0;
};

// Free credits of the owner of `by` out of the ledger, to be paid on the chain that settles it.
struct Settling {
  PublicKey by;
  MicroCredits amount = 0;
  std::uint64_t number = 0;  // The request's own: the same one moves credits once.
};

// A client that has shown an invitation, or a process of the operator's own (`is_own`), which the
// bounds of grants do not count.
struct GrantWanted {
  PublicKey client;
  std::string address;  // The group of addresses that count as one.
  bool is_own = false;
};

// How a job has ended.
struct EndedJob {
  store::JobState state = store::JobState::done;
  std::string reason;  // Empty where it is done.
  std::vector<store::OutputBlob> outputs;
  MicroCredits paid = 0;  // Out of its budget.
};

// What a device shows of its owner.
struct OwnerView {
  OwnerId owner;
  PublicKey device;
  ledger::Balances balances;
  std::vector<store::Device> devices;
};
// What the core holds of an owner, beside its jobs and its history.
struct OwnerData {
  struct Worker {
    protocol::api::Worker view;  // As it is connected, or with its counts alone.
    StakeView standing;
    UnixMillis seen = 0;  // The begin of the last day that is remembered of it; 0: none.
  };
  OwnerView owner;
  std::vector<store::ApiKey> keys;
  std::vector<Worker> workers;  // Its devices that have worked or are connected.
  std::vector<store::ClientWeight> weights;
};
// Free credits of the owner of `by`, or new ones (the operator's to make), to the owner of `to`.
struct Payment {
  enum class Source : std::uint8_t { balance, mint };
  PublicKey by;
  PublicKey to;
  MicroCredits amount = 0;
  std::uint64_t number = 0;  // The request's own: the same one moves credits once.
  Source source = Source::balance;
};

// The operator's word that a worker was convicted without cause.
struct Pardon {
  PublicKey worker;
  UnixMillis at = 0;  // By the operator's clock.
};
// A client's weight (scheduler/fair_share.h), as the operator set it.
inline constexpr double client_weight_min = 0.001;
inline constexpr double client_weight_max = 1000;
using store::ClientWeight;

// So long a quote holds.
inline constexpr UnixMillis quote_valid_ms = 300'000;

// What watchers are told: what changed since the last time, and where asked for all there is, as of
// now.
enum class WatchWanted : std::uint8_t { delta, snapshot_too };
struct WatchUpdate {
  protocol::watch::Delta delta;
  std::optional<protocol::watch::Snapshot> snapshot;
};

}  // namespace weft::jobs
