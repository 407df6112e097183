// The tasks that are resident: loaded, run part by part in the order of their slices, checkpointed
// in between.
#include <algorithm>
#include <utility>

#include "common/base/format.h"
#include "common/base/log.h"
#include "common/crypto/sha256.h"
#include "worker/tasks/work.h"

namespace weft::worker {
namespace {

constexpr double work_lost_max = 0.05;  // A checkpoint for so much of a task's work.

Duration duration_of(double seconds) {
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds));
}

}  // namespace

bool Work::is_whole(const manifest::Manifest& manifest, std::uint32_t index,
                    manifest::Range range) {
  return index < manifest.split.tasks && range == manifest::task_range(manifest, index);
}

Work::Resident* Work::resident_of(std::uint64_t serial) {
  const auto found =
      std::ranges::find_if(residents_, [&](const auto& each) { return each->serial == serial; });
  return found == residents_.end() ? nullptr : found->get();
}

Work::Resident* Work::resident_of(const TaskKey& key) {
  const auto found =
      std::ranges::find_if(residents_, [&](const auto& each) { return each->task.key == key; });
  return found == residents_.end() ? nullptr : found->get();
}

void Work::run_next() {
  if (resting_) return;
  take_in();
  admit_loaded();
  run_part();
}

void Work::take_in() {
  const std::size_t residents_max = std::max(options_.slices, 1U);
  while (!finishing_ && !queue_.empty() && residents_.size() < residents_max &&
         deliveries_.size() < options_.deliveries_max) {
    if (outbox_.full() && !connection_.ready()) return;
    auto resident = std::make_unique<Resident>();
    resident->task = std::move(queue_.front());
    resident->serial = ++serial_;
    queue_.pop_front();
    emit_(event::TaskStarted{.key = resident->task.key});
    load(*residents_.emplace_back(std::move(resident)));
    // The next job's bytes come while this one runs. Its errors are met when it is its turn.
    if (!queue_.empty()) loader_.load(queue_.front().terms->manifest, [](const auto&) {});
  }
}

void Work::load(Resident& resident) {
  loader_.load(resident.task.terms->manifest,
               alive_.guard([this, serial = resident.serial](
                                const Result<std::shared_ptr<const exec::Job>>& job) {
                 Resident* const found = resident_of(serial);
                 if (found == nullptr) return;
                 if (job) return loaded(*found, *job);
                 fail_task(found->task.key, job.error());
                 remove(serial);
               }));
}

void Work::loaded(Resident& resident, const std::shared_ptr<const exec::Job>& job) {
  const Queued& task = resident.task;
  const std::uint32_t length = manifest::axis_length(job->manifest);
  if (task.range.count == 0 || task.range.first > length ||
      task.range.count > length - task.range.first) {
    fail_task(task.key, {ErrorCode::invalid_argument,
                         weft::format("The lease asks for {} workgroups from {}; the job has {}.",
                                      task.range.count, task.range.first, length)});
    return remove(resident.serial);
  }
  if (options_.signing != nullptr && is_whole(job->manifest, task.key.task.index, task.range) &&
      options_.signing->forgotten(coordinator_, task.key)) {
    fail_task(task.key,
              {ErrorCode::already_exists,
               weft::format("Task {} is too old for this worker to know whether it has signed a "
                            "result of attempt {} before: another worker has to do it.",
                            task.key.task.text(), task.key.attempt)});
    return remove(resident.serial);
  }
  resident.job = job;
  Progress progress({.id = task.key.task,
                     .manifest = task.terms->manifest,
                     .range = task.range,
                     .piece_workgroups_max = task.terms->piece_workgroups_max},
                    job);
  if (!task.resume ||
      task.resume->bytes > std::min(options_.checkpoint_bytes_max, options_.jobs.bytes_max)) {
    resident.progress = std::move(progress);
    return run_next();
  }
  blobs_.get(task.resume->blob, task.resume->bytes,
             alive_.guard([this, serial = resident.serial, progress = std::move(progress)](
                              const Result<SharedBytes>& blob) mutable {
               Resident* const found = resident_of(serial);
               if (found == nullptr) return;
               // Without its checkpoint a task begins at its start.
               const Result<> resumed =
                   blob ? progress.resume(**blob) : Result<>(std::unexpected(blob.error()));
               if (resumed) {
                 emit_(event::TaskResumed{
                     .key = found->task.key, .done = progress.done(), .of = progress.of()});
               } else {
                 log_warning("Task {} begins at its start: {}", found->task.key.task.text(),
                             resumed.error().message);
               }
               found->progress = std::move(progress);
               run_next();
             }));
}

std::uint64_t Work::partition_of(const Resident& resident) const {
  if (options_.slices == 0) return 0;
  return std::max(options_.slice_memory_bytes, resident.job->manifest.requirements.memory_bytes);
}

// Those for whose partition there is no room yet wait until another one ends.
void Work::admit_loaded() {
  std::vector<std::uint64_t> hopeless;
  for (const auto& resident : residents_) {
    if (resident->admitted || !resident->progress || resident->leaving || resident->cancelled)
      continue;
    const std::uint64_t memory = partition_of(*resident);
    resident->admitted = slices_
                             .admit({.task = resident->task.key.task,
                                     .client = resident->task.terms->client,
                                     .memory_bytes = memory,
                                     .weight = resident->task.terms->weight})
                             .has_value();
    resident->checkpointed = host_.now();
    if (!resident->admitted && options_.slices > 0 && memory > options_.memory_bytes)
      hopeless.push_back(resident->serial);
  }
  for (const std::uint64_t serial : hopeless) {
    const Resident* const found = resident_of(serial);
    if (found == nullptr) continue;
    const Resident& resident = *found;
    fail_task(resident.task.key,
              {ErrorCode::unsupported,
               weft::format("The job requires {} bytes of memory; this worker shares {}.",
                            partition_of(resident), options_.memory_bytes)});
    remove(serial);
  }
}

Duration Work::checkpoint_interval(const Resident& resident) const {
  const double whole = resident.part_seconds * resident.progress->of();
  return std::max(resident.task.terms->checkpoint_every, duration_of(whole * work_lost_max));
}

void Work::run_part() {
  if (on_runner_ || resting_) return;
  const auto slice = slices_.next();
  if (!slice) return;
  const auto found = std::ranges::find_if(residents_, [&](const auto& each) {
    return each->admitted && each->task.key.task == slice->task;
  });
  if (found == residents_.end()) return;
  Resident& resident = **found;
  const LeaseTerms& terms = *resident.task.terms;
  const bool checkpoints = terms.checkpoint_every > Duration::zero() && resident.keeps_state;
  std::uint32_t parts = resident.progress->of() - resident.progress->done();
  if (options_.slices > 1 || checkpoints) {
    const Duration target = options_.slices > 1 ? slice->length : checkpoint_interval(resident);
    parts = parts_for(*resident.progress, resident.part_seconds, seconds(target));
  }
  exec::RunOptions run = resident.progress->next(parts);
  if (options_.slices > 0) run.bytes_max = partition_of(resident);
  on_runner_ = resident.serial;
  TaskRun request{.job = resident.job,
                  .options = std::move(run),
                  .wall_max = std::max<Duration>(terms.wall_max - resident.used, Duration(1)),
                  // A lease need not name its client: then each job stands alone.
                  .client = terms.client == PublicKey() ? resident.task.key.task.job.text()
                                                        : terms.client.text()};
  runner_.run(std::move(request), alive_.guard([this, serial = resident.serial, parts,
                                                began = host_.now()](Result<exec::Output> output) {
    on_runner_.reset();
    part_ends(*resident_of(serial), parts, host_.now() - began,
              std::move(output));  // It stays while it is on the runner.
  }));
}

void Work::part_ends(Resident& resident, std::uint32_t parts, Duration took,
                     Result<exec::Output> output) {
  resident.used += took;
  slices_.ran(resident.task.key.task, took);
  if (resident.cancelled) {
    rest_after(took);
    return remove(resident.serial);
  }
  const TaskKey key = resident.task.key;
  const std::uint64_t serial = resident.serial;
  Progress& progress = *resident.progress;
  const bool in_parts = progress.done() > 0 || parts < progress.of();
  if (!output && output.error().code == ErrorCode::invalid_argument && in_parts) {
    // Its shader may only run whole: what is wrong with it then, if anything, is the job's fault.
    log_debug("Task {} runs whole: {}", key.task.text(), output.error().message);
    progress.run_whole();
    resident.part_seconds = 0;
  } else if (!output) {
    // Its partition is too small for the job, which is no fault of the job's: others have larger
    // ones.
    if (options_.slices > 0 && output.error().code == ErrorCode::resource_exhausted)
      output.error().code = ErrorCode::unsupported;
    fail_task(key, std::move(output.error()));
    rest_after(took);
    return remove(resident.serial);
  } else {
    progress.take(parts, std::move(*output));
    resident.part_seconds = seconds(took) / parts;
    if (in_parts)
      emit_(event::TaskAdvanced{
          .key = key, .parts = parts, .done = progress.done(), .of = progress.of()});
    if (progress.complete()) {
      // Out of turn first: what becomes of the output may let others begin.
      const double resumed = progress.resumed();
      const auto job = resident.job;
      const Queued task = resident.task;
      exec::Output whole = progress.finish();
      slices_.end(key.task);
      resident.admitted = false;
      resident.progress.reset();
      rest_after(took);
      succeed(task, std::move(whole), *job, resumed);
      return remove(serial);
    }
  }
  if (resident.used >= resident.task.terms->wall_max) {
    fail_task(key, {ErrorCode::deadline_exceeded,
                    weft::format("It took longer than {} ms and was ended.",
                                 std::chrono::duration_cast<std::chrono::milliseconds>(
                                     resident.task.terms->wall_max)
                                     .count())});
    rest_after(took);
    return remove(resident.serial);
  }
  checkpoint(resident);
  rest_after(took);
  run_next();
}

void Work::rest_after(Duration took) {
  const auto rest = std::chrono::duration_cast<Duration>(took * ((1 - share_) / share_));
  if (rest > Duration::zero() && !finishing_) this->rest(rest);
}

bool Work::checkpoint(Resident& resident) {
  const LeaseTerms& terms = *resident.task.terms;
  const Progress& progress = *resident.progress;
  if (terms.checkpoint_every <= Duration::zero() || !resident.keeps_state || progress.done() == 0 ||
      !connection_.ready())
    return false;
  // Those of a slice come when their time has; nine tenths, so that a part that was a little short
  // does not wait for another.
  const bool due = host_.now() - resident.checkpointed >= checkpoint_interval(resident) * 9 / 10;
  if (!resident.yields && (!due || resident.uploading)) return false;
  const auto bytes = std::make_shared<const ByteVector>(progress.checkpoint());
  if (bytes->size() > options_.checkpoint_bytes_max) {
    resident.keeps_state = false;
    return false;
  }
  protocol::Checkpoint message{.task = resident.task.key.task,
                               .attempt = resident.task.key.attempt,
                               .blob = crypto::sha256(*bytes),
                               .bytes = bytes->size(),
                               .done = progress.done(),
                               .of = progress.of(),
                               .stopped = resident.yields};
  resident.uploading = true;
  resident.checkpointed = host_.now();
  if (resident.yields) {
    resident.leaving = true;
    resident.admitted = false;
    slices_.end(resident.task.key.task);
  }
  const Hash blob = message.blob;
  host_.put_blob(blob, *bytes, token_,
                 alive_.guard([this, serial = resident.serial, message](const Result<>& result) {
                   checkpoint_arrives(serial, message, result);
                 }));
  return resident.leaving;
}

void Work::checkpoint_arrives(std::uint64_t serial, const protocol::Checkpoint& message,
                              const Result<>& result) {
  Resident* const resident = resident_of(serial);
  if (resident == nullptr || resident->cancelled) return;
  const bool leaves = message.stopped;
  if (!leaves) resident->uploading = false;
  if (!result || !connection_.ready()) {
    // It goes on; the next one may arrive. What the coordinator does not want is not sent again.
    log_debug("A checkpoint of {} is not kept: {}", message.task.text(),
              result ? "the connection is lost" : result.error().message);
    if (!result && result.error().code != ErrorCode::unavailable &&
        result.error().code != ErrorCode::deadline_exceeded &&
        result.error().code != ErrorCode::unauthenticated) {
      resident->keeps_state = false;
    }
    if (leaves) {
      resident->uploading = false;
      resident->leaving = false;
      resident->yields = false;
      run_next();
    }
    return;
  }
  connection_.send(message);
  ++counters_.checkpoints;
  emit_(event::TaskCheckpointed{
      .key = resident->task.key, .done = message.done, .of = message.of, .stopped = leaves});
  if (leaves) remove(serial);
}

void Work::on_yield(const protocol::Yield& yield) {
  for (const protocol::HeldTask& held : yield.tasks) {
    const TaskKey key{.task = held.task, .attempt = held.attempt};
    const auto queued = std::ranges::find(queue_, key, &Queued::key);
    if (queued != queue_.end()) {
      queue_.erase(queued);
      fail_task(key, {ErrorCode::cancelled, "It makes way before it has begun."});
    } else if (Resident* const resident = resident_of(key)) {
      resident->yields = true;
    }
  }
  check_finished();
}

void Work::remove(std::uint64_t serial) {
  const auto found =
      std::ranges::find_if(residents_, [&](const auto& each) { return each->serial == serial; });
  const std::unique_ptr<Resident> ended = std::move(*found);
  residents_.erase(found);
  if (ended->admitted) slices_.end(ended->task.key.task);
  if (ended->cancelled)
    emit_(event::TaskCancelled{.key = ended->task.key, .reason = *ended->cancelled});
  run_next();
  send_results();  // The last of a batch does not wait for its receipt.
  check_finished();
}

}  // namespace weft::worker
