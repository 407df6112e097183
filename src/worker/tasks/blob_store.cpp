#include "worker/tasks/blob_store.h"

#include "common/crypto/sha256.h"

namespace weft::worker {
namespace {

constexpr Duration first_delay = std::chrono::milliseconds(500);

bool is_passing(ErrorCode code) {
  return code == ErrorCode::unavailable || code == ErrorCode::deadline_exceeded ||
         code == ErrorCode::unauthenticated;  // The token was of the last session.
}

}  // namespace

void BlobStore::get(const Hash& hash, Done done) {
  if (const auto found = cache_.find(hash); found != cache_.end()) {
    coldest_first_.splice(coldest_first_.end(), coldest_first_, found->second.place);
    // Later, like everything else: a caller need not expect its callback inside its call.
    host_.after(Duration::zero(), alive_.guard([bytes = found->second.bytes,
                                                done = std::move(done)] { done(bytes); }));
    return;
  }
  std::vector<Done>& waiters = waiting_[hash];
  waiters.push_back(std::move(done));
  if (waiters.size() == 1) fetch(hash, 1);
}

void BlobStore::fetch(const Hash& hash, int attempt) {
  host_.fetch_blob(
      hash, options_.blob_bytes_max, token_,
      alive_.guard([this, hash, attempt](Result<ByteVector> fetched) {
        if (!fetched && is_passing(fetched.error().code) && attempt < options_.attempts_max) {
          host_.after(first_delay * (1 << (attempt - 1)),
                      alive_.guard([this, hash, attempt] { fetch(hash, attempt + 1); }));
          return;
        }
        if (!fetched)
          return finish(hash, pass(std::move(fetched), "while fetching the blob {}", hash.text()));
        fetched_bytes_ += fetched->size();
        if (crypto::sha256(*fetched) != hash) {
          return finish(
              hash, fail(ErrorCode::data_loss, "The {} bytes of the blob {} do not have that hash.",
                         fetched->size(), hash.text()));
        }
        finish(hash, std::make_shared<const ByteVector>(std::move(*fetched)));
      }));
}

void BlobStore::finish(const Hash& hash, Result<SharedBytes> result) {
  // Taken out first: a waiter may ask for the same blob again.
  auto waiters = waiting_.extract(hash);
  if (result) keep(hash, *result);
  for (const Done& done : waiters.mapped()) done(result);
}

void BlobStore::keep(const Hash& hash, SharedBytes bytes) {
  if (bytes->size() > options_.cache_bytes_max || cache_.contains(hash)) return;
  cached_bytes_ += bytes->size();
  coldest_first_.push_back(hash);
  cache_[hash] = {.bytes = std::move(bytes), .place = std::prev(coldest_first_.end())};
  while (cached_bytes_ > options_.cache_bytes_max) {
    const auto coldest = cache_.find(coldest_first_.front());
    cached_bytes_ -= coldest->second.bytes->size();
    cache_.erase(coldest);
    coldest_first_.pop_front();
  }
}

}  // namespace weft::worker
