// Blobs by hash. All callers that ask for a blob at the same time share one fetch. Bytes are
// checked against the hash and cached within a bound. A fetch that fails for lack of a connection
// is tried again a few times.
//
// Each caller names the most bytes that it accepts, and no more are received. A caller with too
// small a bound fails alone: the blob is fetched again for a caller with a larger bound.
//
// Threading: the session's. Lifetime: may be destroyed during a fetch; its callers then get no
// answer.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "worker/tasks/alive.h"
#include "worker/tasks/host.h"

namespace weft::worker {

using SharedBytes = std::shared_ptr<const ByteVector>;

class BlobStore {
 public:
  struct Options {
    // The most bytes of cached blobs that no job waits for.
    std::uint64_t cache_bytes_max = std::uint64_t{256} << 20;
    std::uint64_t blob_bytes_max = std::uint64_t{1} << 30;
    int attempts_max = 5;  // The attempts have pauses of 0.5 s, 1 s, 2 s and 4 s between them.
  };
  using Done = std::function<void(Result<SharedBytes>)>;

  BlobStore(Host& host, Options options) : host_(host), options_(options) {}

  // Gets a blob. Fails with data_loss if the bytes do not have that hash, with resource_exhausted
  // if there are more than `bytes_max` or Options::blob_bytes_max of them, and otherwise as
  // Host::fetch_blob() does.
  void get(const Hash& hash, std::uint64_t bytes_max, Done done);
  void set_token(std::string token) { token_ = std::move(token); }

  [[nodiscard]] std::uint64_t cached_bytes() const { return cached_bytes_; }
  [[nodiscard]] std::uint64_t fetched_bytes() const { return fetched_bytes_; }

 private:
  struct Cached {
    SharedBytes bytes;
    std::list<Hash>::iterator place;  // The blob's position in coldest_first_.
  };
  struct Waiter {
    std::uint64_t bytes_max = 0;
    Done done;
  };
  // Fetches a blob of at most `bytes_max` bytes.
  void fetch(const Hash& hash, std::uint64_t bytes_max, int attempt);
  void fetched(const Hash& hash, std::uint64_t bytes_max, Result<ByteVector> bytes);
  // Called if the blob has more than `bytes_max` bytes: answers the waiters whose bound is
  // `bytes_max` or smaller, and fetches the blob again for the other waiters.
  void too_long(const Hash& hash, std::uint64_t bytes_max);
  void finish(const Hash& hash, Result<SharedBytes> result);
  void keep(const Hash& hash, SharedBytes bytes);

  Host& host_;
  const Options options_;
  std::string token_;
  std::unordered_map<Hash, Cached> cache_;
  std::list<Hash> coldest_first_;
  std::unordered_map<Hash, std::vector<Waiter>> waiting_;
  std::uint64_t cached_bytes_ = 0;
  std::uint64_t fetched_bytes_ = 0;
  Alive alive_;
};

}  // namespace weft::worker
