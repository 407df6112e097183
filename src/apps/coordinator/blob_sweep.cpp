#include "apps/coordinator/blob_sweep.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <span>
#include <unordered_set>
#include <vector>

#include "common/base/counted.h"
#include "common/base/log.h"

namespace weft::coordinator {

namespace {

constexpr std::size_t batch = 256;  // Blobs removed between two checks of the stop token.

constexpr bool is_digit(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

}  // namespace

void each_hash_in(std::string_view text, const std::function<void(const Hash&)>& use) {
  constexpr std::size_t digits = 2 * Hash::size;
  for (std::size_t begin = 0; begin < text.size();) {
    if (!is_digit(text[begin])) {
      ++begin;
      continue;
    }
    std::size_t end = begin;
    while (end < text.size() && is_digit(text[end])) ++end;
    if (end - begin == digits) {
      if (const auto hash = Hash::parse(text.substr(begin, digits))) use(*hash);
    }
    begin = end;
  }
}

Result<> BlobSweep::name_blobs_of(const JobId& job, const std::function<void(const Hash&)>& name) {
  const auto name_outputs = [&](const std::vector<store::OutputBlob>& outputs) {
    for (const store::OutputBlob& output : outputs) name(output.hash);
  };
  WEFT_ASSIGN(const store::Job row, store_.job(job));
  name(row.manifest_hash);
  each_hash_in(row.manifest, name);
  name_outputs(row.outputs);
  WEFT_ASSIGN(const auto tasks, store_.tasks(job));
  for (const store::Task& task : tasks) name_outputs(task.outputs);
  WEFT_ASSIGN(const auto replicas, store_.replicas(job));
  for (const store::Replica& replica : replicas) {
    name_outputs(replica.outputs);
    name(replica.receipt);
  }
  WEFT_ASSIGN(const auto receipts, store_.receipts(job));
  for (const store::Receipt& receipt : receipts) name(receipt.claims);
  return {};
}

Result<store::Blobs::Collected> BlobSweep::sweep(Instant at, UnixMillis unix,
                                                 const std::stop_token& stop) {
  const Instant since = at - settings_.unused;
  std::vector<Hash> found = blobs_.unused(since);
  std::unordered_set<Hash> unnamed(found.begin(), found.end());
  const auto name = [&](const Hash& hash) { unnamed.erase(hash); };
  if (!unnamed.empty()) {
    const auto kept = std::chrono::duration_cast<std::chrono::milliseconds>(settings_.kept);
    WEFT_ASSIGN(const store::BlobOwners owners, store_.blob_owners(unix - kept.count()));
    std::ranges::for_each(owners.blobs, name);
    for (const JobId& job : owners.jobs) {
      if (stop.stop_requested()) return store::Blobs::Collected();
      WEFT_OK(name_blobs_of(job, name));
    }
  }
  found.assign(unnamed.begin(), unnamed.end());
  store::Blobs::Collected all;
  for (std::span<const Hash> left(found); !left.empty() && !stop.stop_requested();) {
    const auto next = left.first(std::min(left.size(), batch));
    const auto removed = blobs_.collect(next, since);
    all.count += removed.count;
    all.bytes += removed.bytes;
    left = left.subspan(next.size());
  }
  if (!stop.stop_requested()) WEFT_OK(blobs_.compact());
  return all;
}

void BlobSweep::start() {
  thread_ = std::jthread([this](const std::stop_token& stop) {
    std::mutex mutex;
    std::condition_variable_any wake;
    for (;;) {
      {
        std::unique_lock lock(mutex);
        wake.wait_for(lock, stop, settings_.period, [] { return false; });
      }
      if (stop.stop_requested()) return;
      const auto removed = sweep(now(), unix_now(), stop);
      if (!removed)
        log_warning("Blobs that no record names stay until the next sweep: {}",
                    removed.error().message);
      else if (removed->count > 0)
        log_info("Removed {} that no record names: {} bytes.", counted(removed->count, "blob"),
                 removed->bytes);
    }
  });
}

}  // namespace weft::coordinator
