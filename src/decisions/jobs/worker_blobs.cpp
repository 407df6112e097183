#include "decisions/jobs/worker_blobs.h"

#include <algorithm>
#include <variant>

namespace weft::jobs {

namespace {

// The hashes of all blobs that the manifest names.
std::unordered_set<Hash> data_of(const manifest::Manifest& manifest) {
  std::unordered_set<Hash> data;
  const auto add = [&](const auto& source) {
    if (const auto* blob = std::get_if<manifest::Blob>(&source)) data.insert(blob->hash);
  };
  add(manifest.shader);
  add(manifest.kernel.a);
  add(manifest.kernel.b);
  for (const manifest::Binding& binding : manifest.bindings) add(binding.data);
  return data;
}

}  // namespace

WorkerBlobs::Allowed* WorkerBlobs::State::allowed(const PublicKey& worker, const JobId& job) {
  const auto runs = jobs.find(job);
  if (runs == jobs.end()) return nullptr;
  jobs_of[worker].insert(job);
  return &runs->second.workers[worker];
}

void WorkerBlobs::add_job(const JobId& job, const manifest::Manifest& manifest, const Hash& text) {
  state_.with([&](State& state) {
    state.jobs[job].data = data_of(manifest);
    state.jobs[job].data.insert(text);
  });
}

void WorkerBlobs::remove_job(const JobId& job) {
  state_.with([&](State& state) {
    const auto found = state.jobs.find(job);
    if (found == state.jobs.end()) return;
    for (const auto& [worker, allowed] : found->second.workers) {
      const auto of = state.jobs_of.find(worker);
      of->second.erase(job);
      if (of->second.empty()) state.jobs_of.erase(of);
    }
    state.jobs.erase(found);
  });
}

void WorkerBlobs::allow_upload(const PublicKey& worker, const TaskId& task, std::uint32_t attempt,
                               std::uint64_t bytes, std::vector<std::uint64_t> outputs) {
  state_.with([&](State& state) {
    Allowed* const allowed = state.allowed(worker, task.job);
    if (allowed == nullptr) return;
    const auto lease = std::pair(task.index, attempt);
    if (allowed->leases.try_emplace(lease, std::move(outputs)).second)
      allowed->upload_bytes += bytes;
  });
}

void WorkerBlobs::allow_states(const PublicKey& worker, const TaskId& task, std::uint32_t attempt,
                               std::vector<std::uint64_t> sizes) {
  std::uint64_t bytes = 0;
  for (const std::uint64_t size : sizes) bytes += size;
  state_.with([&](State& state) {
    Allowed* const allowed = state.allowed(worker, task.job);
    if (allowed == nullptr) return;
    const auto [asked, is_new] =
        allowed->states_asked.insert_or_assign({task.index, attempt}, std::move(sizes));
    if (is_new) allowed->upload_bytes += bytes;
  });
}

void WorkerBlobs::allow_read(const PublicKey& worker, const JobId& job,
                             std::span<const Hash> states) {
  state_.with([&](State& state) {
    Allowed* const allowed = state.allowed(worker, job);
    if (allowed == nullptr) return;
    allowed->reads = true;
    for (const Hash& blob : states)
      if (allowed->states.size() < states_max) allowed->states.insert(blob);
  });
}

void WorkerBlobs::allow_model(const PublicKey& worker, std::uint64_t line,
                              std::span<const Hash> blobs) {
  state_.with([&](State& state) {
    Line& of = state.lines[line];
    of.worker = worker;
    state.lines_of[worker].insert(line);
    for (const Hash& blob : blobs)
      if (!std::ranges::contains(of.blobs, blob)) of.blobs.push_back(blob);
    while (of.blobs.size() > 2 * models_max) of.blobs.pop_front();
  });
}

void WorkerBlobs::remove_line(std::uint64_t line) {
  state_.with([&](State& state) {
    const auto found = state.lines.find(line);
    if (found == state.lines.end()) return;
    const auto of = state.lines_of.find(found->second.worker);
    of->second.erase(line);
    if (of->second.empty()) state.lines_of.erase(of);
    state.lines.erase(found);
  });
}

bool WorkerBlobs::Allowed::take(
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::uint64_t>>& from,
    std::uint64_t bytes) {
  for (auto& [lease, sizes] : from) {
    const auto found = std::ranges::find(sizes, bytes);
    if (found == sizes.end()) continue;
    sizes.erase(found);
    return true;
  }
  return false;
}

std::optional<WorkerBlobs::Upload> WorkerBlobs::take_upload(const PublicKey& worker,
                                                            std::uint64_t bytes,
                                                            const std::optional<JobId>& job) {
  if (!uploads_by_lease_) return Upload();
  return state_.with([&](State& state) -> std::optional<Upload> {
    const auto of = state.jobs_of.find(worker);
    if (of == state.jobs_of.end()) return std::nullopt;
    std::vector<std::pair<JobId, Allowed*>> from;
    std::uint64_t all = 0;
    for (const JobId& id : of->second) {
      if (job && id != *job) continue;
      from.emplace_back(id, &state.jobs.at(id).workers.at(worker));
      all += from.back().second->upload_bytes;
    }
    if (from.empty() || all < bytes) return std::nullopt;
    Upload upload;
    std::uint64_t left = bytes;
    for (const auto& [id, allowed] : from) {
      const std::uint64_t taken = std::min(allowed->upload_bytes, left);
      allowed->upload_bytes -= taken;
      left -= taken;
      if (upload.output_of || upload.state_of) continue;
      if (allowed->take_state(bytes)) {
        upload.state_of = id;
      } else if (allowed->take_output(bytes)) {
        upload.output_of = id;
      }
    }
    return upload;
  });
}

bool WorkerBlobs::may_read(const PublicKey& worker, const Hash& blob) const {
  return state_.with([&](const State& state) {
    if (const auto lines = state.lines_of.find(worker); lines != state.lines_of.end()) {
      for (const std::uint64_t line : lines->second)
        if (std::ranges::contains(state.lines.at(line).blobs, blob)) return true;
    }
    const auto of = state.jobs_of.find(worker);
    return of != state.jobs_of.end() && std::ranges::any_of(of->second, [&](const JobId& id) {
             const Job& job = state.jobs.at(id);
             const Allowed& allowed = job.workers.at(worker);
             return allowed.reads && (job.data.contains(blob) || allowed.states.contains(blob));
           });
  });
}

}  // namespace weft::jobs
