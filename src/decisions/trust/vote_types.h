// The inputs and the decisions of votes, as plain data. trust.h has the rules.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "common/base/ids.h"

namespace weft::trust {

// Returns true if two roots of one task agree within the job's tolerance. It is called only for
// roots that differ.
using Agree = std::function<bool(const TaskId& task, const Hash& a, const Hash& b)>;

struct Policy {
  std::uint32_t replicas = 1;  // Size of the quorum.
  // Limit of replicas if results disagree. 0: 2 * replicas - 1, so that a majority decides.
  std::uint32_t replicas_max = 0;
  Agree agree;  // Compares two roots; empty: roots must be equal.
  // Returns true if the agreement of these workers decides. Empty: agreement always decides. If it
  // does not decide, a result that would be accepted is Provisional, until a ballot names the
  // winner.
  std::function<bool(std::span<const PublicKey> workers)> decides = {};
};

struct Replica {
  TaskId task;
  PublicKey worker;
  std::uint32_t attempt = 0;
  Hash root;
  // The digest of the roots of all groups of steps (committed_steps()); zeros if the worker gave no
  // roots.
  Hash steps = {};
};

// The rule that decides one task: the largest group that agrees has at least `quorum` members and
// is `lead` votes ahead of every other group.
struct Ballot {
  std::uint32_t quorum = 1;
  std::uint32_t lead = 1;
  bool held = false;  // If true, a winner is only Provisional.
  // If set, results that agree with this root are accepted, because it was checked by other means.
  std::optional<Hash> winner = {};
};

// The content of a receipt with a valid signature, for one task.
struct Claim {
  TaskId task;
  std::uint32_t attempt = 0;
  Hash root;
};

// --- Decisions ---

// A replica has a result and a receipt, so that its worker has done its part (scheduler:
// counted()).
struct Counted {
  TaskId task;
  PublicKey worker;
  std::uint32_t attempt = 0;
};
// The task is decided. `root` is the root of the accepted bytes, which `worker` delivered. Their
// replica agrees within the tolerance with all others of the quorum; if several do, the one with
// the smallest root is taken. The workers in `agreeing` are paid: Policy::replicas of them, or
// fewer if a ballot took fewer.
struct Accepted {
  TaskId task;
  Hash root;
  PublicKey worker;
  std::vector<PublicKey> agreeing;  // Paid workers, in the order of keys.
  // Further workers that agree, if a ballot asked for more than Policy::replicas. In the order of
  // keys.
  std::vector<PublicKey> jurors = {};
};
// A held ballot has a winner so far, or the quorum is reached by workers that do not decide.
// Reported once after each set_ballot(), clear_ballot() or reject().
struct Provisional {
  TaskId task;
  Hash root;
  std::vector<PublicKey> agreeing;  // Workers that agree, in the order of arrival.
};
// A replica is not accepted and not paid. Its lease, if it is still open, has failed. The caller
// tells the scheduler with failed() and data_loss, and may ignore its not_found.
struct Refused {
  TaskId task;
  PublicKey worker;
  std::uint32_t attempt = 0;
  std::string reason;
  bool wrong = false;  // The result differs from the accepted one.
  // If `wrong`: the number of results that agree with the accepted one, minus the number of those
  // that agree with this one.
  std::uint32_t margin = 0;
  Hash root = {};
};
// The task needs `replicas` replicas in all, including those that it has (scheduler:
// want_replicas()).
struct NeedReplicas {
  TaskId task;
  std::uint32_t replicas = 0;
};
struct JobFailed {
  JobId job;
  std::string reason;  // "replicas differ: ...". The job is already forgotten here.
  // The right answer depends on the device: no worker is at fault, and work that ran is paid.
  bool irreproducible = false;
};
using Decision = std::variant<Counted, Accepted, Refused, NeedReplicas, JobFailed, Provisional>;

struct Reputation {
  std::uint64_t accepted = 0;
  std::uint64_t refused = 0;  // Results outvoted by a quorum.
  friend bool operator==(const Reputation&, const Reputation&) = default;
};

}  // namespace weft::trust
