// Jobs from their submission to their end.
#include <algorithm>
#include <array>

#include "apps/coordinator/core_state.h"
#include "common/base/check.h"
#include "common/base/counted.h"
#include "common/base/log.h"
#include "common/manifest/split.h"
#include "common/proof/merkle.h"

namespace weft::coordinator {

namespace {

constexpr std::size_t nonces_kept = 65536;

protocol::api::Submitted submitted(const store::Job& row) {
  return {.id = row.id.text(), .state = std::string(to_string(row.state)), .tasks = row.tasks, .escrow = row.budget};
}

}  // namespace

void Core::submit(Submission submission, Moment now, Answer<protocol::api::Submitted> answer) {
  State& state = *state_;
  const auto reply = [&state, &answer](Result<protocol::api::Submitted> result) {
    state.effect([answer = std::move(answer), result = std::move(result)] { answer(result); });
  };

  // A client that heard no answer asks again with the same nonce.
  const auto nonce = std::pair(submission.client, submission.nonce);
  std::optional<JobId> known;
  if (const auto found = state.nonces.find(nonce); found != state.nonces.end()) {
    known = found->second;
  } else if (auto stored = state.parts.store.job_of_nonce(submission.client, submission.nonce); stored) {
    known = *stored;
  } else {
    return reply(pass(std::move(stored)));
  }
  if (known) {
    const auto running = state.jobs.find(*known);
    Result<store::Job> row = running != state.jobs.end() ? Result<store::Job>(running->second.row) : state.parts.store.job(*known);
    if (!row) return reply(pass(std::move(row)));
    if (row->manifest_hash != submission.manifest_hash) {
      return reply(fail(ErrorCode::already_exists, "This nonce was used for another job, {}.", known->text()));
    }
    return reply(submitted(*row));
  }

  if (state.jobs.size() >= state.settings.jobs_running_max || state.tasks_open + submission.manifest->split.tasks > state.settings.tasks_open_max) {
    return reply(fail(ErrorCode::resource_exhausted,
                      "{} jobs with {} open tasks are running; try again when some have ended (--jobs-max and --tasks-max raise the bounds).",
                      state.jobs.size(), state.tasks_open));
  }
  // Its canary would run for nothing.
  const auto& manifest = *submission.manifest;
  const MicroCredits least = state.settings.scheduler.pricing.per_replica_min * manifest.verify.replicas * manifest.split.tasks;
  if (manifest.budget < least) {
    return reply(fail(ErrorCode::invalid_argument, "{} of {} cost {:.6f} credits at least; the budget is {:.6f}: raise \"budget\" in the manifest.",
                      counted(manifest.split.tasks, "task"), counted(manifest.verify.replicas, "replica"), static_cast<double>(least) / 1e6,
                      static_cast<double>(manifest.budget) / 1e6));
  }
  RunningJob job;
  job.row.id = state.parts.world.new_job_id();
  if (auto paid = state.open_escrow(job.row.id, submission.client, submission.manifest->budget, now); !paid) {
    return reply(pass(std::move(paid)));
  }
  job.row.client = submission.client;
  job.row.name = submission.manifest->name;
  job.row.manifest = std::move(submission.manifest_text);
  job.row.manifest_hash = submission.manifest_hash;
  job.row.tasks = submission.manifest->split.tasks;
  job.row.budget = submission.manifest->budget;
  job.row.created = now.unix;
  job.manifest = std::move(submission.manifest);
  job.accepted.resize(job.row.tasks);

  state.batch.jobs.push_back(job.row);
  job.row.manifest = {};
  state.batch.nonces.push_back({.client = submission.client, .nonce = submission.nonce, .job = job.row.id});
  state.nonces.emplace(nonce, job.row.id);
  state.nonces_order.push_back(nonce);
  if (state.nonces_order.size() > nonces_kept) {
    state.nonces.erase(state.nonces_order.front());
    state.nonces_order.pop_front();
  }
  ++state.counters.jobs_submitted;
  log_debug("Job {} \"{}\" has {} tasks of {} replicas.", job.row.id.text(), job.row.name, job.row.tasks, job.manifest->verify.replicas);
  const auto result = submitted(job.row);
  state.add_running(std::move(job), now, {});
  reply(result);
}

void Core::cancel(const JobId& id, const PublicKey& client, Moment now, Answer<protocol::api::Submitted> answer) {
  State& state = *state_;
  const auto reply = [&state, &answer](Result<protocol::api::Submitted> result) {
    state.effect([answer = std::move(answer), result = std::move(result)] { answer(result); });
  };
  const auto found = state.jobs.find(id);
  Result<store::Job> row = found != state.jobs.end() ? Result<store::Job>(found->second.row) : state.parts.store.job(id);
  if (!row) return reply(pass(std::move(row)));
  if (row->client != client) return reply(fail(ErrorCode::permission_denied, "Job {} belongs to another client.", id.text()));
  if (found != state.jobs.end()) {
    state.scheduler.remove_job(id, "its client cancelled the job");
    state.end_job(id, {.state = store::JobState::cancelled, .reason = "Its client cancelled it.", .root = {}, .outputs = {}, .ended = now.unix}, now);
    row->state = store::JobState::cancelled;
  }
  reply(submitted(*row));
}

void Core::State::add_running(RunningJob job, Moment now, std::span<const scheduler::TaskProgress> progress) {
  const JobId id = job.row.id;
  auto wanted = scheduler::job_from(id, *job.manifest);
  wanted.client = job.row.client;
  wanted.share = weight_of(job.row.client);
  wanted.stake = ledger.balance(ledger::Account::stake(job.row.client));
  if (job.manifest->deadline_s != 0) {
    const UnixMillis ends = job.row.created + std::int64_t{1000} * job.manifest->deadline_s;
    wanted.deadline = now.at + std::chrono::milliseconds(ends - now.unix);
  }
  if (job.row.price > 0) {
    wanted.estimate = scheduler::Estimate{
        .reference_seconds_per_workgroup = job.row.reference_seconds_per_workgroup, .units = job.row.units, .price = job.row.price};
  }
  auto terms = terms_of(job.manifest);
  job.refereed = terms.replicas > 1 ? somebody_works_alone(now) : terms.audit > 0;
  if (job.refereed) wanted.replicas_first = 1;  // The referee asks for more, as soon as it knows whose the first lease is.
  trust.add_job(id, std::move(terms), job.row.tasks);
  const auto added = scheduler.add_job(wanted, now.at, progress);
  check(added.has_value(), "a new job is new to the scheduler");
  parts.book.add_job(id, job.manifest);
  tasks_open += job.row.tasks - job.accepted_count;
  jobs.emplace(id, std::move(job));
}

trust::JobTerms Core::State::terms_of(const Book::Manifest& manifest) {
  trust::JobTerms terms{.replicas = manifest->verify.replicas, .audit = manifest->verify.audit, .parts = 1, .agree = {}};
  if (manifest::can_cut(*manifest)) terms.parts = manifest::task_range(*manifest, manifest->split.tasks - 1).count;
  if (!manifest->verify.compare.exact) {
    terms.agree = [this](const TaskId& task, const Hash& a, const Hash& b) { return agree(task, a, b); };
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
    state.end_job(id, {.state = store::JobState::failed, .reason = outputs.error().message, .root = {}, .outputs = {}, .ended = now.unix}, now);
    return;
  }
  std::vector<Hash> roots;
  roots.reserve(found->second.accepted.size());
  for (const auto& task : found->second.accepted) roots.push_back(task->root);
  state.end_job(
      id, {.state = store::JobState::done, .reason = {}, .root = proof::root_of_roots(roots), .outputs = std::move(*outputs), .ended = now.unix},
      now);
}

void Core::State::end_job(const JobId& id, store::JobUpdate::End end, Moment now) {
  const auto found = jobs.find(id);
  if (found == jobs.end()) return;
  scheduler.remove_job(id, end.reason.empty() ? "the job is done" : end.reason);
  trust.remove_job(id);
  trust.remove_traps(id);
  extras_of_ended(id);
  auto head = watched_head(id);
  head.state = std::string(to_string(end.state));
  head.reason = end.reason;
  head.ended = end.ended;
  board.ended(*this, id, std::move(head));
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
    log_info("Job {} {}: {}", id.text(), end.state == store::JobState::cancelled ? "is cancelled" : "failed", end.reason);
  }
  batch.job_updates.push_back({.id = id, .price = {}, .end = std::move(end)});
  forget_checkpoints(found->second);
  parts.book.remove_job(id);
  tasks_open -= found->second.row.tasks - found->second.accepted_count;
  jobs.erase(found);
}

}  // namespace weft::coordinator
