#include "worker/tasks/job_loader.h"

#include <algorithm>
#include <optional>

#include "common/base/format.h"

namespace weft::worker {

// One load under way. Shared by the callbacks of its blobs; the last of them finishes it.
struct JobLoader::Loading {
  Hash hash;
  std::shared_ptr<exec::Job> job = std::make_shared<exec::Job>();
  std::size_t open = 0;  // Blobs that have not come yet, and one for a caller that is still asking.
  std::optional<Error> error;
};

void JobLoader::load(const Hash& manifest, Done done) {
  const auto found =
      std::ranges::find(jobs_, manifest, &std::pair<Hash, std::shared_ptr<const exec::Job>>::first);
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
  blobs_.get(manifest, alive_.guard([this, loading](const Result<SharedBytes>& text) {
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
  loading->open = 1;
  if (manifest.kind == manifest::Kind::kernel) {
    job.data.resize(2);
    add_data(loading, manifest.kernel.a, 0);
    add_data(loading, manifest.kernel.b, 1);
  } else {
    if (const auto* inline_text = std::get_if<std::string>(&manifest.shader))
      job.shader = *inline_text;
    if (const auto* blob = std::get_if<manifest::Blob>(&manifest.shader)) {
      add_blob(loading, blob->hash,
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
    add_blob(loading, blob->hash, [&bytes](const ByteVector& fetched) { bytes = fetched; });
  }
}

void JobLoader::add_blob(const std::shared_ptr<Loading>& loading, const Hash& hash,
                         std::function<void(const ByteVector&)> use) {
  ++loading->open;
  blobs_.get(hash,
             alive_.guard([this, loading, use = std::move(use)](const Result<SharedBytes>& blob) {
               if (blob) use(**blob);
               if (!blob && !loading->error) loading->error = blob.error();
               finish(*loading);
             }));
}

void JobLoader::finish(Loading& loading) {
  if (--loading.open > 0) return;
  if (loading.error) return answer(loading.hash, std::unexpected(*loading.error));
  const manifest::Manifest& manifest = loading.job->manifest;
  const auto expect = [&](std::size_t index, std::uint64_t bytes,
                          std::string_view what) -> Result<> {
    const std::size_t size = loading.job->data[index].size();
    if (size == bytes) return {};
    return fail(ErrorCode::invalid_argument, "{} has {} bytes; its shape says {}.", what, size,
                bytes);
  };
  Result<> fits;
  if (manifest.kind == manifest::Kind::kernel) {
    const manifest::Kernel& kernel = manifest.kernel;
    fits = expect(0, std::uint64_t{kernel.m} * kernel.k, "a");
    if (fits) fits = expect(1, std::uint64_t{kernel.k} * kernel.n, "b");
  } else {
    for (std::size_t i = 0; i < manifest.bindings.size() && fits; ++i) {
      if (std::holds_alternative<std::monostate>(manifest.bindings[i].data)) continue;
      fits = expect(i, manifest.bindings[i].bytes(), weft::format("bindings[{}]", i));
    }
  }
  if (!fits) return answer(loading.hash, pass(std::move(fits)));
  jobs_.emplace_back(loading.hash, loading.job);
  if (jobs_.size() > jobs_max) jobs_.pop_front();
  answer(loading.hash, std::shared_ptr<const exec::Job>(loading.job));
}

void JobLoader::answer(const Hash& manifest, Result<std::shared_ptr<const exec::Job>> result) {
  const auto waiters = waiting_.extract(manifest);  // Taken out first: a waiter may load again.
  for (const Done& done : waiters.mapped()) done(result);
}

}  // namespace weft::worker
