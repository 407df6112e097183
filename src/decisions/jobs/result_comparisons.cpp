#include "decisions/jobs/result_comparisons.h"

#include <algorithm>
#include <utility>

namespace weft::jobs {

namespace {

std::pair<Hash, Hash> in_order(const Hash& a, const Hash& b) { return std::minmax(a, b); }

}  // namespace

bool ResultComparisons::compare_first(const RunningJob& job, const PublicKey& worker,
                                      const protocol::TaskResult& result) {
  if (job.manifest->verify.compare.exact) return false;
  CompareOrder order{.task = result.task,
                     .worker = worker,
                     .attempt = result.attempt,
                     .manifest = job.manifest,
                     .mine = {.root = result.root, .outputs = blobs_of(result)},
                     .others = {}};
  const auto known = job.compared.find(result.task.index);
  for (const auto& [other, delivered] : job.delivered.at(result.task.index)) {
    const Hash& root = delivered.result.root;
    if (root == result.root || std::ranges::contains(order.others, root, &CompareOrder::Side::root))
      continue;
    if (known != job.compared.end() && known->second.contains(in_order(root, result.root)))
      continue;
    order.others.push_back({.root = root, .outputs = blobs_of(delivered.result)});
  }
  if (order.others.empty()) return false;
  tables_.world.compare(std::move(order));
  return true;
}

// True if two results of a task agree. Each result was compared with every other result of its task
// before trust was told of it, or before this process restored it.
bool ResultComparisons::agree(const TaskId& task, const Hash& a, const Hash& b) const {
  auto* const job = tables_.jobs.find(task.job);
  if (job == nullptr) return false;
  const auto of_task = job->compared.find(task.index);
  if (of_task == job->compared.end()) return false;
  const auto found = of_task->second.find(in_order(a, b));
  return found != of_task->second.end() && found->second;
}

void ResultComparisons::compared(const Comparison& comparison, Moment now) {
  const auto& [task, worker, attempt, root, agreements] = comparison;
  auto* const job = tables_.jobs.find(task.job);
  if (job == nullptr)
    return tables_.send_verdict(task, attempt, worker, std::nullopt, "The job has ended.");
  auto& known = job->compared[task.index];
  for (const auto& [other, agrees] : agreements)
    known.insert_or_assign(in_order(root, other), agrees);
  if (job->accepted[task.index])
    return tables_.send_verdict(task, attempt, worker, std::nullopt,
                                "Other workers have settled the task meanwhile.");
  const auto& of_task = job->delivered[task.index];
  const auto delivered = of_task.find(worker);
  if (delivered == of_task.end() || delivered->second.result.attempt != attempt)
    return;  // The result was lost during the comparison.
  if (delivered->second.result.root != root)
    return;  // Another lease has delivered other bytes, which are being compared.
  tables_.scheduler.awaits_receipt_from(task, worker, now.at);
  rulings_.carry_out(
      tables_.trust.add_result({.task = task, .worker = worker, .attempt = attempt, .root = root},
                               now.unix),
      now);
}

}  // namespace weft::jobs
