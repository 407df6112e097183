// Audits, traps and polls that are under way: leases that the scheduler does not know of, so that
// they take no replica's place. What is wanted is the referee's (decisions/trust/referee.h); here
// is who does it, and what has come in.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "common/base/clock.h"
#include "common/manifest/split.h"
#include "common/protocol/results.h"
#include "decisions/scheduler/sample_queue.h"
#include "decisions/trust/late_check.h"
#include "decisions/trust/referee.h"

namespace weft::jobs {

// A worker may be leased several parts of one task under this attempt. Its claims of parts are
// signed by a word other than those of whole tasks (proof/claim_tree.h), so that they never
// contradict each other. A whole task (a trap, an audit of what cannot be cut) that the worker has
// answered before under this attempt it answers the same, or fails.
inline constexpr std::uint32_t extra_attempt = 1;
// So many workers are asked before an audit is given up for a second replica.
inline constexpr std::size_t auditors_max = 3;

// A result and the receipt that covers it, in either order.
struct Covered {
  std::optional<protocol::TaskResult> result;
  std::optional<Hash> claimed;
  [[nodiscard]] bool complete() const { return result && claimed; }
  [[nodiscard]] bool agree() const { return complete() && result->root == *claimed; }
};

struct Audit {
  trust::AuditWanted wanted;
  manifest::Range range;                    // What is computed again,
  double share = 1;                         // as a share of the task.
  std::vector<manifest::Range> drawn{};     // The coordinator's verifier computes these.
  std::vector<Hash> rivals{};               // Roots of the other results that it was given.
  std::vector<protocol::ChunkName> chunks;  // Chunks of the suspect's outputs, which it must open.
  std::optional<protocol::Opening> opening;
  std::set<PublicKey> asked;
  std::optional<PublicKey> auditor;
  Covered answer;
  bool inspecting = false;  // All is there; the bytes are being compared.
  bool opens = true;       // The suspect opens its commitment. Others' bytes were checked when they
                           // came in, and need not be here any more.
  bool verifying = false;  // The coordinator's verifier has it.
  bool of_newcomer = false;
  bool tried_verifier = false;
  trust::LateCheck late{};  // How the coordinator's verifier fared.
  Instant deadline;
  Instant begun;
};

// Samples that wait longer than this lag: newcomers' pay and results wait for them.
inline constexpr auto sample_lag_max = std::chrono::minutes(10);

struct TrapLease {
  trust::Trap trap;
  Covered answer;
  Instant deadline;
};

// A worker computes a part of an accepted task in which a root found `suspect` wrong.
struct PollLease {
  PublicKey suspect;
  Hash root;  // The suspect's.
  manifest::Range part;
  Covered answer;
  bool inspecting = false;
  Instant deadline;
};

// What a worker computes again: as many neighbouring parts as are wanted. Where results differ all
// of them, since a part that is drawn may be one in which they agree.
[[nodiscard]] manifest::Range audited_range(const trust::AuditWanted& wanted,
                                            manifest::Range whole);

[[nodiscard]] std::optional<trust::Part> part_of(const std::optional<manifest::Range>& range);
// What the scheduler is told of a sample.
[[nodiscard]] scheduler::SampleQueue::Outcome sample_outcome(trust::AuditOutcome outcome);

// The chunks of a task's outputs that hold part of `range`: at most protocol::opened_chunks_max,
// evenly spread where there are more.
[[nodiscard]] std::vector<protocol::ChunkName> chunks_to_open(const manifest::Manifest& manifest,
                                                              std::uint32_t index,
                                                              manifest::Range range);

}  // namespace weft::jobs
