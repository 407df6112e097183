#include "worker/tasks/residents.h"

#include <algorithm>
#include <utility>

#include "common/base/format.h"
#include "common/base/log.h"
#include "common/crypto/sha256.h"
#include "common/protocol/messages.h"

namespace weft::worker {
namespace {

constexpr double work_lost_max = 0.05;  // The share of a task's work between two checkpoints.

Duration duration_of(double seconds) {
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds));
}

}  // namespace

Residents::Residents(const Parts& parts, const Options& options)
    : parts_(parts),
      options_(options),
      slices_({.slots = std::max(options.slices, 1U),
               .memory_bytes = options.slices == 0 ? ~std::uint64_t{0} : options.memory_bytes,
               .slice = options.slice}) {}

Residents::Resident* Residents::find(std::uint64_t serial) const {
  const auto found =
      std::ranges::find_if(residents_, [&](const auto& each) { return each->serial == serial; });
  return found == residents_.end() ? nullptr : found->get();
}

Residents::Resident* Residents::find(const TaskKey& key) const {
  const auto found =
      std::ranges::find_if(residents_, [&](const auto& each) { return each->task.key == key; });
  return found == residents_.end() ? nullptr : found->get();
}

void Residents::run_next() {
  if (parts_.rests.resting()) return;
  take_in();
  admit_loaded();
  run_part();
}

void Residents::take_in() {
  const std::size_t residents_max = std::max(options_.slices, 1U);
  while (residents_.size() < residents_max) {
    auto task = parts_.around.next_task();
    if (!task) return;
    auto resident = std::make_unique<Resident>();
    resident->task = std::move(*task);
    resident->serial = ++serial_;
    parts_.emit(event::TaskStarted{.key = resident->task.key});
    load(*residents_.emplace_back(std::move(resident)));
    parts_.around.fetch_ahead();
  }
}

void Residents::load(Resident& resident) {
  parts_.loader.load(resident.task.terms->manifest,
                     alive_.guard([this, serial = resident.serial](
                                      const Result<std::shared_ptr<const exec::Job>>& job) {
                       Resident* const found = find(serial);
                       if (found == nullptr) return;
                       if (job) return loaded(*found, *job);
                       parts_.around.failed(found->task.key, job.error());
                       remove(serial);
                     }));
}

void Residents::loaded(Resident& resident, const std::shared_ptr<const exec::Job>& job) {
  const LeasedTask& task = resident.task;
  const std::uint32_t length = manifest::axis_length(job->manifest);
  if (task.range.count == 0 || task.range.first > length ||
      task.range.count > length - task.range.first) {
    parts_.around.failed(task.key,
                         {ErrorCode::invalid_argument,
                          weft::format("The lease asks for {} workgroups from {}; the job has {}.",
                                       task.range.count, task.range.first, length)});
    return remove(resident.serial);
  }
  if (options_.signing != nullptr &&
      is_whole_task(job->manifest, task.key.task.index, task.range) &&
      options_.signing->forgotten(parts_.session.coordinator, task.key)) {
    parts_.around.failed(
        task.key,
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
  // Only a whole task has states from which the verifier computes, and a root for its end.
  if (task.step_roots && is_whole_task(job->manifest, task.key.task.index, task.range))
    progress.commit_steps(options_.states);
  if (!task.resume ||
      task.resume->bytes > std::min(options_.checkpoint_bytes_max, options_.resume_bytes_max)) {
    resident.progress = std::move(progress);
    return run_next();
  }
  parts_.blobs.get(task.resume->blob, task.resume->bytes,
                   alive_.guard([this, serial = resident.serial, progress = std::move(progress)](
                                    const Result<SharedBytes>& blob) mutable {
                     Resident* const found = find(serial);
                     if (found == nullptr) return;
                     // A task whose checkpoint cannot be resumed begins at its start.
                     const Result<> resumed =
                         blob ? progress.resume(**blob) : Result<>(std::unexpected(blob.error()));
                     if (resumed) {
                       parts_.emit(event::TaskResumed{
                           .key = found->task.key, .done = progress.done(), .of = progress.of()});
                     } else {
                       log_warning("Task {} starts from its beginning: {}",
                                   found->task.key.task.text(), resumed.error().message);
                     }
                     found->progress = std::move(progress);
                     run_next();
                   }));
}

std::uint64_t Residents::partition_of(const Resident& resident) const {
  if (options_.slices == 0) return 0;
  return std::max(options_.slice_memory_bytes, resident.job->manifest.requirements.memory_bytes);
}

// Admits loaded tasks. A task whose partition has no room yet waits until another task ends.
void Residents::admit_loaded() {
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
    resident->checkpointed = parts_.host.now();
    if (!resident->admitted && options_.slices > 0 && memory > options_.memory_bytes)
      hopeless.push_back(resident->serial);
  }
  for (const std::uint64_t serial : hopeless) {
    const Resident* const found = find(serial);
    if (found == nullptr) continue;
    const Resident& resident = *found;
    parts_.around.failed(
        resident.task.key,
        {ErrorCode::unsupported,
         weft::format("The job requires {} bytes of memory; this worker offers {}.",
                      partition_of(resident), options_.memory_bytes)});
    remove(serial);
  }
}

Duration Residents::checkpoint_interval(const Resident& resident) const {
  const double whole = resident.part_seconds * resident.progress->of();
  return std::max(resident.task.terms->checkpoint_every, duration_of(whole * work_lost_max));
}

void Residents::run_part() {
  if (on_runner_ || parts_.rests.resting()) return;
  const auto slice = slices_.next();
  if (!slice) return;
  const auto found = std::ranges::find_if(residents_, [&](const auto& each) {
    return each->admitted && each->task.key.task == slice->task;
  });
  if (found == residents_.end()) return;
  Resident& resident = **found;
  const LeaseTerms& terms = *resident.task.terms;
  const bool checkpoints = terms.checkpoint_every > Duration::zero() && resident.keeps_state;
  std::uint32_t parts = resident.progress->run_max();
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
                  // A lease need not name its client: each job then counts as a client.
                  .client = terms.client == PublicKey() ? resident.task.key.task.job.text()
                                                        : terms.client.text()};
  parts_.runner.run(std::move(request),
                    alive_.guard([this, serial = resident.serial, parts,
                                  began = parts_.host.now()](Result<exec::Output> output) {
                      on_runner_.reset();
                      part_ends(*find(serial), parts, parts_.host.now() - began,
                                // The task stays in the list while it is on the runner.
                                std::move(output));
                    }));
}

void Residents::part_ends(Resident& resident, std::uint32_t parts, Duration took,
                          Result<exec::Output> output) {
  resident.used += took;
  slices_.ran(resident.task.key.task, took);
  if (resident.cancelled) {
    parts_.rests.after(took);
    return remove(resident.serial);
  }
  const TaskKey key = resident.task.key;
  Progress& progress = *resident.progress;
  const bool in_parts = progress.done() > 0 || parts < progress.of();
  if (!output && output.error().code == ErrorCode::invalid_argument && in_parts) {
    // The shader may be one that can only run whole. If it fails as a whole, the job is at fault.
    log_debug("Task {} runs as a whole, not in parts: {}", key.task.text(), output.error().message);
    progress.run_whole();
    resident.part_seconds = 0;
  } else if (!output) {
    // The partition is too small for the job. That is no fault of the job, because other workers
    // have larger partitions.
    if (options_.slices > 0 && output.error().code == ErrorCode::resource_exhausted)
      output.error().code = ErrorCode::unsupported;
    parts_.around.failed(key, std::move(output.error()));
    parts_.rests.after(took);
    return remove(resident.serial);
  } else {
    progress.take(parts, std::move(*output));
    resident.part_seconds = seconds(took) / parts;
    if (in_parts)
      parts_.emit(event::TaskAdvanced{
          .key = key, .parts = parts, .done = progress.done(), .of = progress.of()});
    if (progress.complete()) return complete(resident, took);
  }
  if (resident.used >= resident.task.terms->wall_max) {
    parts_.around.failed(key, {ErrorCode::deadline_exceeded,
                               weft::format("The task took longer than {} ms and was ended.",
                                            std::chrono::duration_cast<std::chrono::milliseconds>(
                                                resident.task.terms->wall_max)
                                                .count())});
    parts_.rests.after(took);
    return remove(resident.serial);
  }
  checkpoint(resident);
  parts_.rests.after(took);
  run_next();
}

void Residents::complete(Resident& resident, Duration took) {
  // The turn ends first, because the output may let other tasks begin.
  const std::uint64_t serial = resident.serial;
  Computed computed{
      .output = {}, .resumed = resident.progress->resumed(), .steps = resident.progress->steps()};
  const auto job = resident.job;
  const LeasedTask task = resident.task;
  computed.output = resident.progress->finish();
  slices_.end(task.key.task);
  resident.admitted = false;
  resident.progress.reset();
  parts_.rests.after(took);
  parts_.around.computed(task, std::move(computed), *job);
  remove(serial);
}

void Residents::checkpoint(Resident& resident) {
  const LeaseTerms& terms = *resident.task.terms;
  const Progress& progress = *resident.progress;
  if (terms.checkpoint_every <= Duration::zero() || !resident.keeps_state || progress.done() == 0 ||
      !parts_.connection.ready())
    return;
  // The checkpoints of a slice are due when its time has passed. Nine tenths of the interval are
  // enough, so that a part that was a little short does not wait for another part.
  const bool due =
      parts_.host.now() - resident.checkpointed >= checkpoint_interval(resident) * 9 / 10;
  if (!resident.yields && (!due || resident.uploading)) return;
  const auto bytes = std::make_shared<const ByteVector>(progress.checkpoint());
  if (bytes->size() > options_.checkpoint_bytes_max) {
    resident.keeps_state = false;
    return;
  }
  protocol::Checkpoint message{.task = resident.task.key.task,
                               .attempt = resident.task.key.attempt,
                               .blob = crypto::sha256(*bytes),
                               .bytes = bytes->size(),
                               .done = progress.done(),
                               .of = progress.of(),
                               .stopped = resident.yields};
  resident.uploading = true;
  resident.checkpointed = parts_.host.now();
  if (resident.yields) {
    resident.leaving = true;
    resident.admitted = false;
    slices_.end(resident.task.key.task);
  }
  const Hash blob = message.blob;
  parts_.host.put_blob(
      blob, *bytes, parts_.session.token,
      alive_.guard([this, serial = resident.serial, message](const Result<>& result) {
        checkpoint_arrives(serial, message, result);
      }));
}

void Residents::checkpoint_arrives(std::uint64_t serial, const protocol::Checkpoint& message,
                                   const Result<>& result) {
  Resident* const resident = find(serial);
  if (resident == nullptr || resident->cancelled) return;
  const bool leaves = message.stopped;
  if (!leaves) resident->uploading = false;
  if (!result || !parts_.connection.ready()) {
    // The task continues, and its next checkpoint may be stored. A checkpoint that the coordinator
    // does not want is not sent again.
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
  parts_.connection.send(message);
  parts_.around.checkpointed(resident->task.key, message);
  if (leaves) remove(serial);
}

bool Residents::yield(const TaskKey& key) {
  Resident* const resident = find(key);
  if (resident != nullptr) resident->yields = true;
  return resident != nullptr;
}

void Residents::yield_all_long() {
  for (const auto& resident : residents_)
    resident->yields =
        resident->yields || resident->task.terms->checkpoint_every > Duration::zero();
}

void Residents::cancel(const TaskKey& key, const std::string& reason) {
  Resident* const resident = find(key);
  if (resident == nullptr || resident->cancelled) return;
  resident->cancelled = reason;
  // If no part of the task is on the runner, nothing has to be ended; data that are loaded or
  // uploaded for the task are then dropped.
  on_runner_ == resident->serial ? parts_.runner.cancel() : remove(resident->serial);
}

bool Residents::cancel_all(const std::string& reason) {
  for (const auto& resident : residents_) {
    if (!resident->cancelled) resident->cancelled = reason;
    if (on_runner_ != resident->serial)
      parts_.emit(event::TaskCancelled{.key = resident->task.key, .reason = *resident->cancelled});
  }
  std::erase_if(residents_, [&](const auto& resident) { return on_runner_ != resident->serial; });
  if (!on_runner_) return false;
  parts_.runner.cancel();
  return true;
}

bool Residents::contains(const TaskKey& key) const { return find(key) != nullptr; }

std::vector<TaskKey> Residents::keys() const {
  std::vector<TaskKey> keys;
  for (const auto& resident : residents_) keys.push_back(resident->task.key);
  return keys;
}

void Residents::remove(std::uint64_t serial) {
  const auto found =
      std::ranges::find_if(residents_, [&](const auto& each) { return each->serial == serial; });
  const std::unique_ptr<Resident> ended = std::move(*found);
  residents_.erase(found);
  if (ended->admitted) slices_.end(ended->task.key.task);
  if (ended->cancelled)
    parts_.emit(event::TaskCancelled{.key = ended->task.key, .reason = *ended->cancelled});
  run_next();
  parts_.around.left();
}

}  // namespace weft::worker
