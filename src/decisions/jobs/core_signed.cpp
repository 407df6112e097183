// Receipts of one device that contradict each other: evidence, which is stored whatever becomes of
// the results. Two signatures by one key are checked by the coordinator itself, exactly: they
// convict, as a root's evidence does.
#include "common/base/log.h"
#include "decisions/jobs/core_state.h"

namespace weft::jobs {

// As on a chain, all that its owner has staked is lost. None of what the receipt signs counts.
void Core::State::end_contradicting(const PublicKey& worker, const TaskId& task, Moment now) {
  const MicroCredits stake = accounts.slashable_stake(accounts.owner_of(worker));
  // While it is suspended it is given nothing, and nothing more moves its record.
  if (stake > 0 || !trust.book().suspended(worker, now.unix)) {
    act(trust.convicted(task, worker, stake, 0,
                        "It has signed two results of one attempt of the task.", now.unix),
        now);
    bar_server(worker);
  }
  auto* const found = workers.find(worker);
  if (found == nullptr) return;
  workers.close(found->session, ErrorCode::permission_denied,
                "This device has signed two results of one attempt of a task: it is suspended, and "
                "its owner's stake is lost. A wallet that two machines use does that; give each a "
                "wallet or a device of its own.");
  // No job is blamed for the tasks that it held.
  scheduler.remove_worker(worker, scheduler::Departure::left, now.at);
  sessions.disconnect(worker, now);
}

}  // namespace weft::jobs
