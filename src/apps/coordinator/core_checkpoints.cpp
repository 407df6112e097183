// States of long tasks: stored with their task, handed out with its next lease, forgotten with its end.
//
// Whose state a worker goes on from: always its own wallet's. Another's only where nothing holds the result against anybody (one
// replica and no audits): under a quorum one bad checkpoint would make replicas agree on a wrong result, and under audits it would
// convict whoever went on from it.
#include <algorithm>
#include <array>

#include "apps/coordinator/checkpoint_blobs.h"
#include "apps/coordinator/core_state.h"
#include "common/base/log.h"

namespace weft::coordinator {
namespace {

constexpr std::string_view prefix = "checkpoint:";  // JOB/INDEX/WALLET

std::string name_of(const TaskId& task, const PublicKey& worker) { return std::format("{}{}/{}", prefix, task.text(), worker.text()); }

ByteVector pack(const RunningJob::Kept& kept) {
  ByteVector bytes(kept.blob.bytes.begin(), kept.blob.bytes.end());
  append_le(bytes, kept.bytes);
  append_le(bytes, kept.done);
  append_le(bytes, kept.of);
  return bytes;
}

std::optional<RunningJob::Kept> unpack(ByteSpan bytes) {
  if (bytes.size() != Hash::size + 16) return {};
  RunningJob::Kept kept;
  std::ranges::copy(bytes.first(Hash::size), kept.blob.bytes.begin());
  const auto word = [&](std::size_t at, std::size_t size) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < size; ++i) value |= static_cast<std::uint64_t>(bytes[Hash::size + at + i]) << (8 * i);
    return value;
  };
  kept.bytes = word(0, 8);
  kept.done = static_cast<std::uint32_t>(word(8, 4));
  kept.of = static_cast<std::uint32_t>(word(12, 4));
  return kept.done > 0 && kept.done < kept.of ? std::optional(kept) : std::nullopt;
}

double share_of(const RunningJob::Kept& kept) { return static_cast<double>(kept.done) / kept.of; }

// Equal states of two workers are one blob.
bool names(const RunningJob& job, std::uint32_t index, const Hash& blob) {
  const auto of_task = job.checkpoints.find(index);
  return of_task != job.checkpoints.end() && std::ranges::any_of(of_task->second, [&](const auto& each) { return each.second.blob == blob; });
}

bool anybody_may_go_on(const RunningJob& job) { return job.manifest->verify.replicas == 1 && job.manifest->verify.audit == 0; }

// What may be stored, and later removed: a checkpoint of this task and nothing else.
bool is_checkpoint_of(const store::Blobs& blobs, const protocol::Checkpoint& told) {
  const auto size = blobs.size(told.blob);
  return size && *size == told.bytes && checkpointed_task(blobs, told.blob) == told.task;
}

}  // namespace

void Core::checkpointed(SessionId session, const protocol::Checkpoint& told, Moment now) {
  State& state = *state_;
  auto* worker = state.worker_of(session);
  if (worker == nullptr) return;
  const PublicKey key = worker->hello.key;
  state.scheduler.heard(key, now.at);
  const auto job = state.jobs.find(told.task.job);
  const bool is_one = told.done > 0 && told.done < told.of && is_checkpoint_of(state.parts.blobs, told);
  if (job == state.jobs.end() || told.task.index >= job->second.row.tasks) {
    if (is_one) state.effect([&state, blob = told.blob] { state.parts.world.forget({blob}); });  // It came too late.
    return;
  }
  RunningJob& running = job->second;
  if (!is_one) {
    log_warning("What {} sends as a checkpoint of {} is none.", key.text(), told.task.text());
    if (told.stopped) (void)state.scheduler.failed(told.task, key, told.attempt, {ErrorCode::cancelled, "It was given back."}, now.at);
    return;
  }
  const RunningJob::Kept kept{.blob = told.blob, .bytes = told.bytes, .done = told.done, .of = told.of};
  const auto taken = state.scheduler.checkpointed(
      {.task = told.task, .worker = key, .attempt = told.attempt, .done = share_of(kept), .stopped = told.stopped}, now.at);
  if (!taken) {
    log_debug("{}", taken.error().message);
    if (names(running, told.task.index, told.blob)) return;
    return state.effect([&state, blob = told.blob] { state.parts.world.forget({blob}); });
  }
  auto& of_task = running.checkpoints[told.task.index];
  const auto [place, is_new] = of_task.try_emplace(key, kept);
  if (!is_new) {
    const Hash before = std::exchange(place->second, kept).blob;
    if (!names(running, told.task.index, before)) state.effect([&state, before] { state.parts.world.forget({before}); });
  }
  ++state.counters.checkpoints;
  state.batch.settings.push_back({.name = name_of(told.task, key), .value = pack(kept)});
}

std::set<Hash> Core::checkpoints() const {
  std::set<Hash> named;
  for (const auto& [id, job] : state_->jobs) {
    for (const auto& [index, of_task] : job.checkpoints) {
      for (const auto& [key, kept] : of_task) named.insert(kept.blob);
    }
  }
  return named;
}

void Core::forget_stray(const Hash& checkpoint) {
  const auto task = checkpointed_task(state_->parts.blobs, checkpoint);
  if (!task) return;
  const auto job = state_->jobs.find(task->job);
  if (job != state_->jobs.end() && names(job->second, task->index, checkpoint)) return;
  log_info("A state of {} that nobody named is removed.", task->text());
  state_->effect([state = state_.get(), checkpoint] { state->parts.world.forget({checkpoint}); });
}

void Core::State::restore_checkpoints(std::span<const store::Setting> rows) {
  for (const auto& row : rows) {
    if (!row.name.starts_with(prefix)) continue;
    const std::string_view rest = std::string_view(row.name).substr(prefix.size());
    const auto slash = rest.rfind('/');
    const auto task = TaskId::parse(rest.substr(0, slash));
    const auto key =
        slash == std::string_view::npos ? Result<PublicKey>(fail(ErrorCode::data_loss, "no worker")) : PublicKey::parse(rest.substr(slash + 1));
    const auto kept = unpack(row.value);
    const auto job = task ? jobs.find(task->job) : jobs.end();
    const bool open = job != jobs.end() && task->index < job->second.row.tasks && !job->second.accepted[task->index];
    if (key && kept && open) {
      job->second.checkpoints[task->index].insert_or_assign(*key, *kept);
    } else {
      batch.dropped_settings.push_back(row.name);
    }
  }
}

void Core::State::add_resume_points(protocol::Lease& lease, const PublicKey& worker) {
  const auto found = jobs.find(lease.job);
  if (found == jobs.end() || found->second.checkpoints.empty()) return;
  const RunningJob& job = found->second;
  for (const auto& task : lease.tasks) {
    const auto there = job.checkpoints.find(task.index);
    if (there == job.checkpoints.end()) continue;
    const RunningJob::Kept* best = nullptr;
    for (const auto& [key, kept] : there->second) {
      if (key != worker && !anybody_may_go_on(job)) continue;
      if (best == nullptr || share_of(kept) > share_of(*best)) best = &kept;
    }
    if (best == nullptr) continue;
    ++counters.resumed;
    lease.resume.push_back({.index = task.index, .blob = best->blob, .bytes = best->bytes, .done = best->done});
  }
}

// Workers that run several tasks at a time are told between whom, and at which weight.
void Core::State::add_client(protocol::Lease& lease, const PublicKey& worker) const {
  const auto taker = workers.find(worker);
  const auto job = jobs.find(lease.job);
  if (taker == workers.end() || job == jobs.end() || taker->second.hello.slice_memory_bytes == 0) return;
  lease.client = job->second.row.client;
  lease.weight = weight_of(lease.client);
}

void Core::State::forget_checkpoints(RunningJob& job, std::uint32_t index) {
  const auto found = job.checkpoints.find(index);
  if (found == job.checkpoints.end()) return;
  std::vector<Hash> blobs;
  for (const auto& [key, kept] : found->second) {
    batch.dropped_settings.push_back(name_of({.job = job.row.id, .index = index}, key));
    blobs.push_back(kept.blob);
  }
  job.checkpoints.erase(found);
  effect([this, blobs = std::move(blobs)] { parts.world.forget(blobs); });
}

void Core::State::forget_checkpoints(RunningJob& job) {
  while (!job.checkpoints.empty()) forget_checkpoints(job, job.checkpoints.begin()->first);
}

double Core::State::resumed_share(const protocol::TaskResult& result, const PublicKey& worker) const {
  const auto job = jobs.find(result.task.job);
  if (job == jobs.end() || result.resumed <= 0) return 0;
  const auto there = job->second.checkpoints.find(result.task.index);
  if (there == job->second.checkpoints.end()) return 0;
  double most = 0;
  for (const auto& [key, kept] : there->second) {
    if (key == worker || anybody_may_go_on(job->second)) most = std::max(most, share_of(kept));
  }
  return std::min(result.resumed, most);
}

}  // namespace weft::coordinator
