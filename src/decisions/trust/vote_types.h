// What votes are about, and what follows from them: plain data. trust.h has the rules.
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

// Whether two different roots of one task agree within the job's tolerance. Not asked for equal
// roots.
using Agree = std::function<bool(const TaskId& task, const Hash& a, const Hash& b)>;

struct Policy {
  std::uint32_t replicas = 1;  // Size of the quorum.
  std::uint32_t replicas_max =
      0;  // How many in all where they disagree; 0: 2 * replicas - 1, so that a majority decides.
  Agree agree;  // Empty: exact roots.
  // Whether the agreement of these workers decides. Empty: it always does. Where it does not, what
  // would be accepted is Provisional instead, until a ballot names the winner.
  std::function<bool(std::span<const PublicKey> workers)> decides = {};
};

struct Replica {
  TaskId task;
  PublicKey worker;
  std::uint32_t attempt = 0;
  Hash root;
};

// How one task is decided: the largest group that agrees has at least `quorum` members and is
// `lead` ahead of every other.
struct Ballot {
  std::uint32_t quorum = 1;
  std::uint32_t lead = 1;
  bool held =
      false;  // What wins is Provisional, not Accepted, until a ballot that is not held is set.
  std::optional<Hash> winner = {};  // Checked elsewhere: what agrees with this root is accepted.
};

// What a receipt whose signature is valid says of one task.
struct Claim {
  TaskId task;
  std::uint32_t attempt = 0;
  Hash root;
};

// --- Decisions
// ---------------------------------------------------------------------------------------------------------

// The replica is there and covered: the worker has done its part (scheduler: counted()).
struct Counted {
  TaskId task;
  PublicKey worker;
  std::uint32_t attempt = 0;
};
// The task is decided. `root` is the accepted bytes' (the replica within tolerance of all others of
// the quorum; among several the smallest root) and `worker` delivered them. `agreeing` are paid:
// Policy::replicas of them, or as many as a ballot took, if they are fewer.
struct Accepted {
  TaskId task;
  Hash root;
  PublicKey worker;
  std::vector<PublicKey> agreeing;  // In the order of their keys.
  std::vector<PublicKey> jurors =
      {};  // Other workers that agree, if a ballot asked for more. In the order of their keys.
};
// A held ballot is decided so far. Said once for each set_ballot().
struct Provisional {
  TaskId task;
  Hash root;
  std::vector<PublicKey> agreeing;  // In the order of arrival.
};
// This replica is not accepted and not paid; its lease, where there is one still, has failed
// (scheduler: failed() with data_loss, whose not_found may be ignored).
struct Refused {
  TaskId task;
  PublicKey worker;
  std::uint32_t attempt = 0;
  std::string reason;
  bool wrong = false;  // It differs from the accepted one.
  std::uint32_t margin =
      0;  // How many more agree with the accepted one than with this, where it is wrong.
  Hash root = {};
};
// The task wants `replicas` in all (scheduler: want_replicas()).
struct NeedReplicas {
  TaskId task;
  std::uint32_t replicas = 0;
};
struct JobFailed {
  JobId job;
  std::string reason;  // "replicas differ: ...". The job is forgotten here already.
  // Its right answer depends on the device: no worker's fault, and what ran is paid.
  bool irreproducible = false;
};
using Decision = std::variant<Counted, Accepted, Refused, NeedReplicas, JobFailed, Provisional>;

struct Reputation {
  std::uint64_t accepted = 0;
  std::uint64_t refused = 0;  // In the minority of a quorum.
  friend bool operator==(const Reputation&, const Reputation&) = default;
};

}  // namespace weft::trust
