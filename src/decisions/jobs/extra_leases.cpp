#include "decisions/jobs/extra_leases.h"

#include <utility>

#include "decisions/jobs/audits.h"
#include "decisions/jobs/lease_proof.h"

namespace weft::jobs {

void lease_extra(CoreTables& tables, const PublicKey& worker, const TaskId& task,
                 manifest::Range range) {
  const RunningJob* const job = tables.jobs.find(task.job);
  if (job == nullptr) return;
  const auto terms = tables.scheduler.views().terms(task.job, worker);
  tables.workers.send(
      worker,
      protocol::Lease{.job = task.job,
                      .manifest = job->row.manifest_hash,
                      .piece_workgroups_max = terms.piece_workgroups_max,
                      .wall_ms_max = terms.wall_ms_max,
                      .tasks = {{.index = task.index,
                                 .attempt = extra_attempt,
                                 .first = range.first,
                                 .count = range.count,
                                 .proof = lease_proof(tables.settings.secret, LeaseKind::extra,
                                                      task, extra_attempt, worker)}}});
}

void cancel_extra(CoreTables& tables, const PublicKey& worker, const TaskId& task,
                  std::string reason) {
  tables.workers.send(worker, protocol::Cancel{.tasks = {{.task = task, .attempt = extra_attempt}},
                                               .reason = std::move(reason)});
}

MicroCredits replica_value(const CoreTables& tables, const RunningJob& job) {
  const auto progress = tables.scheduler.views().progress(job.row.id);
  if (!progress || !progress->estimate) return 0;
  return scheduler::task_price(*progress->estimate, job.row.tasks) / job.manifest->verify.replicas;
}

}  // namespace weft::jobs
