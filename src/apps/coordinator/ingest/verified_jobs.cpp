#include "apps/coordinator/ingest/verified_jobs.h"

#include <algorithm>
#include <vector>

namespace weft::coordinator {
namespace {

Result<ByteVector> read_data(store::Blobs& blobs, const manifest::Data& data) {
  if (const auto* given = std::get_if<manifest::Inline>(&data)) return given->bytes;
  if (const auto* blob = std::get_if<manifest::Blob>(&data)) return blobs.read(blob->hash);
  return ByteVector{};
}

std::vector<const manifest::Data*> data_of(const manifest::Manifest& manifest) {
  if (manifest.kind == manifest::Kind::kernel) return {&manifest.kernel.a, &manifest.kernel.b};
  std::vector<const manifest::Data*> all;
  for (const manifest::Binding& binding : manifest.bindings) all.push_back(&binding.data);
  return all;
}

Result<std::shared_ptr<const VerifiedJob>> load(
    store::Blobs& blobs, const std::shared_ptr<const manifest::Manifest>& manifest) {
  auto job = std::make_shared<VerifiedJob>();
  job->manifest = manifest;
  if (manifest->kind != manifest::Kind::kernel) {
    if (const auto* text = std::get_if<std::string>(&manifest->shader)) job->shader = *text;
    if (const auto* blob = std::get_if<manifest::Blob>(&manifest->shader)) {
      WEFT_ASSIGN(const auto bytes, blobs.read(blob->hash));
      job->shader = as_text(bytes);
    }
  }
  for (const manifest::Data* data : data_of(*manifest)) {
    WEFT_ASSIGN(auto bytes, read_data(blobs, *data));
    job->data.push_back(std::move(bytes));
  }
  return job;
}

}  // namespace

Result<std::uint64_t> VerifiedJobs::bytes_of(const manifest::Manifest& manifest) const {
  std::uint64_t sum = 0;
  for (const manifest::Data* data : data_of(manifest)) {
    if (const auto* given = std::get_if<manifest::Inline>(data)) sum += given->bytes.size();
    if (const auto* blob = std::get_if<manifest::Blob>(data)) {
      WEFT_ASSIGN(const std::uint64_t size, blobs_.size(blob->hash));
      sum += size;
    }
  }
  return sum;
}

void VerifiedJobs::drop_last() {
  bytes_ -= known_.back().bytes;
  known_.pop_back();
}

Result<VerifiedJobs::Known*> VerifiedJobs::find_or_load(
    const JobId& id, const std::shared_ptr<const manifest::Manifest>& manifest) {
  const auto found = std::ranges::find(known_, id, &Known::id);
  if (found != known_.end()) {
    known_.splice(known_.begin(), known_, found);
    return &known_.front();
  }
  WEFT_ASSIGN(const std::uint64_t bytes, bytes_of(*manifest));
  if (bytes > bounds_.bytes_max)
    return fail(ErrorCode::resource_exhausted,
                "The job's data have {} bytes; the verifier takes at most {}.", bytes,
                bounds_.bytes_max);
  while (!known_.empty() &&
         (known_.size() >= bounds_.jobs_max || bytes_ + bytes > bounds_.bytes_max))
    drop_last();
  WEFT_ASSIGN(auto job, load(blobs_, manifest));
  known_.push_front(
      {.id = id, .job = std::move(job), .bytes = bytes, .limits = {}, .steps = {}, .costs = {}});
  bytes_ += bytes;
  return &known_.front();
}

Result<VerifiedJobs::Beside> VerifiedJobs::beside_latest(std::uint64_t bytes) {
  while (known_.size() > 1 && bytes_ + bytes > bounds_.bytes_max) drop_last();
  if (bytes_ + bytes > bounds_.bytes_max)
    return fail(ErrorCode::resource_exhausted,
                "The job's data and a state of its task have {} bytes; the verifier takes at most "
                "{}.",
                bytes_ + bytes, bounds_.bytes_max);
  return Beside(bytes_, bytes);
}

void VerifiedJobs::clear() {
  known_.clear();
  bytes_ = 0;
}

}  // namespace weft::coordinator
