#include "decisions/trust/convictions.h"

#include <utility>

namespace weft::trust {

void Convictions::convict(const TaskId& task, const PublicKey& worker, MicroCredits value,
                          std::string reason, RefereePass& pass) {
  const JobCases* job = tables_.cases.find(task.job);
  const MicroCredits penalty = tables_.stakes.take_penalty(
      worker, task, value, job == nullptr ? nullptr : &job->terms, pass.now);
  convict(task, worker, penalty, value, std::move(reason), pass);
}

void Convictions::convict(const TaskId& task, const PublicKey& worker, MicroCredits penalty,
                          MicroCredits value, std::string reason, RefereePass& pass) {
  tables_.standing.book().convict(worker, pass.now);
  pass.out.emplace_back(Convicted{.task = task,
                                  .worker = worker,
                                  .penalty = penalty,
                                  .value = value,
                                  .reason = std::move(reason)});
  tables_.standing.evidence().forget_mismatches(worker);
  held_.compute_again(worker, pass);
}

bool Convictions::pardon(const PublicKey& worker, UnixMillis now) {
  tables_.standing.evidence().forget_mismatches(worker);
  tables_.stakes.free_mismatches(worker);
  return tables_.standing.book().pardon(worker, now);
}

void Convictions::restore_mismatch(const PublicKey& worker, const Evidence::Mismatch& mismatch) {
  tables_.standing.evidence().restore(worker, mismatch);
  tables_.stakes.keep_mismatch(worker, mismatch.task);
  tables_.stakes.lock_mismatch(worker, mismatch.task, mismatch.penalty);
}

void Convictions::forget_old_mismatches(UnixMillis now) {
  for (const PublicKey& worker : tables_.standing.evidence().forget_old_mismatches(now))
    tables_.stakes.free_mismatches(worker);
}

}  // namespace weft::trust
