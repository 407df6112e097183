// Results that are compared with a tolerance: trust hears of one when it has been compared, elsewhere, with all that differ from it.
#include <algorithm>

#include "apps/coordinator/compare_results.h"
#include "apps/coordinator/core_state.h"

namespace weft::coordinator {

namespace {

std::pair<Hash, Hash> in_order(const Hash& a, const Hash& b) { return std::minmax(a, b); }

const protocol::TaskResult* result_with(const RunningJob& job, std::uint32_t index, const Hash& root) {
  const auto of_task = job.delivered.find(index);
  if (of_task == job.delivered.end()) return nullptr;
  for (const auto& [worker, delivered] : of_task->second) {
    if (delivered.result.root == root) return &delivered.result;
  }
  return nullptr;
}

}  // namespace

bool Core::State::compare_first(const RunningJob& job, const PublicKey& worker, const protocol::TaskResult& result) {
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
    if (root == result.root || std::ranges::contains(order.others, root, &CompareOrder::Side::root)) continue;
    if (known != job.compared.end() && known->second.contains(in_order(root, result.root))) continue;
    order.others.push_back({.root = root, .outputs = blobs_of(delivered.result)});
  }
  if (order.others.empty()) return false;
  parts.world.compare(std::move(order));
  return true;
}

bool Core::State::agree(const TaskId& task, const Hash& a, const Hash& b) {
  const auto job = jobs.find(task.job);
  if (job == jobs.end()) return false;
  auto& known = job->second.compared[task.index];
  if (const auto found = known.find(in_order(a, b)); found != known.end()) return found->second;
  // Only of results from before a restart, whose comparisons are not stored.
  const auto* first = result_with(job->second, task.index, a);
  const auto* second = result_with(job->second, task.index, b);
  if (first == nullptr || second == nullptr) return false;
  const bool same = !difference(parts.blobs, *job->second.manifest, blobs_of(*first), blobs_of(*second));
  known.emplace(in_order(a, b), same);
  return same;
}

void Core::compared(const Comparison& comparison, Moment now) {
  State& state = *state_;
  const auto& [task, worker, attempt, root, agreements] = comparison;
  const auto job = state.jobs.find(task.job);
  if (job == state.jobs.end()) return state.verdict(task, attempt, worker, std::nullopt, "The job has ended.");
  auto& known = job->second.compared[task.index];
  for (const auto& [other, agrees] : agreements) known.insert_or_assign(in_order(root, other), agrees);
  if (job->second.accepted[task.index]) return state.verdict(task, attempt, worker, std::nullopt, "Others have settled the task meanwhile.");
  const auto& of_task = job->second.delivered[task.index];
  const auto delivered = of_task.find(worker);
  if (delivered == of_task.end() || delivered->second.result.attempt != attempt) return;  // Lost meanwhile.
  if (delivered->second.result.root != root) return;  // Lost and leased again, and other bytes are here now, which are being compared.
  state.scheduler.awaits_receipt_from(task, worker, now.at);
  state.act(state.trust.add_result({.task = task, .worker = worker, .attempt = attempt, .root = root}, now.unix), now);
}

}  // namespace weft::coordinator
