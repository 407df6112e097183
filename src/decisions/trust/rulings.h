// The decisions of the referee (rulings), and the outcomes of the checks that it has asked for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "common/base/ids.h"
#include "decisions/trust/audit.h"
#include "decisions/trust/vote_types.h"

namespace weft::trust {

// An order to compute part `part` of `parts` (audit.h) of the task again, on a worker other than
// `suspect`. The answer is audited().
struct AuditWanted {
  TaskId task;
  PublicKey suspect;
  std::uint32_t attempt = 0;
  Hash root;
  std::uint32_t part = 0;
  std::uint32_t parts = 1;
  // True if only trusted workers may do the audit, because the result is a newcomer's.
  bool trusted_only = false;
  // True if the results of the task differ, so that only a root can say which is right.
  bool dispute = false;
  std::vector<Hash> rivals = {};  // Roots of the task's other results.
  // The number of parts that a root computes; `part` is the first of them.
  std::uint32_t samples = 1;
  // The groups of steps that a root computes from the states before them, in order. They are drawn
  // from the roots to which the suspect committed (step_draw.h). Empty: steps are not checked
  // apart. Workers that check the result compute all of it.
  std::vector<std::uint32_t> groups = {};
  std::vector<PublicKey> except = {};  // Workers that have audited the result.
  // True if only a root may do the audit. If no root can, the audit fails, and the earlier decision
  // stands.
  bool by_root = false;
};
// The worker gave a wrong result: `penalty` of its stake is slashed, or the whole stake if it is
// less.
struct Convicted {
  TaskId task;
  PublicKey worker;
  MicroCredits penalty = 0;
  MicroCredits value = 0;
  std::string reason;
};
// A root found `suspect` wrong in `part` of an accepted task. Then `count` established workers of
// the suspect's vendor compute that part, each of a different owner that is not in `except`, and
// their results are compared with the accepted one. Each of them is answered with one polled(); a
// worker that cannot be found counts as failed.
struct PollWanted {
  TaskId task;
  PublicKey suspect;
  Hash root;  // The root of the suspect's result.
  Part part;
  std::string vendor;
  std::uint32_t count = 0;
  std::vector<PublicKey> except = {};  // Owners that must not be polled.
};
// A root found a result of `worker` wrong on two devices, in a job of the owner `client`. The cause
// is not known yet, so the worker's paid tasks are computed again as after a conviction
// (suspects.h), but the worker pays nothing for it.
struct Suspected {
  TaskId task;
  PublicKey worker;
  PublicKey client;
};
using Ruling = std::variant<Counted, Accepted, Refused, NeedReplicas, JobFailed, AuditWanted,
                            Convicted, PollWanted, Suspected>;

enum class AuditOutcome : std::uint8_t {
  agrees,
  differs,
  failed,  // No worker could do the audit, or the suspect did not open its commitment.
};

// The worker that did an audit.
enum class Auditor : std::uint8_t {
  worker,       // A worker of the network; its level decides how much its word counts.
  coordinator,  // The coordinator's verifier, which is a root.
};

// The number of devices on which a root computed the part, and whether they agreed.
enum class Devices : std::uint8_t {
  one,      // The root has one device, or only one that can run the part.
  two,      // Two devices with different drivers gave equal results.
  divided,  // Two devices differed: the part says nothing about the worker.
};
// The claim of a worker that a root refutes if its own result differs.
enum class Refuted : std::uint8_t {
  result,  // Bytes of the result: every result with this root is wrong.
  steps,   // The worker's own steps. Other workers' results with this root may be right.
};
struct Finding {
  Devices devices = Devices::one;
  std::string vendor = {};        // The vendor of the device that decided.
  std::optional<Part> part = {};  // A part in which the checked result is wrong.
  // Other results that the root refutes by confirming the checked one, each with a differing part.
  std::vector<std::pair<Hash, Part>> rivals = {};
  Refuted refuted = Refuted::result;
};

}  // namespace weft::trust
