// Audits, traps and polls that are under way: leases that the scheduler does not know of, so that
// they take no replica's place. The referee decides which checks are wanted
// (decisions/trust/referee.h); these structs hold the worker that does each check, and its answers.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "common/base/clock.h"
#include "common/manifest/split.h"
#include "common/protocol/results.h"
#include "common/records/records.h"
#include "decisions/scheduler/sample_queue.h"
#include "decisions/trust/late_check.h"
#include "decisions/trust/referee.h"

namespace weft::jobs {

// The attempt number of leases for checks. A worker may be leased several parts of one task under
// this attempt. Its claims of parts are signed with a different word from claims of whole tasks
// (proof/claim_tree.h), so that the two never contradict each other. A worker that is leased a
// whole task again under this attempt (a trap, or an audit of a task that cannot be cut) gives the
// same answer as before, or fails.
inline constexpr std::uint32_t extra_attempt = 1;
// The number of workers that are asked before an audit is given up for a second replica.
inline constexpr std::size_t auditors_max = 3;

// A result and the receipt that covers it, in either order.
struct Covered {
  std::optional<protocol::TaskResult> result;
  std::optional<Hash> claimed;
  [[nodiscard]] bool complete() const { return result && claimed; }
  [[nodiscard]] bool agree() const { return complete() && result->root == *claimed; }
};

// The states before the drawn groups of steps of a result.
struct AuditStates {
  enum class Stage : std::uint8_t {
    none,            // No state is needed, or the worker was not asked yet.
    waits_for_room,  // Other checks of the job use the room for states.
    asked,
    there,
  };
  Stage stage = Stage::none;
  std::vector<std::uint32_t> groups{};     // Groups whose states are asked for, in order.
  std::vector<store::OutputBlob> blobs{};  // States of these groups that have arrived.
  std::uint64_t bytes = 0;                 // Bytes of room that the states use.
  // True if the whole task is checked because the states were not there, or because the groups took
  // the verifier too long each time. If the verifier cannot do that in time either, the worker's
  // lease counts as lost.
  bool replaced = false;
  [[nodiscard]] bool are_awaited() const {
    return stage == Stage::asked || stage == Stage::waits_for_room;
  }
};

struct Audit {
  trust::AuditWanted wanted;
  manifest::Range range;                 // The range that is computed again.
  double share = 1;                      // The size of `range` as a share of the task.
  std::vector<manifest::Range> drawn{};  // Ranges that the coordinator's verifier computes.
  std::vector<Hash> rivals{};            // Roots of the rival results that the verifier was given.
  std::vector<protocol::ChunkName> chunks;  // Chunks of the suspect's outputs that it must open.
  std::optional<protocol::Opening> opening;
  std::set<PublicKey> asked;
  std::optional<PublicKey> auditor;
  Covered answer;
  bool inspecting = false;  // All answers have arrived; the bytes are being compared.
  // True if the suspect must open its commitment. False if its bytes were checked when they
  // arrived; the suspect may then have left.
  bool opens = true;
  // The coordinator's verifier computes the audit, or will once the states that it needs are there.
  bool verifying = false;
  bool of_newcomer = false;
  bool tried_verifier = false;
  AuditStates states{};
  trust::LateCheck late{};  // Attempts of the verifier that did not finish in time.
  Instant deadline;
  Instant begun;
};

// Samples that wait longer than this time lag: the pay and the results of newcomers wait for them.
inline constexpr auto sample_lag_max = std::chrono::minutes(10);

struct TrapLease {
  trust::Trap trap;
  Covered answer;
  Instant deadline;
};

// A worker computes a part of an accepted task in which a root found `suspect` wrong.
struct PollLease {
  PublicKey suspect;
  Hash root;  // The root of the suspect's result.
  manifest::Range part;
  Covered answer;
  bool inspecting = false;
  Instant deadline;
};

// The range that a worker computes again: as many neighbouring parts as are wanted. If results
// differ, the range is the whole task, because the results may agree in a part that is drawn.
[[nodiscard]] manifest::Range audited_range(const trust::AuditWanted& wanted,
                                            manifest::Range whole);

[[nodiscard]] std::optional<trust::Part> part_of(const std::optional<manifest::Range>& range);
// The outcome of a sample, in the form that the scheduler takes.
[[nodiscard]] scheduler::SampleQueue::Outcome sample_outcome(trust::AuditOutcome outcome);

// The chunks of a task's outputs that hold part of `range`: at most protocol::opened_chunks_max
// chunks, spread evenly if there are more.
[[nodiscard]] std::vector<protocol::ChunkName> chunks_to_open(const manifest::Manifest& manifest,
                                                              std::uint32_t index,
                                                              manifest::Range range);

}  // namespace weft::jobs
