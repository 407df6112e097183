#include "apps/coordinator/ingest/corrections.h"

#include <map>
#include <utility>

#include "common/base/log.h"
#include "common/proof/merkle.h"
#include "decisions/jobs/rechecks.h"

namespace weft::coordinator {

jobs::PaidFound find_paid(const jobs::FindPaid& order, store::Store& store) {
  jobs::PaidFound found{.worker = order.worker, .tasks = {}};
  auto page = store.paid_tasks({.worker = order.worker,
                                .since = order.since,
                                .until = order.until,
                                .after = order.after,
                                .count = order.count});
  if (!page) {
    log_error("The paid tasks of {} cannot be read: {}", order.worker.text(), page.error().message);
    return found;
  }
  struct Of {
    store::Job row;
    std::shared_ptr<const manifest::Manifest> manifest;
  };
  std::map<JobId, Of> known;
  for (store::Task& task : *page) {
    auto job = known.find(task.id.job);
    if (job == known.end()) {
      job = known.emplace(task.id.job, Of()).first;
      auto row = store.job(task.id.job);
      auto manifest = row ? manifest::parse(row->manifest) : std::unexpected(row.error());
      if (row) job->second.row = std::move(*row);
      if (manifest)
        job->second.manifest = std::make_shared<const manifest::Manifest>(std::move(*manifest));
    }
    // A task of a deleted job is also listed, so that a page of such tasks is not taken for the
    // last page.
    const MicroCredits paid =
        job->second.manifest
            ? jobs::price_paid(job->second.row, *job->second.manifest, task.agreeing.size())
            : 0;
    found.tasks.push_back({.task = std::move(task),
                           .client = job->second.row.client,
                           .manifest = job->second.manifest,
                           .paid = paid});
  }
  return found;
}

Result<jobs::JoinedAgain> join_again(const JobId& job, store::Store& store, Intake& intake) {
  WEFT_ASSIGN(auto row, store.job(job));
  jobs::JoinedAgain again{.job = std::move(row), .root = {}, .outputs = {}};
  if (!store::has_results(again.job.state)) return again;
  WEFT_ASSIGN(const auto tasks, store.tasks(job));
  WEFT_ASSIGN(const auto manifest, manifest::parse(again.job.manifest));
  std::vector<Hash> roots;
  std::vector<std::vector<store::OutputBlob>> parts;
  for (const store::Task& task : tasks) {
    roots.push_back(task.root);
    parts.push_back(task.outputs);
  }
  again.root = proof::root_of_roots(roots);
  if (parts.size() == 1) {
    again.outputs = parts.front();
    return again;
  }
  WEFT_ASSIGN(again.outputs, intake.join(job, manifest, parts));
  return again;
}

}  // namespace weft::coordinator
