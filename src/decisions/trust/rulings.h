// The rulings of the referee, and the outcomes of checks that are reported to it.
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

// Have part `part` of `parts` (audit.h) of the task computed again, by a worker other than
// `suspect`. The outcome is reported with Referee::audited().
struct AuditWanted {
  TaskId task;
  PublicKey suspect;
  std::uint32_t attempt = 0;
  Hash root;
  std::uint32_t part = 0;
  std::uint32_t parts = 1;
  // True if only trusted workers may audit, because the result is a newcomer's.
  bool trusted_only = false;
  // True if the task's results differ, so that only a root can say which one is right.
  bool dispute = false;
  std::vector<Hash> rivals = {};  // The other results of the task.
  // The number of parts that a root computes; `part` is the first of them.
  std::uint32_t samples = 1;
  // The groups of steps that a root computes, in order, each from the state before it. They are
  // drawn from the roots to which the suspect committed (step_draw.h). If it is empty, steps are
  // not checked separately. Workers other than roots compute the whole result.
  std::vector<std::uint32_t> groups = {};
  std::vector<PublicKey> except = {};  // Workers that have checked it already.
  // True if only a root may audit. If no root can, the audit fails, and the earlier decision
  // stands.
  bool by_root = false;
};
// `worker` was wrong: slash `penalty` of its stake, or the whole stake if it is smaller.
struct Convicted {
  TaskId task;
  PublicKey worker;
  MicroCredits penalty = 0;
  MicroCredits value = 0;
  std::string reason;
};
// A root found `suspect` wrong in `part` of an accepted task. Have `count` established workers of
// its vendor compute this part and compare it with the accepted result; they have different owners,
// none of them in `except`. Report each outcome with Referee::polled(); for a worker that is
// missing, the outcome is `failed`.
struct PollWanted {
  TaskId task;
  PublicKey suspect;
  Hash root;  // The suspect's.
  Part part;
  std::string vendor;
  std::uint32_t count = 0;
  std::vector<PublicKey> except = {};  // Owners that are not asked.
};
// A root found a result of `worker` wrong on two devices, in a job of the owner `client`. It is not
// known yet if the worker or its device is at fault. The worker's paid tasks are to be computed
// again as after a conviction (suspects.h), at no cost to the worker.
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
  failed,  // No worker did the audit, or the commitment was not opened.
};

// The worker that did an audit.
enum class Auditor : std::uint8_t {
  worker,       // A worker of the network, of any level.
  coordinator,  // The coordinator's verifier: a root.
};

// The devices with which a root checked the result.
enum class Devices : std::uint8_t {
  one,      // The root has one device, or only one can run the part.
  two,      // Two devices with different drivers got equal values.
  divided,  // Two devices got different values, so no worker is at fault.
};
// What a root has found wrong.
enum class Refuted : std::uint8_t {
  result,  // Bytes of the result, so that each result with this root is wrong.
  steps,   // The worker's roots of steps. Other results with this root may be right.
};
struct Finding {
  Devices devices = Devices::one;
  std::string vendor = {};        // The vendor of the device that decided.
  std::optional<Part> part = {};  // A part in which the checked result is wrong.
  // Results that are refuted because the checked result is right, each with a part in which it
  // differs.
  std::vector<std::pair<Hash, Part>> rivals = {};
  Refuted refuted = Refuted::result;
};

}  // namespace weft::trust
