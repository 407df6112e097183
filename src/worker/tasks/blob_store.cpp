#include "worker/tasks/blob_store.h"

#include <algorithm>
#include <iterator>

#include "common/crypto/sha256.h"

namespace weft::worker {
namespace {

constexpr Duration first_delay = std::chrono::milliseconds(500);

bool is_passing(ErrorCode code) {
  return code == ErrorCode::unavailable || code == ErrorCode::deadline_exceeded ||
         code == ErrorCode::unauthenticated;  // The token was that of an earlier session.
}

std::unexpected<Error> longer_than(const Hash& hash, std::uint64_t bytes_max) {
  return fail(ErrorCode::resource_exhausted, "The blob {} has more than {} bytes.", hash.text(),
              bytes_max);
}

Result<SharedBytes> within(const Hash& hash, const SharedBytes& bytes, std::uint64_t bytes_max) {
  if (bytes->size() > bytes_max) return longer_than(hash, bytes_max);
  return bytes;
}

}  // namespace

void BlobStore::get(const Hash& hash, std::uint64_t bytes_max, Done done) {
  bytes_max = std::min(bytes_max, options_.blob_bytes_max);
  if (const auto found = cache_.find(hash); found != cache_.end()) {
    coldest_first_.splice(coldest_first_.end(), coldest_first_, found->second.place);
    // The callback runs later, as after a fetch: a caller need not expect it inside its own call.
    host_.after(Duration::zero(),
                alive_.guard([bytes = found->second.bytes, hash, bytes_max,
                              done = std::move(done)] { done(within(hash, bytes, bytes_max)); }));
    return;
  }
  std::vector<Waiter>& waiters = waiting_[hash];
  waiters.push_back({.bytes_max = bytes_max, .done = std::move(done)});
  if (waiters.size() == 1) fetch(hash, bytes_max, 1);
}

void BlobStore::fetch(const Hash& hash, std::uint64_t bytes_max, int attempt) {
  host_.fetch_blob(
      hash, bytes_max, token_,
      alive_.guard([this, hash, bytes_max, attempt](Result<ByteVector> bytes) {
        if (!bytes && is_passing(bytes.error().code) && attempt < options_.attempts_max) {
          host_.after(first_delay * (1 << (attempt - 1)),
                      alive_.guard([this, hash, bytes_max, attempt] {
                        fetch(hash, bytes_max, attempt + 1);
                      }));
          return;
        }
        fetched(hash, bytes_max, std::move(bytes));
      }));
}

void BlobStore::fetched(const Hash& hash, std::uint64_t bytes_max, Result<ByteVector> bytes) {
  if (!bytes && bytes.error().code == ErrorCode::resource_exhausted)
    return too_long(hash, bytes_max);
  if (!bytes)
    return finish(hash, pass(std::move(bytes), "while fetching the blob {}", hash.text()));
  fetched_bytes_ += bytes->size();
  if (crypto::sha256(*bytes) != hash) {
    return finish(hash,
                  fail(ErrorCode::data_loss, "The {} bytes of the blob {} do not have that hash.",
                       bytes->size(), hash.text()));
  }
  finish(hash, std::make_shared<const ByteVector>(std::move(*bytes)));
}

void BlobStore::too_long(const Hash& hash, std::uint64_t bytes_max) {
  std::vector<Waiter>& waiters = waiting_[hash];
  const auto refused = std::ranges::stable_partition(
      waiters, [&](const Waiter& waiter) { return waiter.bytes_max > bytes_max; });
  const std::vector<Waiter> answered(std::make_move_iterator(refused.begin()),
                                     std::make_move_iterator(refused.end()));
  waiters.erase(refused.begin(), refused.end());
  if (waiters.empty()) {
    waiting_.erase(hash);
  } else {
    fetch(hash, std::ranges::max(waiters, {}, &Waiter::bytes_max).bytes_max, 1);
  }
  for (const Waiter& waiter : answered) waiter.done(longer_than(hash, waiter.bytes_max));
}

void BlobStore::finish(const Hash& hash, Result<SharedBytes> result) {
  // The waiters are taken out first, because a waiter may ask for this blob again.
  auto waiters = waiting_.extract(hash);
  if (result) keep(hash, *result);
  for (const Waiter& waiter : waiters.mapped())
    waiter.done(result ? within(hash, *result, waiter.bytes_max) : result);
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
