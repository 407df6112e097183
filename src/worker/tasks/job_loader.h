// From a manifest's hash to a job with its bytes at hand: the manifest, its shader and its data,
// each a blob. The last few jobs stay, since a job comes as many tasks.
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

  JobLoader(Host& host, BlobStore& blobs) : host_(host), blobs_(blobs) {}

  // invalid_argument where the manifest is wrong, names a file, or its data is not as long as its
  // bindings say.
  void load(const Hash& manifest, Done done);

 private:
  struct Loading;
  void add_blob(const std::shared_ptr<Loading>& loading, const Hash& hash,
                std::function<void(const ByteVector&)> use);
  void add_data(const std::shared_ptr<Loading>& loading, const manifest::Data& data,
                std::size_t index);
  void begin(const std::shared_ptr<Loading>& loading, const ByteVector& text);
  void finish(Loading& loading);
  void answer(const Hash& manifest, Result<std::shared_ptr<const exec::Job>> result);

  static constexpr std::size_t jobs_max = 4;
  Host& host_;
  BlobStore& blobs_;
  std::list<std::pair<Hash, std::shared_ptr<const exec::Job>>> jobs_;  // Coldest first.
  std::unordered_map<Hash, std::vector<Done>> waiting_;
  Alive alive_;
};

}  // namespace weft::worker
