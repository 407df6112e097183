// Loads a job from the hash of its manifest: the manifest, its shader and its data, each of which
// is a blob. The last few jobs are kept, because the tasks of a job arrive one after another.
//
// A manifest states the length of each of its data. The sum of these lengths is checked against
// Options::bytes_max before any data are fetched, and no blob is received beyond the length that
// its manifest states.
//
// Threading and lifetime: as BlobStore.
#pragma once

#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "worker/tasks/blob_store.h"

namespace weft::worker {

class JobLoader {
 public:
  using Done = std::function<void(Result<std::shared_ptr<const exec::Job>>)>;
  struct Options {
    // Data of one job, and of all kept jobs together.
    std::uint64_t bytes_max = std::uint64_t{1} << 30;
    std::size_t jobs_max = 4;  // Jobs that are kept.
  };

  JobLoader(Host& host, BlobStore& blobs, Options options)
      : host_(host), blobs_(blobs), options_(options) {}

  // Loads a job. Fails with invalid_argument if the manifest is wrong, names a file, or its data
  // are not as long as its bindings state, and with resource_exhausted if it states more than
  // Options::bytes_max.
  void load(const Hash& manifest, Done done);

 private:
  using Kept = std::pair<Hash, std::shared_ptr<const exec::Job>>;
  struct Loading;
  // Fetches a blob of the job. An error message names the blob as `what`.
  void add_blob(const std::shared_ptr<Loading>& loading, std::string what, const Hash& hash,
                std::uint64_t bytes_max, std::function<void(const ByteVector&)> use);
  void add_data(const std::shared_ptr<Loading>& loading, const manifest::Data& data,
                std::size_t index);
  void begin(const std::shared_ptr<Loading>& loading, const ByteVector& text);
  void finish(Loading& loading);
  void answer(const Hash& manifest, Result<std::shared_ptr<const exec::Job>> result);
  void keep(const Hash& manifest, std::shared_ptr<const exec::Job> job);

  Host& host_;
  BlobStore& blobs_;
  const Options options_;
  std::list<Kept> jobs_;  // The least recently used job comes first.
  std::unordered_map<Hash, std::vector<Done>> waiting_;
  Alive alive_;
};

}  // namespace weft::worker
