#include "worker/tasks/work.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "common/base/check.h"
#include "common/base/format.h"
#include "common/crypto/sha256.h"
#include "common/proof/merkle.h"
#include "common/protocol/messages.h"

namespace weft::worker {
namespace {

constexpr int upload_attempts_max = 6;
constexpr Duration upload_retry = std::chrono::milliseconds(500);
// Payload of a frame: the header of a result with 64 outputs takes under 16 KiB.
constexpr std::size_t payload_bytes_max = protocol::frame_bytes_max - (std::size_t{64} << 10);

TaskKey key_of(const protocol::HeldTask& held) {
  return {.task = held.task, .attempt = held.attempt};
}

}  // namespace

Work::Work(Host& host, TaskRunner& runner, Connection& connection, const Options& options,
           EventSink emit)
    : host_(host),
      runner_(runner),
      connection_(connection),
      options_(options),
      emit_(std::move(emit)),
      blobs_(host, options.blobs),
      loader_(host, blobs_, options.jobs),
      outbox_(options.outbox),
      slices_({.slots = std::max(options.slices, 1U),
               .memory_bytes = options.slices == 0 ? ~std::uint64_t{0} : options.memory_bytes,
               .slice = options.slice}) {}

bool Work::holds(const TaskKey& key) const {
  return std::ranges::any_of(residents_, [&](const auto& each) { return each->task.key == key; }) ||
         deliveries_.contains(key) || std::ranges::contains(queue_, key, &Queued::key);
}

void Work::on_ready(const protocol::Welcome& welcome) {
  // Results were admitted for the key that the coordinator had; those without a verdict are done
  // again.
  if (std::exchange(coordinator_, connection_.coordinator()) != connection_.coordinator()) {
    outbox_.clear();
    commitments_.clear();
  }
  token_ = welcome.blob_token;
  blobs_.set_token(token_);
  counters_.balance = welcome.balance;
  beat_every_ = std::chrono::milliseconds(std::max(welcome.beat_ms, 50U));
  protocol::Resume resume;
  const auto add = [&](const TaskKey& key) {
    const auto proof = proofs_.find(key);
    resume.held.push_back({.task = key.task,
                           .attempt = key.attempt,
                           .proof = proof == proofs_.end() ? Hash{} : proof->second});
  };
  for (const auto& resident : residents_) add(resident->task.key);
  for (const auto& [key, delivery] : deliveries_) add(key);
  std::ranges::for_each(queue_, add, &Queued::key);
  std::ranges::for_each(outbox_.keys(), add);
  if (!resume.held.empty()) connection_.send(std::move(resume));
  outbox_.send_all_again();
  send_results();
  run_next();
  beat();
}

void Work::on_lease(const protocol::Lease& lease) {
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
    proofs_.insert_or_assign(key, leased.proof);
    if (holds(key) || outbox_.send_again(key)) continue;
    if (finishing_) continue;  // The Bye that follows gives it back.
    if (queue_.size() >= options_.queue_max) {
      fail_task(key, {ErrorCode::resource_exhausted,
                      weft::format("This worker holds {} tasks already.", queue_.size())});
      continue;
    }
    const auto resume =
        std::ranges::find(lease.resume, leased.index, &protocol::ResumePoint::index);
    queue_.push_back(
        {.key = key,
         .range = {.first = leased.first, .count = leased.count},
         .terms = terms,
         .resume = resume == lease.resume.end() ? std::nullopt : std::optional(*resume)});
  }
  forget_proofs();
  send_results();
  run_next();
  beat();
}

// Drops proofs of tasks that are neither held nor waiting for an answer. It looks at all proofs, so
// it does nothing until they are many.
void Work::forget_proofs() {
  constexpr std::size_t few = 64;
  if (proofs_.size() <= few + 2 * (held() + outbox_.size())) return;
  const auto unanswered = outbox_.keys();
  std::erase_if(proofs_, [&](const auto& each) {
    return !holds(each.first) && !std::ranges::contains(unanswered, each.first);
  });
}

void Work::on_verdict(const protocol::Verdict& verdict) {
  const TaskKey key{.task = verdict.task, .attempt = verdict.attempt};
  counters_.balance = verdict.balance;
  commitments_.erase(key);
  if (!outbox_.remove(key)) return;  // Answered before.
  ++(verdict.accepted ? counters_.accepted : counters_.refused);
  counters_.paid += verdict.paid;
  emit_(event::Verdict{.key = key,
                       .accepted = verdict.accepted,
                       .paid = verdict.paid,
                       .balance = verdict.balance,
                       .reason = verdict.reason});
  run_next();  // The outbox may have been full.
}

void Work::on_cancel(const protocol::Cancel& cancel) {
  for (const protocol::HeldTask& task : cancel.tasks) {
    const TaskKey key = key_of(task);
    const bool dropped =
        std::erase_if(queue_, [&](const Queued& queued) { return queued.key == key; }) +
            deliveries_.erase(key) >
        0;
    if (dropped) emit_(event::TaskCancelled{.key = key, .reason = cancel.reason});
    outbox_.remove(key);
    commitments_.erase(key);
    if (Resident* const resident = resident_of(key); resident != nullptr && !resident->cancelled) {
      resident->cancelled = cancel.reason;
      // If no part of it is on the runner there is nothing to end; what is loaded or uploaded
      // for it is then dropped.
      on_runner_ == resident->serial ? runner_.cancel() : remove(resident->serial);
    }
  }
  run_next();
  check_finished();
}

void Work::on_open(const protocol::OpenChunks& asked) {
  protocol::Opening opening{.task = asked.task, .attempt = asked.attempt, .roots = {}, .paths = {}};
  if (const auto found = commitments_.find({.task = asked.task, .attempt = asked.attempt});
      found != commitments_.end()) {
    const auto& outputs = found->second;
    for (const auto& leaves : outputs) opening.roots.push_back(proof::root_of_leaves(leaves));
    for (const auto& [output, chunk] : asked.chunks) {
      auto path = output < outputs.size() ? proof::inclusion_path_of_leaves(outputs[output], chunk)
                                          : Result<proof::InclusionPath>(proof::InclusionPath{});
      if (!path) path = proof::InclusionPath{};  // There is no such chunk, and the answer says so.
      opening.paths.push_back({.output = output,
                               .chunk = chunk,
                               .chunks = path->chunks,
                               .siblings = std::move(path->siblings)});
    }
  }
  connection_.send(opening);
}

void Work::rest(Duration rest) {
  resting_ = true;
  if (rest >= options_.rest_told && options_.on_rest) options_.on_rest(true);
  host_.after(rest, alive_.guard([this, number = ++rests_] {
    if (resting_ && number == rests_) end_rest();
  }));
}

void Work::end_rest() {
  resting_ = false;
  if (options_.on_rest) options_.on_rest(false);
  run_next();
}

void Work::throttle(double share) {
  share_ = share;
  if (resting_) end_rest();
}

void Work::succeed(const Queued& task, exec::Output output, const exec::Job& job, double resumed) {
  const TaskKey& key = task.key;
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
  Delivery& delivery = deliveries_[key];
  if (!is_whole(job.manifest, key.task.index, task.range)) delivery.part = task.range;
  protocol::TaskResult& result = delivery.frame.result;
  std::vector<std::vector<Hash>> leaves;
  std::vector<Hash> roots;
  for (const ByteVector& bytes : output.outputs)
    roots.push_back(proof::root_of_leaves(leaves.emplace_back(proof::chunk_leaves(bytes))));
  if (commitments_.size() < options_.commitments_max)
    commitments_.insert_or_assign(key, std::move(leaves));
  result = {.task = key.task,
            .attempt = key.attempt,
            .root = proof::root_of_roots(roots),
            .outputs = {},
            .gpu_seconds = output.gpu_seconds,
            .wall_seconds = output.wall_seconds,
            .resumed = resumed};
  delivery.serial = ++serial_;
  std::vector<Upload> uploads;
  for (ByteVector& bytes : output.outputs) {
    counters_.bytes_sent += bytes.size();
    const bool in_frame = bytes.size() <= protocol::inline_output_bytes_max &&
                          delivery.frame.payload.size() + bytes.size() <= payload_bytes_max;
    const Hash hash = crypto::sha256(bytes);
    result.outputs.push_back({.hash = hash, .bytes = bytes.size(), .in_frame = in_frame});
    if (in_frame) {
      append(delivery.frame.payload, bytes);
    } else {
      uploads.push_back({.key = key,
                         .delivery = delivery.serial,
                         .hash = hash,
                         .bytes = std::make_shared<const ByteVector>(std::move(bytes)),
                         .attempt = 1});
    }
  }
  delivery.uploads =
      uploads.size() + 1;  // One for here, so that it is not over before all have begun.
  for (Upload& one : uploads) upload(std::move(one));
  uploaded(key, {});
}

bool Work::is_wanted(const Upload& upload) const {
  const auto delivery = deliveries_.find(upload.key);
  return delivery != deliveries_.end() && delivery->second.serial == upload.delivery;
}

void Work::upload(Upload one) {
  host_.put_blob(one.hash, *one.bytes, token_, alive_.guard([this, one](Result<> result) mutable {
    if (!is_wanted(one)) return;  // Taken back meanwhile.
    const bool passing =
        !result &&
        (result.error().code == ErrorCode::unavailable ||
         result.error().code == ErrorCode::deadline_exceeded ||
         result.error().code == ErrorCode::unauthenticated);  // The token was of the last session.
    if (!passing || one.attempt >= upload_attempts_max) return uploaded(one.key, std::move(result));
    host_.after(upload_retry * one.attempt, alive_.guard([this, one]() mutable {
      if (!is_wanted(one)) return;
      // Without a connection it is tried for as long as it takes.
      if (connection_.ready()) ++one.attempt;
      upload(std::move(one));
    }));
  }));
}

void Work::uploaded(const TaskKey& key, Result<> result) {
  Delivery& delivery = deliveries_.at(key);
  if (!result && !delivery.error) delivery.error = result.error();
  if (--delivery.uploads > 0) return;
  admit(key);
}

void Work::admit(const TaskKey& key) {
  const Delivery& delivery = deliveries_.at(key);
  if (delivery.error || delivery.part.count > 0 || options_.signing == nullptr) return deliver(key);
  options_.signing->admit(coordinator_, key, delivery.frame.result.root,
                          alive_.guard([this, key, serial = delivery.serial,
                                        coordinator = coordinator_](const Result<>& admitted) {
                            const auto found = deliveries_.find(key);
                            if (found == deliveries_.end() || found->second.serial != serial)
                              return;  // Taken back.
                            if (coordinator != coordinator_) return admit(key);
                            if (!admitted) found->second.error = admitted.error();
                            deliver(key);
                          }));
}

void Work::deliver(const TaskKey& key) {
  const Delivery done = std::move(deliveries_.at(key));
  deliveries_.erase(key);
  if (done.error) {
    --counters_.tasks_done;
    commitments_.erase(key);
    fail_task(key, *done.error);
  } else {
    outbox_.add(done.frame, done.part);
    send_results();
  }
  run_next();
  check_finished();
}

void Work::fail_task(const TaskKey& key, Error error) {
  ++counters_.tasks_failed;
  counters_.last_error = error.message;
  connection_.send(protocol::TaskFailed{.task = key.task,
                                        .attempt = key.attempt,
                                        .code = std::string(to_string(error.code)),
                                        .message = error.message});
  emit_(event::TaskFailed{.key = key, .error = std::move(error)});
}

void Work::send_results() {
  if (!connection_.ready()) return;
  while (const protocol::ResultFrame* frame = outbox_.send_next()) {
    check(connection_.send(*frame), "a result fits into a frame");
    if (outbox_.unreceipted() >= options_.receipt_items_max) send_receipt();
  }
  if (outbox_.unreceipted() == 0) return;
  if (held() == 0) return send_receipt();
  if (std::exchange(receipt_due_, true)) return;
  host_.after(options_.receipt_delay, alive_.guard([this] {
    receipt_due_ = false;
    send_receipt();
  }));
}

void Work::send_receipt() {
  if (outbox_.unreceipted() == 0 || !connection_.ready()) return;
  ++receipts_signing_;
  connection_.send_receipt(outbox_.take_unreceipted(), alive_.guard([this] {
    --receipts_signing_;
    check_finished();
  }));
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
  finished_ = std::move(done);
  for (const Queued& task : std::exchange(queue_, {}))
    emit_(event::TaskCancelled{.key = task.key, .reason = "Given back."});
  // Long tasks leave their state behind instead of running to their end.
  for (const auto& resident : residents_)
    resident->yields =
        resident->yields || resident->task.terms->checkpoint_every > Duration::zero();
  host_.after(grace, alive_.guard([this] {
    if (!finished_) return;
    for (const auto& [key, delivery] : std::exchange(deliveries_, {}))
      emit_(event::TaskCancelled{.key = key, .reason = "Given back."});
    for (const auto& resident : residents_) {
      if (!resident->cancelled) resident->cancelled = "Given back.";
      if (on_runner_ != resident->serial)
        emit_(event::TaskCancelled{.key = resident->task.key, .reason = *resident->cancelled});
    }
    std::erase_if(residents_, [&](const auto& resident) { return on_runner_ != resident->serial; });
    if (on_runner_) return runner_.cancel();
    if (auto finished = std::exchange(finished_, {})) finished();
  }));
  check_finished();
}

void Work::check_finished() {
  if (!finishing_ || !finished_ || !residents_.empty() || !deliveries_.empty()) return;
  if (connection_.ready() && (outbox_.unreceipted() > 0 || receipts_signing_ > 0))
    return send_receipt();
  std::exchange(finished_, {})();
}

}  // namespace weft::worker
