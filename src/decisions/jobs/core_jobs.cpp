// Jobs from their submission to their end.
#include <algorithm>
#include <array>

#include "common/base/check.h"
#include "common/base/counted.h"
#include "common/base/log.h"
#include "common/manifest/split.h"
#include "common/proof/merkle.h"
#include "decisions/jobs/core_state.h"
#include "decisions/jobs/verdict_text.h"

namespace weft::jobs {

namespace {

// More than can be taken between the look into the store and the event: what waits in the loop
// (65,536 events) and in commits under way (32 of 1,024 events).
constexpr std::size_t nonces_kept = 131'072;

protocol::api::Submitted submitted(const store::Job& row) {
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

}  // namespace

void Core::submit(Submission submission, Moment now, Answer<protocol::api::Submitted> answer) {
  State& state = *state_;
  const auto reply = [&state, &answer](Result<protocol::api::Submitted> result) {
    state.effect([answer = std::move(answer), result = std::move(result)] { answer(result); });
  };

  // A client that heard no answer asks again with the same nonce.
  const auto nonce = std::pair(submission.client, submission.nonce);
  std::optional<State::Taken> known;
  if (submission.known) {
    const store::Job& row = *submission.known;
    const auto running = state.jobs.find(row.id);
    known =
        State::Taken{.answer = submitted(running != state.jobs.end() ? running->second.row : row),
                     .manifest_hash = row.manifest_hash};
  } else if (const auto found = state.nonces.find(nonce); found != state.nonces.end()) {
    known = found->second;
  }
  if (known) {
    if (known->manifest_hash != submission.manifest_hash)
      return reply(fail(ErrorCode::already_exists, "This nonce was used for another job, {}.",
                        known->answer.id));
    return reply(known->answer);
  }

  if (auto may = state.owners.may_act(submission.client, ledger::Owners::Wants::spending); !may)
    return reply(pass(std::move(may)));
  if (auto room = state.room_for(submission.client, submission.manifest->split.tasks); !room)
    return reply(pass(std::move(room)));
  // Its canary would run for nothing.
  const auto& manifest = *submission.manifest;
  const MicroCredits least = state.settings.scheduler.pricing.per_replica_min *
                             manifest.verify.replicas * manifest.split.tasks;
  if (manifest.budget < least) {
    return reply(
        fail(ErrorCode::invalid_argument,
             "{} of {} cost {:.6f} credits at least; the budget is {:.6f}: raise \"budget\" in the "
             "manifest.",
             counted(manifest.split.tasks, "task"), counted(manifest.verify.replicas, "replica"),
             static_cast<double>(least) / 1e6, static_cast<double>(manifest.budget) / 1e6));
  }
  if (submission.price_max && *submission.price_max < least) {
    return reply(
        fail(ErrorCode::insufficient_funds,
             "{} of {} cost {:.6f} credits at least; max_price is {:.6f}: allow more with "
             "weft submit --max-price CREDITS.",
             counted(manifest.split.tasks, "task"), counted(manifest.verify.replicas, "replica"),
             static_cast<double>(least) / 1e6, static_cast<double>(*submission.price_max) / 1e6));
  }
  const State::PriceNow price = state.price_now(manifest, submission.work, now);
  const auto terms = state.agree_on_price(submission, price, now);
  if (!terms) return reply(std::unexpected(terms.error()));
  if (auto fresh = state.quote_is_fresh(submission, now); !fresh)
    return reply(pass(std::move(fresh)));
  RunningJob job;
  job.row.id = submission.id;
  if (auto paid =
          state.open_escrow(job.row.id, submission.client, submission.manifest->budget, now);
      !paid) {
    return reply(pass(std::move(paid)));
  }
  if (submission.quote) state.used_quotes.use(submission.quote->id, submission.quote->until);
  job.row.client = submission.client;
  job.row.name = submission.manifest->name;
  job.row.manifest = std::move(submission.manifest_text);
  job.row.manifest_hash = submission.manifest_hash;
  job.row.tasks = submission.manifest->split.tasks;
  job.row.budget = submission.manifest->budget;
  job.row.created = now.unix;
  job.row.per_unit = submission.quote ? submission.quote->per_unit : price.quote.per_unit;
  job.row.price_quoted = terms->quoted;
  job.row.price_max = terms->max;
  job.row.price_max_named = !terms->capped;
  job.work = submission.work;
  job.manifest = std::move(submission.manifest);
  job.accepted.resize(job.row.tasks);

  state.batch.jobs.push_back(job.row);
  job.row.manifest = {};
  state.batch.nonces.push_back(
      {.client = submission.client, .nonce = submission.nonce, .job = job.row.id});
  const auto result = submitted(job.row);
  state.nonces.emplace(nonce,
                       State::Taken{.answer = result, .manifest_hash = job.row.manifest_hash});
  state.nonces_order.push_back(nonce);
  if (state.nonces_order.size() > nonces_kept) {
    state.nonces.erase(state.nonces_order.front());
    state.nonces_order.pop_front();
  }
  ++state.counters.jobs_submitted;
  log_debug("Job {} \"{}\" has {} tasks of {} replicas.", job.row.id.text(), job.row.name,
            job.row.tasks, job.manifest->verify.replicas);
  state.add_running(std::move(job), now, {});
  reply(result);
}

void Core::cancel(const Cancellation& wanted, Moment now, Answer<protocol::api::Submitted> answer) {
  const JobId& id = wanted.job;
  State& state = *state_;
  const auto reply = [&state, &answer](Result<protocol::api::Submitted> result) {
    state.effect([answer = std::move(answer), result = std::move(result)] { answer(result); });
  };
  const auto found = state.jobs.find(id);
  if (found == state.jobs.end() && !wanted.stored)
    return reply(fail(ErrorCode::not_found, "There is no job {}.", id.text()));
  store::Job row = found != state.jobs.end() ? found->second.row : *wanted.stored;
  if (state.owner_of(row.client) != state.owner_of(wanted.client))
    return reply(
        fail(ErrorCode::permission_denied, "Job {} belongs to another client.", id.text()));
  if (auto may = state.owners.may_act(wanted.client, ledger::Owners::Wants::spending); !may)
    return reply(pass(std::move(may)));
  if (found != state.jobs.end()) {
    state.scheduler.remove_job(id, "its client cancelled the job");
    state.end_job(id,
                  {.state = store::JobState::cancelled,
                   .reason = "Its client cancelled it.",
                   .root = {},
                   .outputs = {},
                   .ended = now.unix},
                  now);
    row.state = store::JobState::cancelled;
  }
  reply(submitted(row));
}

void Core::State::add_running(RunningJob job, Moment now,
                              std::span<const scheduler::TaskProgress> progress) {
  const JobId id = job.row.id;
  auto wanted = scheduler::job_from(id, *job.manifest);
  wanted.client =
      PublicKey{{owner_of(job.row.client).bytes}};  // Shares belong to owners, not devices.
  wanted.share = weight_of(wanted.client);
  wanted.stake = stake_of(owner_of(job.row.client), now.at);
  if (job.manifest->deadline_s != 0) {
    const UnixMillis ends = job.row.created + std::int64_t{1000} * job.manifest->deadline_s;
    wanted.deadline = now.at + std::chrono::milliseconds(ends - now.unix);
  }
  wanted.per_unit = job.row.per_unit;
  wanted.price_quoted = job.row.price_quoted;
  wanted.price_max = job.row.price_max;
  wanted.price_capped = !job.row.price_max_named;
  wanted.paces_known = measured_work.paces_of(job.work);
  const ledger::Funds escrow = ledger.escrow(id);
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
  if (!terms.by_heads() && settings.referee.defences.newcomers_decide_nothing)
    wanted.sample_parts =
        std::clamp<std::uint32_t>(terms.parts, 1, settings.referee.checks.audit_parts_max);
  terms.eligible = [this, id] { return static_cast<std::uint32_t>(scheduler.able_count(id)); };
  job.refereed = terms.replicas > 1 ? a_worker_works_alone(now) : terms.audit > 0;
  if (job.refereed)
    wanted.replicas_first =
        1;  // The referee asks for more, as soon as it knows whose the first lease is.
  trust.add_job(id, std::move(terms), job.row.tasks);
  const auto added = scheduler.add_job(wanted, now.at, progress);
  check(added.has_value(), "a new job is new to the scheduler");
  parts.book.add_job(id, job.manifest, job.row.manifest_hash);
  tasks_open += job.row.tasks - job.accepted_count;
  job.owner = owner_of(job.row.client);
  count_load(job.owner, job.row.tasks, true);
  jobs.emplace(id, std::move(job));
}

trust::JobTerms Core::State::terms_of(const Book::Manifest& manifest) {
  trust::JobTerms terms{.replicas = manifest->verify.replicas,
                        .audit = manifest->verify.audit,
                        .parts = 1,
                        .agree = {}};
  terms.anyone = manifest->verify.anyone;
  terms.checked = checked_by_mathematics(*manifest);
  // Loose tolerances accept what is wrong.
  constexpr double tolerance_max = 1e-2;
  const auto& compare = manifest->verify.compare;
  terms.evidence =
      compare.exact || (compare.absolute <= tolerance_max && compare.relative <= tolerance_max);
  if (manifest::can_cut(*manifest))
    terms.parts = manifest::task_range(*manifest, manifest->split.tasks - 1).count;
  if (!manifest->verify.compare.exact) {
    terms.agree = [this](const TaskId& task, const Hash& a, const Hash& b) {
      return agree(task, a, b);
    };
  }
  return terms;
}

void Core::State::start_join(RunningJob& job, Moment now) {
  if (std::exchange(job.joining, true)) return;
  // Outputs of one task are the job's as they stand.
  if (job.accepted.size() == 1) {
    const auto id = job.row.id;
    const Settled& only = *job.accepted.front();
    return end_job(id,
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
  effect([this, order = std::move(order)] { parts.world.join(order); });
}

void Core::joined(const JobId& id, Result<std::vector<store::OutputBlob>> outputs, Moment now) {
  State& state = *state_;
  const auto found = state.jobs.find(id);
  if (found == state.jobs.end()) return;
  if (!outputs) {
    state.end_job(id,
                  {.state = store::JobState::failed,
                   .reason = outputs.error().message,
                   .root = {},
                   .outputs = {},
                   .ended = now.unix},
                  now);
    return;
  }
  std::vector<Hash> roots;
  roots.reserve(found->second.accepted.size());
  for (const auto& task : found->second.accepted) roots.push_back(task->root);
  state.end_job(id,
                {.state = store::JobState::done,
                 .reason = {},
                 .root = proof::root_of_roots(roots),
                 .outputs = std::move(*outputs),
                 .ended = now.unix},
                now);
}

void Core::State::end_job(const JobId& id, store::JobUpdate::End end, Moment now) {
  const auto found = jobs.find(id);
  if (found == jobs.end()) return;
  scheduler.remove_job(id, end.reason.empty() ? "the job is done" : end.reason);
  trust.remove_job(id);
  trust.traps().remove_job(id);
  extras_of_ended(id);
  auto head = watched_head(id);
  head.state = std::string(to_string(end.state));
  head.ended = end.ended;
  board.ended(*this, id, std::move(head));
  tell_waiters(found->second, end);
  close_escrow(found->second, now);
  switch (end.state) {
    case store::JobState::done:
      ++counters.jobs_done;
      break;
    case store::JobState::cancelled:
      ++counters.jobs_cancelled;
      break;
    default:
      ++counters.jobs_failed;
      break;
  }
  if (end.state == store::JobState::done) {
    log_debug("Job {} is done.", id.text());
  } else {
    log_info("Job {} {}: {}", id.text(),
             end.state == store::JobState::cancelled ? "is cancelled" : "failed", end.reason);
  }
  batch.job_updates.push_back({.id = id, .price = {}, .end = std::move(end)});
  forget_checkpoints(found->second);
  parts.book.remove_job(id);
  tasks_open -= found->second.row.tasks - found->second.accepted_count;
  count_load(found->second.owner, found->second.row.tasks, false);
  for (const auto& [index, of_task] : found->second.delivered) {
    for (const auto& [worker, its] : of_task)
      decided({.job = id, .index = index}, worker, {.at = at_now, .unix = unix_now});
  }
  jobs.erase(found);
  settle_corrections();  // Some may have been of results that were being joined.
}

}  // namespace weft::jobs
