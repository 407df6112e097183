#include "decisions/jobs/job_life.h"

#include <algorithm>
#include <array>
#include <utility>

#include "common/base/check.h"
#include "common/base/format.h"
#include "common/base/log.h"
#include "common/manifest/split.h"
#include "common/proof/merkle.h"
#include "decisions/jobs/state_room.h"
#include "decisions/jobs/verdict_text.h"

namespace weft::jobs {

protocol::api::Submitted submitted_view(const store::Job& row) {
  return {.id = row.id.text(),
          .state = std::string(to_string(row.state)),
          .tasks = row.tasks,
          .escrow = row.budget,
          .link = {},
          .notes = {},
          .per_unit = row.per_unit,
          .price_quoted = row.price_quoted,
          .max_price = row.price_max > 0 ? std::min(row.price_max, row.budget) : row.budget};
}

void JobLife::begin(RunningJob job, Moment now, std::span<const scheduler::TaskProgress> progress) {
  const JobId id = job.row.id;
  auto wanted = scheduler::job_from(id, *job.manifest);
  wanted.client = PublicKey{
      {tables_.accounts.owner_of(job.row.client).bytes}};  // Shares belong to owners, not devices.
  wanted.share = parts_.weights.of(wanted.client);
  wanted.stake = parts_.stakes.stake_of(tables_.accounts.owner_of(job.row.client), now.at);
  if (job.manifest->deadline_s != 0) {
    const UnixMillis ends = job.row.created + std::int64_t{1000} * job.manifest->deadline_s;
    wanted.deadline = now.at + std::chrono::milliseconds(ends - now.unix);
  }
  wanted.per_unit = job.row.per_unit;
  wanted.price_quoted = job.row.price_quoted;
  wanted.price_max = job.row.price_max;
  wanted.price_capped = !job.row.price_max_named;
  wanted.paces_known = parts_.prices.paces_of(job.work);
  const ledger::Funds escrow = tables_.accounts.ledger().escrow(id);
  if (escrow.total() > 0)
    wanted.paid_share = static_cast<double>(escrow.free) / static_cast<double>(escrow.total());
  if (job.row.price > 0) {
    wanted.estimate = scheduler::Estimate{
        .reference_seconds_per_workgroup = job.row.reference_seconds_per_workgroup,
        .units = job.row.units,
        .price = job.row.price};
  }
  auto terms = terms_of(job.manifest);
  terms.client = job.row.client;
  if (!terms.by_heads() && tables_.settings.referee.defences.newcomers_decide_nothing)
    wanted.sample_parts =
        std::clamp<std::uint32_t>(terms.parts, 1, tables_.settings.referee.checks.audit_parts_max);
  terms.eligible = [this, id] {
    return static_cast<std::uint32_t>(tables_.scheduler.views().able_count(id));
  };
  job.refereed = terms.replicas > 1 ? a_worker_works_alone(now) : terms.audit > 0;
  if (job.refereed)
    wanted.replicas_first = 1;  // The referee wants more once it knows the first lease's worker.
  tables_.trust.add_job(id, std::move(terms), job.row.tasks);
  const auto added = tables_.scheduler.add_job(wanted, now.at, progress);
  check(added.has_value(), "a new job is new to the scheduler");
  tables_.book.add_job(id, job.manifest, job.row.manifest_hash);
  job.owner = tables_.accounts.owner_of(job.row.client);
  tables_.jobs.add(std::move(job));
}

trust::JobTerms JobLife::terms_of(const Book::Manifest& manifest) const {
  trust::JobTerms terms{.replicas = manifest->verify.replicas,
                        .audit = manifest->verify.audit,
                        .parts = 1,
                        .agree = {}};
  terms.anyone = manifest->verify.anyone;
  terms.checked = checked_by_mathematics(*manifest);
  // Loose tolerances accept wrong results.
  constexpr double tolerance_max = 1e-2;
  const auto& compare = manifest->verify.compare;
  terms.evidence =
      compare.exact || (compare.absolute <= tolerance_max && compare.relative <= tolerance_max);
  if (manifest::can_cut(*manifest))
    terms.parts = manifest::task_range(*manifest, manifest->split.tasks - 1).count;
  const CheckedGroups groups = checked_groups(*manifest);
  terms.groups = groups.all;
  terms.groups_apart_max = groups.apart_max;
  if (!manifest->verify.compare.exact) {
    terms.agree = [this](const TaskId& task, const Hash& a, const Hash& b) {
      return parts_.comparisons.agree(task, a, b);
    };
  }
  return terms;
}

// A single worker may decide a task if it is established and has a stake; only then are the
// replicas of a new job still to be decided.
bool JobLife::a_worker_works_alone(Moment now) const {
  return std::ranges::any_of(tables_.accounts.staked(), [&](const PublicKey& worker) {
    return tables_.trust.book().established(worker, now.unix);
  });
}

void JobLife::join(RunningJob& job, Moment now) {
  if (std::exchange(job.joining, true)) return;
  // The outputs of a job's only task are the outputs of the job.
  if (job.accepted.size() == 1) {
    const auto id = job.row.id;
    const Settled& only = *job.accepted.front();
    return end(id,
               {.state = store::JobState::done,
                .reason = {},
                .root = proof::root_of_roots(std::array{only.root}),
                .outputs = only.outputs,
                .ended = now.unix},
               now);
  }
  JoinOrder order{.job = job.row.id, .manifest = job.manifest, .parts = {}};
  order.parts.reserve(job.accepted.size());
  for (const auto& task : job.accepted) order.parts.push_back(task->outputs);
  tables_.outbox.effect([this, order = std::move(order)] { tables_.world.join(order); });
}

void JobLife::joined(const JobId& id, Result<std::vector<store::OutputBlob>> outputs, Moment now) {
  auto* const found = tables_.jobs.find(id);
  if (found == nullptr) return;
  if (!outputs) return fail_with(id, outputs.error().message, now);
  std::vector<Hash> roots;
  roots.reserve(found->accepted.size());
  for (const auto& task : found->accepted) roots.push_back(task->root);
  end(id,
      {.state = store::JobState::done,
       .reason = {},
       .root = proof::root_of_roots(roots),
       .outputs = std::move(*outputs),
       .ended = now.unix},
      now);
}

void JobLife::end(const JobId& id, store::JobUpdate::End end, Moment now) {
  auto* const found = tables_.jobs.find(id);
  if (found == nullptr) return;
  tables_.scheduler.remove_job(id, end.reason.empty() ? "the job is done" : end.reason);
  tables_.trust.remove_job(id);
  tables_.trust.traps().remove_job(id);
  parts_.checks.job_ends(id);
  parts_.watch.ended(id, end);
  tell_waiters(*found, end);
  parts_.payments.close_escrow(*found, now);
  switch (end.state) {
    case store::JobState::done:
      ++tables_.counters.jobs_done;
      break;
    case store::JobState::cancelled:
      ++tables_.counters.jobs_cancelled;
      break;
    default:
      ++tables_.counters.jobs_failed;
      break;
  }
  if (end.state == store::JobState::done) {
    log_debug("Job {} is done.", id.text());
  } else {
    log_info("Job {} {}: {}", id.text(),
             end.state == store::JobState::cancelled ? "is cancelled" : "failed", end.reason);
  }
  tables_.outbox.batch().job_updates.push_back({.id = id, .price = {}, .end = std::move(end)});
  parts_.checkpoints.forget(id);
  tables_.book.remove_job(id);
  for (const auto& [index, of_task] : found->delivered) {
    for (const auto& [worker, its] : of_task)
      parts_.sessions.decided({.job = id, .index = index}, worker, tables_.latest);
  }
  tables_.jobs.remove(id);
  parts_.claims.settle();  // Corrections may have waited for this job's end.
}

void JobLife::fail_with(const JobId& id, std::string reason, Moment now) {
  end(id,
      {.state = store::JobState::failed,
       .reason = std::move(reason),
       .root = {},
       .outputs = {},
       .ended = now.unix},
      now);
}

void JobLife::end_irreproducible(const JobId& id, std::string_view why, Moment now) {
  auto* const job = tables_.jobs.find(id);
  if (job == nullptr) return;
  parts_.payments.pay_what_ran(*job, now);
  fail_with(id, weft::format("not reproducible: {}", why), now);
}

void JobLife::cancel(const Cancellation& wanted, Moment now,
                     Answer<protocol::api::Submitted> answer) {
  const JobId& id = wanted.job;
  const auto reply = tables_.outbox.replier(std::move(answer));
  auto* const found = tables_.jobs.find(id);
  if (found == nullptr && !wanted.stored)
    return reply(fail(ErrorCode::not_found, "There is no job {}.", id.text()));
  store::Job row = found != nullptr ? found->row : *wanted.stored;
  if (tables_.accounts.owner_of(row.client) != tables_.accounts.owner_of(wanted.client))
    return reply(
        fail(ErrorCode::permission_denied, "Job {} belongs to another client.", id.text()));
  if (auto may = tables_.accounts.may_spend(wanted.client); !may)
    return reply(pass(std::move(may)));
  if (found != nullptr) {
    tables_.scheduler.remove_job(id, "its client cancelled the job");
    end(id,
        {.state = store::JobState::cancelled,
         .reason = "The client cancelled the job.",
         .root = {},
         .outputs = {},
         .ended = now.unix},
        now);
    row.state = store::JobState::cancelled;
  }
  reply(submitted_view(row));
}

void JobLife::when_ended(const JobId& job, Answer<EndedJob> answer) {
  if (!tables_.jobs.contains(job))
    return tables_.outbox.replier(std::move(answer))(
        fail(ErrorCode::not_found, "The job {} is not running.", job.text()));
  waiters_[job].push_back(std::move(answer));
}

void JobLife::tell_waiters(const RunningJob& job, const store::JobUpdate::End& end) {
  const auto found = waiters_.find(job.row.id);
  if (found == waiters_.end()) return;
  const EndedJob ended{
      .state = end.state,
      .reason = end.reason,
      .outputs = end.outputs,
      .paid = job.row.budget - tables_.accounts.ledger().escrow(job.row.id).total()};
  for (auto& answer : found->second) tables_.outbox.replier(std::move(answer))(ended);
  waiters_.erase(found);
}

}  // namespace weft::jobs
