// What the referee wants done (rulings), and what it is told of the checks that it wanted.
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

// Compute part `part` of `parts` (audit.h) of the task again, on a worker other than `suspect`:
// audited().
struct AuditWanted {
  TaskId task;
  PublicKey suspect;
  std::uint32_t attempt = 0;
  Hash root;
  std::uint32_t part = 0;
  std::uint32_t parts = 1;
  // Whether trusted workers alone may do it: of a newcomer's result.
  bool trusted_only = false;
  // The results differ, and only a root can say which is right.
  bool dispute = false;
  std::vector<Hash> rivals = {};  // The other results of the task.
  // How many parts a root computes, `part` the first of them.
  std::uint32_t samples = 1;
  // The groups of steps that a root computes from the states before them, in order. They are drawn
  // from the roots to which the suspect committed (step_draw.h). Empty: steps are not checked
  // apart. Workers that check the result compute all of it.
  std::vector<std::uint32_t> groups = {};
  std::vector<PublicKey> except = {};  // Workers that have checked it already.
  // Only a root does it. Where none can, the audit has failed, and what was decided stands.
  bool by_root = false;
};
// `worker` was wrong: `penalty` of its stake is to be slashed (as much of it as there is).
struct Convicted {
  TaskId task;
  PublicKey worker;
  MicroCredits penalty = 0;
  MicroCredits value = 0;
  std::string reason;
};
// A root found `suspect` wrong in `part` of an accepted task: have `count` established workers of
// its vendor compute that part, each of an owner of its own that is not in `except`, and compare it
// with the accepted result: polled(), once for each of them; a worker that is missing has failed.
struct PollWanted {
  TaskId task;
  PublicKey suspect;
  Hash root;  // Its result's.
  Part part;
  std::string vendor;
  std::uint32_t count = 0;
  std::vector<PublicKey> except = {};  // Owners.
};
// A root found a result of `worker` wrong on two devices, in a job of `client`'s (an owner). Whose
// fault it was is not known yet: what it was paid for is to be computed again as if it had been
// convicted (suspects.h), and costs it nothing.
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
  failed,  // No worker was found to do it, or the worker did not open its commitment.
};

// The worker that did an audit.
enum class Auditor : std::uint8_t {
  worker,       // One of the network: its level says what that is worth.
  coordinator,  // The coordinator's verifier: a root.
};

// What a root saw besides the outcome.
enum class Devices : std::uint8_t {
  one,      // It has one, or only one of them can run the part.
  two,      // Two devices with different drivers computed the same.
  divided,  // They did not: the part says nothing of the worker.
};
// What a root refutes where it differs.
enum class Refuted : std::uint8_t {
  result,  // Bytes of it, and so each result with this root.
  steps,   // What its worker said of its own steps. Others may have the same root and be right.
};
struct Finding {
  Devices devices = Devices::one;
  std::string vendor = {};        // The vendor of the device that decided.
  std::optional<Part> part = {};  // One in which the result that it was asked about is wrong.
  // Results that it refutes by confirming that one, each with a part in which it differs.
  std::vector<std::pair<Hash, Part>> rivals = {};
  Refuted refuted = Refuted::result;
};

}  // namespace weft::trust
