// The requests of owners, clients, watchers and the operator to the core, and its answers, as plain
// data. Jobs and the messages of workers are in events.h.
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

// A request to move credits between an owner and its stake. `wallet` is one of the owner's devices.
struct StakeMove {
  PublicKey wallet;
  bool deposit = true;
  MicroCredits amount = 0;
  std::uint64_t number = 0;
};
struct StakeView {
  PublicKey wallet;
  MicroCredits staked = 0;    // The wallet's stake in the ledger.
  MicroCredits on_chain = 0;  // The stake on the chain that is not unbonding.
  // The stake that is at risk for tasks and answers that are not decided.
  MicroCredits at_risk = 0;
  ledger::Funds spendable;
  double reputation = 0;
  bool established = false;
  UnixMillis suspended_until = 0;
};

// A reading of all stakes on the chain (chain_stakes.h), and the state of the coordinator's
// knowledge after that reading.
struct ChainReading {
  std::uint64_t slot = 0;
  std::vector<ChainStake> stakes;
};
struct ChainReadingTaken {
  std::uint64_t slot = 0;
  std::size_t owners = 0;
  MicroCredits staked = 0;
};

// A request to take free credits of the owner of `by` out of the ledger, so that they are paid on
// the chain that settles it.
struct Settling {
  PublicKey by;
  MicroCredits amount = 0;
  // The number of the request: requests with an equal number move credits once.
  std::uint64_t number = 0;
};

// A client that has shown an invitation. `is_own` marks a process of the operator's own, to which
// the limits of grants do not apply.
struct GrantWanted {
  PublicKey client;
  std::string address;  // The group of addresses that counts as one address.
  bool is_own = false;
};

// The state in which a job has ended, with the reason.
struct EndedJob {
  store::JobState state = store::JobState::done;
  std::string reason;  // Empty if the job is done.
  std::vector<store::OutputBlob> outputs;
  MicroCredits paid = 0;  // The credits that were paid out of the job's budget.
};

// The view of an owner that each of its devices gets.
struct OwnerView {
  OwnerId owner;
  PublicKey device;
  ledger::Balances balances;
  std::vector<store::Device> devices;
};
// The data that the core holds of an owner, beside its jobs and its history.
struct OwnerData {
  struct Worker {
    // The view of a connected worker; of another one, its counts alone.
    protocol::api::Worker view;
    StakeView standing;
    // The start of the last day on which the worker was connected, as far as known; 0: unknown.
    UnixMillis seen = 0;
  };
  OwnerView owner;
  std::vector<store::ApiKey> keys;
  std::vector<Worker> workers;  // The owner's devices that have worked or are connected.
  std::vector<store::ClientWeight> weights;
};
// A payment to the owner of `to`: of free credits of the owner of `by`, or of new credits, which
// only the operator may make.
struct Payment {
  enum class Source : std::uint8_t { balance, mint };
  PublicKey by;
  PublicKey to;
  MicroCredits amount = 0;
  // The number of the request: requests with an equal number move credits once.
  std::uint64_t number = 0;
  Source source = Source::balance;
};

// The operator's decision that a worker was convicted without cause.
struct Pardon {
  PublicKey worker;
  UnixMillis at = 0;  // Time of the setting by the operator's clock.
};
// Bounds of a client's weight (scheduler/fair_share.h), which the operator sets.
inline constexpr double client_weight_min = 0.001;
inline constexpr double client_weight_max = 1000;
using store::ClientWeight;

// The time for which a quote holds.
inline constexpr UnixMillis quote_valid_ms = 300'000;

// The updates that a watcher asks for: the changes since its last request, or these and a snapshot
// of the present state.
enum class WatchWanted : std::uint8_t { delta, snapshot_too };
struct WatchUpdate {
  protocol::watch::Delta delta;
  std::optional<protocol::watch::Snapshot> snapshot;
};

}  // namespace weft::jobs
