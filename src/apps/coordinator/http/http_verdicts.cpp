// The routes that show how results were decided, with the evidence, to the job's owner, the
// worker's owner, and the operator.
#include <charconv>
#include <map>

#include "apps/coordinator/http/access.h"
#include "common/base/counted.h"
#include "common/base/format.h"
#include "decisions/jobs/verdict_text.h"

namespace weft::coordinator {
namespace {

namespace api = protocol::api;

constexpr std::uint32_t checks_max = 1000;
constexpr std::size_t tasks_max = 10'000;

api::VerdictRange view_of(const store::Check::Range& range) {
  return {.first = range.first, .count = range.count};
}

api::VerdictCheck view_of(const store::Check& check) {
  api::VerdictCheck view{.job = check.task.job.text(),
                         .task = check.task.index,
                         .time = check.time,
                         .worker = check.worker.text(),
                         .root = check.root.text(),
                         .by = check.by == PublicKey{} ? "" : check.by.text(),
                         .kind = std::string(jobs::to_string(check.kind)),
                         .outcome = std::string(jobs::to_string(check.outcome)),
                         .ranges = {},
                         .wrong = {},
                         .reason = check.reason};
  for (const auto& range : check.ranges) view.ranges.push_back(view_of(range));
  if (check.wrong) view.wrong.push_back(view_of(*check.wrong));
  return view;
}

api::VerdictTask view_of(const store::Task& task) {
  return {.task = task.id.index,
          .basis = std::string(jobs::to_string(task.basis)),
          .decided = jobs::how_decided(task.basis),
          .root = task.root.text(),
          .worker = task.worker == PublicKey{} ? "" : task.worker.text(),
          .accepted = task.accepted,
          .receipts = {}};
}

Result<api::Verdict> verdict_of(store::Store& store, const store::Job& row,
                                std::optional<std::uint32_t> only) {
  if (only && *only >= row.tasks)
    return fail(ErrorCode::not_found, "Job {} has {}, numbered from 0; it has no task {}.",
                row.id.text(), counted(row.tasks, "task"), *only);
  api::Verdict view{.job = row.id.text(),
                    .worker = {},
                    .state = std::string(to_string(row.state)),
                    .decided = {},
                    .tasks = {},
                    .checks = {},
                    .corrections = {}};
  WEFT_ASSIGN(const auto tasks, store.tasks(row.id));
  WEFT_ASSIGN(const auto checks, store.checks(row.id, checks_max));
  WEFT_ASSIGN(const auto corrections, store.corrections(row.id));
  store::BasisCounts counts{};
  for (const store::Task& task : tasks) {
    if (only && task.id.index != *only) continue;
    ++counts.at(static_cast<std::size_t>(task.basis));
    if (view.tasks.size() < tasks_max) view.tasks.push_back(view_of(task));
  }
  view.decided = jobs::how_decided(counts);
  for (const store::Check& check : checks) {
    if (!only || check.task.index == *only) view.checks.push_back(view_of(check));
  }
  for (const store::Correction& each : corrections) {
    if (!only || each.task.index == *only) view.corrections.push_back(coordinator::view_of(each));
  }
  if (!only || view.tasks.empty()) return view;
  // Roots are shown only for a decided task, because other workers could copy them.
  WEFT_ASSIGN(const auto replicas, store.replicas(row.id));
  const auto task = std::ranges::find(tasks, *only, [](const auto& each) { return each.id.index; });
  for (const store::Replica& replica : replicas) {
    if (replica.task.index != *only) continue;
    view.tasks.front().receipts.push_back(
        {.worker = replica.worker.text(),
         .root = replica.root.text(),
         .paid = std::ranges::contains(task->agreeing, replica.worker),
         .receipt = replica.receipt.text(),
         .arrived = replica.arrived});
  }
  return view;
}

void show_of_job(const HttpParts& parts, const net::IncomingRequest& request,
                 const net::Respond& respond) {
  std::optional<std::uint32_t> only;
  if (const auto wanted = request.query.find("task"); wanted != request.query.end()) {
    const std::string& text = wanted->second;
    std::uint32_t index = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), index);
    if (error != std::errc() || end != text.data() + text.size())
      return respond(net::problem(
          {ErrorCode::invalid_argument, weft::format("task={} is not a task's number.", text)}));
    only = index;
  }
  with_job(parts, request, request.parameters.at(0), respond,
           [&store = parts.store, respond, only](const Viewer&, const store::Job& row) {
             const auto view = verdict_of(store, row, only);
             respond(view ? net::json_reply(200, api::to_json(*view)) : net::problem(view.error()));
           });
}

// Shows the checks of a worker's results, in jobs of all clients, to the worker's owner.
void show_of_worker(const HttpParts& parts, const net::IncomingRequest& request,
                    const net::Respond& respond) {
  const auto viewer = viewer_of(parts, request);
  if (!viewer) return respond(parts.signatures.refusal(viewer.error()));
  const auto worker = PublicKey::parse(request.parameters.at(0));
  if (!worker) return respond(net::problem(worker.error()));
  if (!owns(parts.book, *viewer, *worker))
    return respond(hidden(parts, *viewer, "How a worker's results were decided"));
  post_or_refuse(parts.readers, respond, [&store = parts.store, respond, worker = *worker] {
    const auto checks = store.checks(worker, checks_max);
    if (!checks) return respond(net::problem(checks.error()));
    api::Verdict view{.job = {},
                      .worker = worker.text(),
                      .state = {},
                      .decided = {},
                      .tasks = {},
                      .checks = {},
                      .corrections = {}};
    for (const store::Check& check : *checks) view.checks.push_back(view_of(check));
    respond(net::json_reply(200, api::to_json(view)));
  });
}

}  // namespace

void add_verdict_routes(const HttpParts& parts) {
  add_task_routes(
      parts, {{"/v1/jobs/{}/verdict", show_of_job}, {"/v1/workers/{}/verdict", show_of_worker}});
}

}  // namespace weft::coordinator
