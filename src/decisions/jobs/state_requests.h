// The requests for the states before drawn groups of steps: which audits need states, the room that
// a job has for them, and their removal when a check has ended. StateAudits has what follows from
// the answers.
//
// Threading: one thread. Bounds: the states of a job that are awaited or checked take state_room()
// bytes at most; further checks of the job wait.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <vector>

#include "decisions/jobs/audits.h"
#include "decisions/jobs/checkpoints.h"
#include "decisions/jobs/core_tables.h"

namespace weft::jobs {

class StateRequests {
 public:
  // The time that a worker has to answer. It has this time once more for each answer_bytes of
  // states.
  static constexpr auto answer_time = std::chrono::seconds(30);
  static constexpr std::uint64_t answer_bytes = std::uint64_t{64} << 20;
  // Additional time for a worker that is not connected, for example after a restart of the
  // coordinator.
  static constexpr auto return_time = std::chrono::seconds(60);

  StateRequests(CoreTables& tables, Checkpoints& checkpoints)
      : tables_(tables), checkpoints_(checkpoints) {}
  StateRequests(const StateRequests&) = delete;

  // True if the verifier can be given the audit now. Otherwise the audit waits for states: the
  // suspect is asked now, or when its job has room for them. The deadline of the audit is set.
  [[nodiscard]] bool are_there(Audit& audit, Moment now);
  // Asks the suspect for the states. A suspect that has reconnected is asked again; its deadline
  // does not change.
  void send(const Audit& audit);
  // Removes the states of the audit, and `sent`, because they are not needed any more or have to be
  // asked for again.
  void release(Audit& audit, const std::vector<store::OutputBlob>& sent = {});

 private:
  void ask(Audit& audit, Moment now);

  CoreTables& tables_;
  Checkpoints& checkpoints_;
  std::map<JobId, std::uint64_t> bytes_of_;  // The bytes of states that are awaited or checked.
};

}  // namespace weft::jobs
