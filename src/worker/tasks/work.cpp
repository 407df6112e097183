#include "worker/tasks/work.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "common/base/format.h"
#include "common/proof/merkle.h"
#include "common/protocol/messages.h"
#include "engine/exec/traffic.h"

namespace weft::worker {
namespace {

TaskKey key_of(const protocol::HeldTask& held) {
  return {.task = held.task, .attempt = held.attempt};
}

}  // namespace

Work::Work(Host& host, TaskRunner& runner, Connection& connection, const Options& options,
           EventSink emit)
    : host_(host),
      connection_(connection),
      options_(options),
      emit_(std::move(emit)),
      blobs_(host, options.blobs),
      loader_(host, blobs_, options.jobs),
      rests_(host, {.told_min = options.rest_told, .on_rest = options.on_rest},
             [this] { residents_.run_next(); }),
      residents_({.host = host,
                  .runner = runner,
                  .connection = connection,
                  .session = session_,
                  .blobs = blobs_,
                  .loader = loader_,
                  .rests = rests_,
                  .emit = emit_,
                  .around = *this},
                 {.slices = options.slices,
                  .slice_memory_bytes = options.slice_memory_bytes,
                  .memory_bytes = options.memory_bytes,
                  .slice = options.slice,
                  .checkpoint_bytes_max = options.checkpoint_bytes_max,
                  .resume_bytes_max = options.jobs.bytes_max,
                  .signing = options.signing,
                  .states = std::make_shared<StateRoom>(options.step_state_bytes_max)}),
      deliveries_(
          host, connection, session_, options.signing,
          [this](const TaskKey& key, Delivered result) { delivered(key, std::move(result)); }),
      results_(
          host, connection,
          {.outbox = options.outbox,
           .receipt_items_max = options.receipt_items_max,
           .receipt_delay = options.receipt_delay},
          {.is_last = [this] { return held() == 0; }, .signed_one = [this] { check_finished(); }}),
      openings_(host, connection, session_, options.commitments_max) {}

bool Work::holds(const TaskKey& key) const {
  return residents_.contains(key) || deliveries_.contains(key) ||
         std::ranges::contains(queue_, key, &LeasedTask::key);
}

void Work::on_ready(const protocol::Welcome& welcome) {
  // Results were admitted for the coordinator's former key; tasks whose results have no verdict are
  // computed again.
  if (std::exchange(session_.coordinator, connection_.coordinator()) != connection_.coordinator()) {
    results_.clear();
    openings_.clear();
  }
  session_.token = welcome.blob_token;
  blobs_.set_token(session_.token);
  counters_.balance = welcome.balance;
  beat_every_ = std::chrono::milliseconds(std::max(welcome.beat_ms, 50U));
  protocol::Resume resume;
  const auto add = [&](const TaskKey& key) {
    resume.held.push_back({.task = key.task, .attempt = key.attempt, .proof = proofs_.of(key)});
  };
  std::ranges::for_each(residents_.keys(), add);
  std::ranges::for_each(deliveries_.keys(), add);
  std::ranges::for_each(queue_, add, &LeasedTask::key);
  std::ranges::for_each(results_.keys(), add);
  if (!resume.held.empty()) connection_.send(std::move(resume));
  results_.send_all_again();
  results_.send();
  openings_.on_ready();
  residents_.run_next();
  beat();
}

void Work::enqueue(const protocol::Lease& lease) {
  auto terms = std::make_shared<LeaseTerms>();
  terms->manifest = lease.manifest;
  terms->piece_workgroups_max = lease.piece_workgroups_max;
  terms->wall_max =
      std::min<Duration>(std::chrono::milliseconds(lease.wall_ms_max), options_.wall_max);
  terms->checkpoint_every = std::chrono::milliseconds(lease.checkpoint_ms);
  terms->client = lease.client;
  if (lease.weight > 0) terms->weight = lease.weight;
  for (const protocol::LeasedTask& leased : lease.tasks) {
    const TaskKey key{.task = {.job = lease.job, .index = leased.index}, .attempt = leased.attempt};
    proofs_.put(key, leased.proof);
    if (holds(key) || results_.send_again(key)) continue;
    if (finishing_) continue;  // The Bye that follows gives it back.
    if (queue_.size() >= options_.queue_max) {
      failed(key, {ErrorCode::resource_exhausted,
                   weft::format("This worker holds {} tasks already.", queue_.size())});
      continue;
    }
    const auto resume =
        std::ranges::find(lease.resume, leased.index, &protocol::ResumePoint::index);
    queue_.push_back(
        {.key = key,
         .range = {.first = leased.first, .count = leased.count},
         .terms = terms,
         .resume = resume == lease.resume.end() ? std::nullopt : std::optional(*resume),
         .step_roots = leased.step_roots});
  }
}

void Work::on_lease(const protocol::Lease& lease) {
  enqueue(lease);
  const auto unanswered = results_.keys();
  proofs_.forget(held() + unanswered.size(), [&](const TaskKey& key) {
    return holds(key) || std::ranges::contains(unanswered, key);
  });
  results_.send();
  residents_.run_next();
  beat();
}

void Work::on_verdict(const protocol::Verdict& verdict) {
  const TaskKey key{.task = verdict.task, .attempt = verdict.attempt};
  counters_.balance = verdict.balance;
  openings_.erase(key);
  if (!results_.remove(key)) return;  // The result was answered before.
  ++(verdict.accepted ? counters_.accepted : counters_.refused);
  counters_.paid += verdict.paid;
  emit_(event::Verdict{.key = key,
                       .accepted = verdict.accepted,
                       .paid = verdict.paid,
                       .balance = verdict.balance,
                       .reason = verdict.reason});
  residents_.run_next();  // The outbox may have been full.
}

void Work::on_cancel(const protocol::Cancel& cancel) {
  for (const protocol::HeldTask& task : cancel.tasks) {
    const TaskKey key = key_of(task);
    const bool was_queued =
        std::erase_if(queue_, [&](const LeasedTask& queued) { return queued.key == key; }) > 0;
    const bool was_delivered = deliveries_.take_back(key);
    if (was_queued || was_delivered)
      emit_(event::TaskCancelled{.key = key, .reason = cancel.reason});
    results_.remove(key);
    openings_.erase(key);
    residents_.cancel(key, cancel.reason);
  }
  residents_.run_next();
  check_finished();
}

void Work::on_yield(const protocol::Yield& yield) {
  for (const protocol::HeldTask& held : yield.tasks) {
    const TaskKey key = key_of(held);
    const auto queued = std::ranges::find(queue_, key, &LeasedTask::key);
    if (queued != queue_.end()) {
      queue_.erase(queued);
      failed(key, {ErrorCode::cancelled, "The task makes way before it has begun."});
    } else {
      residents_.yield(key);
    }
  }
  check_finished();
}

void Work::throttle(double share) { rests_.throttle(share); }

std::optional<LeasedTask> Work::next_task() {
  if (finishing_ || queue_.empty() || deliveries_.size() >= options_.deliveries_max ||
      results_.blocked())
    return {};
  LeasedTask next = std::move(queue_.front());
  queue_.pop_front();
  return next;
}

// Errors of the next job are handled when its turn comes.
void Work::fetch_ahead() {
  if (!queue_.empty()) loader_.load(queue_.front().terms->manifest, [](const auto&) {});
}

void Work::computed(const LeasedTask& task, Residents::Computed computed, const exec::Job& job) {
  const TaskKey& key = task.key;
  exec::Output& output = computed.output;
  const exec::Traffic traffic = exec::traffic(job, task.range);
  ++counters_.tasks_done;
  counters_.gpu_seconds += output.gpu_seconds;
  counters_.wall_seconds += output.wall_seconds;
  emit_(event::TaskDone{.key = key,
                        .wall_seconds = output.wall_seconds,
                        .gpu_seconds = output.gpu_seconds,
                        .job_name = job.manifest.name,
                        .bytes = traffic.bytes,
                        .operations = traffic.operations});
  Commitments::Leaves leaves;
  std::vector<Hash> roots;
  for (const ByteVector& bytes : output.outputs) {
    roots.push_back(proof::root_of_leaves(leaves.emplace_back(proof::chunk_leaves(bytes))));
    counters_.bytes_sent += bytes.size();
  }
  Delivered result;
  if (!is_whole_task(job.manifest, key.task.index, task.range)) result.part = task.range;
  result.frame.result = {.task = key.task,
                         .attempt = key.attempt,
                         .root = proof::root_of_roots(roots),
                         .outputs = {},
                         .gpu_seconds = output.gpu_seconds,
                         .wall_seconds = output.wall_seconds,
                         .resumed = computed.resumed,
                         .step_roots = {}};
  if (computed.steps != nullptr) result.frame.result.step_roots = computed.steps->roots();
  openings_.add(key, std::move(leaves), std::move(computed.steps));
  deliveries_.start(key, std::move(result), std::move(output.outputs));
}

void Work::delivered(const TaskKey& key, Delivered result) {
  if (result.error) {
    --counters_.tasks_done;
    openings_.erase(key);
    failed(key, *std::move(result.error));
  } else {
    results_.add(std::move(result.frame), result.part);
    results_.send();
  }
  residents_.run_next();
  check_finished();
}

void Work::failed(const TaskKey& key, Error error) {
  ++counters_.tasks_failed;
  counters_.last_error = error.message;
  connection_.send(protocol::TaskFailed{.task = key.task,
                                        .attempt = key.attempt,
                                        .code = std::string(to_string(error.code)),
                                        .message = error.message});
  emit_(event::TaskFailed{.key = key, .error = std::move(error)});
}

void Work::checkpointed(const TaskKey& key, const protocol::Checkpoint& checkpoint) {
  ++counters_.checkpoints;
  emit_(event::TaskCheckpointed{
      .key = key, .done = checkpoint.done, .of = checkpoint.of, .stopped = checkpoint.stopped});
}

void Work::left() {
  results_.send();  // The last of a batch does not wait for its receipt.
  check_finished();
}

void Work::beat() {
  if (beating_ || held() == 0) return;
  beating_ = true;
  host_.after(beat_every_, alive_.guard([this] {
    beating_ = false;
    if (held() == 0) return;
    connection_.send(protocol::Beat{.running = static_cast<std::uint32_t>(residents_.size())});
    beat();
  }));
}

void Work::finish(Duration grace, std::function<void()> done) {
  if (finishing_) return;
  finishing_ = true;
  rests_.stop();
  finished_ = std::move(done);
  for (const LeasedTask& task : std::exchange(queue_, {}))
    emit_(event::TaskCancelled{.key = task.key, .reason = "Given back."});
  residents_.yield_all_long();
  host_.after(grace, alive_.guard([this] {
    if (!finished_) return;
    for (const TaskKey& key : deliveries_.take_back_all())
      emit_(event::TaskCancelled{.key = key, .reason = "Given back."});
    if (residents_.cancel_all("Given back.")) return;
    if (auto finished = std::exchange(finished_, {})) finished();
  }));
  check_finished();
}

void Work::check_finished() {
  if (!finishing_ || !finished_ || residents_.size() > 0 || deliveries_.size() > 0) return;
  if (connection_.ready() && results_.waits_for_receipt()) return results_.send_receipt();
  std::exchange(finished_, {})();
}

}  // namespace weft::worker
