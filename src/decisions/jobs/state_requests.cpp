#include "decisions/jobs/state_requests.h"

#include <algorithm>

#include "decisions/jobs/state_room.h"

namespace weft::jobs {

bool StateRequests::are_there(Audit& audit, Moment now) {
  AuditStates& states = audit.states;
  if (audit.wanted.groups.empty() || states.stage == AuditStates::Stage::there) return true;
  if (states.stage == AuditStates::Stage::asked) return false;
  const RunningJob* const job = tables_.jobs.find(audit.wanted.task.job);
  if (job == nullptr) return true;  // The audit ends with its job.
  states.groups = audit.wanted.groups;
  std::erase(states.groups, 0U);  // The first group begins from the job's own data.
  if (states.groups.empty()) return true;
  states.bytes = states.groups.size() * state_bytes(*job->manifest, audit.wanted.task.index);
  const auto used = bytes_of_.find(audit.wanted.task.job);
  if (used != bytes_of_.end() && used->second + states.bytes > state_room(*job->manifest)) {
    states.stage = AuditStates::Stage::waits_for_room;
    return false;
  }
  ask(audit, now);
  return false;
}

void StateRequests::ask(Audit& audit, Moment now) {
  AuditStates& states = audit.states;
  states.stage = AuditStates::Stage::asked;
  bytes_of_[audit.wanted.task.job] += states.bytes;
  checkpoints_.hold(audit.wanted.task);
  const auto times = static_cast<std::int64_t>(1 + states.bytes / answer_bytes);
  audit.deadline = now.at + answer_time * times;
  if (!tables_.workers.contains(audit.wanted.suspect)) audit.deadline += return_time;
  send(audit);
}

// The roots of the result are in the batch that is stored before the message goes out. A worker
// that knew the groups before could hand in other roots after a crash.
void StateRequests::send(const Audit& audit) {
  tables_.workers.send(audit.wanted.suspect, protocol::OpenStates{.task = audit.wanted.task,
                                                                  .attempt = audit.wanted.attempt,
                                                                  .groups = audit.states.groups});
}

void StateRequests::release(Audit& audit, const std::vector<store::OutputBlob>& sent) {
  AuditStates& states = audit.states;
  const bool had_room =
      states.stage == AuditStates::Stage::asked || states.stage == AuditStates::Stage::there;
  if (had_room) {
    std::vector<store::OutputBlob> blobs = states.blobs;
    blobs.insert(blobs.end(), sent.begin(), sent.end());
    checkpoints_.let_go(audit.wanted.task, blobs);
    const auto used = bytes_of_.find(audit.wanted.task.job);
    used->second -= states.bytes;
    if (used->second == 0) bytes_of_.erase(used);
  }
  states = {.replaced = states.replaced};
}

}  // namespace weft::jobs
