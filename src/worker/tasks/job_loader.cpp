#include "worker/tasks/job_loader.h"

#include <algorithm>
#include <optional>

#include "common/base/format.h"

namespace weft::worker {

namespace {

std::uint64_t bytes_of(const exec::Job& job) {
  std::uint64_t bytes = 0;
  for (const ByteVector& data : job.data) bytes += data.size();
  return bytes;
}

// The lengths that the manifest states: one for each of exec::Job::data, 0 if it has no data.
std::vector<std::uint64_t> data_bytes(const manifest::Manifest& manifest) {
  if (manifest.kind == manifest::Kind::kernel) {
    const manifest::Kernel& kernel = manifest.kernel;
    return {std::uint64_t{kernel.m} * kernel.k, std::uint64_t{kernel.k} * kernel.n};
  }
  std::vector<std::uint64_t> bytes;
  for (const manifest::Binding& binding : manifest.bindings) {
    bytes.push_back(std::holds_alternative<std::monostate>(binding.data) ? 0 : binding.bytes());
  }
  return bytes;
}

std::string name_of_data(const manifest::Manifest& manifest, std::size_t index) {
  if (manifest.kind == manifest::Kind::kernel) return index == 0 ? "a" : "b";
  return weft::format("bindings[{}]", index);
}

// Fails if the sum of `bytes` exceeds `bytes_max`. (A sum of 64-bit numbers may wrap, so that each
// number is checked.)
Result<> check_sum(const std::vector<std::uint64_t>& bytes, std::uint64_t bytes_max) {
  std::uint64_t left = bytes_max;
  for (const std::uint64_t each : bytes) {
    if (each > left) {
      return fail(ErrorCode::resource_exhausted,
                  "The job's data have more than {} bytes, the most that this worker takes.",
                  bytes_max);
    }
    left -= each;
  }
  return {};
}

}  // namespace

// The state of one load that is under way. The callbacks of its blobs share it; the last of them
// finishes the load.
struct JobLoader::Loading {
  Hash hash;
  std::shared_ptr<exec::Job> job = std::make_shared<exec::Job>();
  std::vector<std::uint64_t> data_bytes;  // The lengths that the manifest states.
  std::size_t open = 0;  // Blobs that have not come yet, and one for a caller that is still asking.
  std::optional<Error> error;
};

void JobLoader::load(const Hash& manifest, Done done) {
  const auto found = std::ranges::find(jobs_, manifest, &Kept::first);
  if (found != jobs_.end()) {
    jobs_.splice(jobs_.end(), jobs_, found);
    host_.after(Duration::zero(),
                alive_.guard([job = found->second, done = std::move(done)] { done(job); }));
    return;
  }
  std::vector<Done>& waiters = waiting_[manifest];
  waiters.push_back(std::move(done));
  if (waiters.size() > 1) return;
  auto loading = std::make_shared<Loading>();
  loading->hash = manifest;
  blobs_.get(manifest, manifest::Limits{}.text_bytes_max,
             alive_.guard([this, loading](const Result<SharedBytes>& text) {
               if (!text) return answer(loading->hash, std::unexpected(text.error()));
               begin(loading, **text);
             }));
}

void JobLoader::begin(const std::shared_ptr<Loading>& loading, const ByteVector& text) {
  auto parsed = manifest::parse(as_text(text));
  if (!parsed) return answer(loading->hash, pass(std::move(parsed), "while reading the manifest"));
  exec::Job& job = *loading->job;
  job.manifest = std::move(*parsed);
  const manifest::Manifest& manifest = job.manifest;
  loading->data_bytes = data_bytes(manifest);
  if (auto fits = check_sum(loading->data_bytes, options_.bytes_max); !fits)
    return answer(loading->hash, pass(std::move(fits)));
  loading->open = 1;
  if (manifest.kind == manifest::Kind::kernel) {
    job.data.resize(2);
    add_data(loading, manifest.kernel.a, 0);
    add_data(loading, manifest.kernel.b, 1);
  } else {
    if (const auto* inline_text = std::get_if<std::string>(&manifest.shader))
      job.shader = *inline_text;
    if (const auto* blob = std::get_if<manifest::Blob>(&manifest.shader)) {
      add_blob(loading, "shader", blob->hash, manifest::Limits{}.shader_bytes_max,
               [&job](const ByteVector& bytes) { job.shader = as_text(bytes); });
    }
    if (std::holds_alternative<manifest::Path>(manifest.shader)) {
      loading->error =
          Error{ErrorCode::invalid_argument, "shader: a leased job cannot name a file."};
    }
    job.data.resize(manifest.bindings.size());
    for (std::size_t i = 0; i < manifest.bindings.size(); ++i)
      add_data(loading, manifest.bindings[i].data, i);
  }
  finish(*loading);
}

void JobLoader::add_data(const std::shared_ptr<Loading>& loading, const manifest::Data& data,
                         std::size_t index) {
  ByteVector& bytes = loading->job->data[index];
  if (const auto* given = std::get_if<manifest::Inline>(&data)) bytes = given->bytes;
  if (std::holds_alternative<manifest::Path>(data))
    loading->error =
        Error{ErrorCode::invalid_argument, "A leased job cannot name a file for its data."};
  if (const auto* blob = std::get_if<manifest::Blob>(&data)) {
    add_blob(loading, name_of_data(loading->job->manifest, index), blob->hash,
             loading->data_bytes[index], [&bytes](const ByteVector& fetched) { bytes = fetched; });
  }
}

void JobLoader::add_blob(const std::shared_ptr<Loading>& loading, std::string what,
                         const Hash& hash, std::uint64_t bytes_max,
                         std::function<void(const ByteVector&)> use) {
  ++loading->open;
  blobs_.get(hash, bytes_max,
             alive_.guard([this, loading, what = std::move(what),
                           use = std::move(use)](const Result<SharedBytes>& blob) {
               if (blob) use(**blob);
               if (!blob && !loading->error) {
                 const Error& why = blob.error();
                 loading->error = Error{why.code, weft::format("{}: {}", what, why.message)};
               }
               finish(*loading);
             }));
}

void JobLoader::finish(Loading& loading) {
  if (--loading.open > 0) return;
  if (loading.error) return answer(loading.hash, std::unexpected(*loading.error));
  const exec::Job& job = *loading.job;
  for (std::size_t i = 0; i < job.data.size(); ++i) {
    if (job.data[i].size() == loading.data_bytes[i]) continue;
    return answer(loading.hash,
                  fail(ErrorCode::invalid_argument, "{} has {} bytes; its shape says {}.",
                       name_of_data(job.manifest, i), job.data[i].size(), loading.data_bytes[i]));
  }
  keep(loading.hash, loading.job);
  answer(loading.hash, std::shared_ptr<const exec::Job>(loading.job));
}

void JobLoader::keep(const Hash& manifest, std::shared_ptr<const exec::Job> job) {
  jobs_.emplace_back(manifest, std::move(job));
  std::uint64_t bytes = 0;
  for (const Kept& kept : jobs_) bytes += bytes_of(*kept.second);
  while (jobs_.size() > options_.jobs_max || (bytes > options_.bytes_max && jobs_.size() > 1)) {
    bytes -= bytes_of(*jobs_.front().second);
    jobs_.pop_front();
  }
}

void JobLoader::answer(const Hash& manifest, Result<std::shared_ptr<const exec::Job>> result) {
  // The waiters are taken out first, because a waiter may load a job again.
  const auto waiters = waiting_.extract(manifest);
  for (const Done& done : waiters.mapped()) done(result);
}

}  // namespace weft::worker
