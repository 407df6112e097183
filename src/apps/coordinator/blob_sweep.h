// Removal of blobs. Each sweep removes the blobs that no row of the store names and that were not
// used for a while: uploads that no job uses, outputs that were not counted, task states of workers
// that were lost before they could report them, removed models. The blobs of a job are no longer
// named some days after its end, except while pay of one of its tasks is held.
//
// A blob that is used at any moment before its removal stays (Blobs::collect), and a row that names
// a blob is committed soon after the blob was put or found. Therefore no row names a removed blob.
// Threading: one thread, which start() makes and stop() or the destructor ends.
#pragma once

#include <chrono>
#include <functional>
#include <stop_token>
#include <string_view>
#include <thread>

#include "common/base/clock.h"
#include "common/base/result.h"
#include "platform/store/blobs.h"
#include "platform/store/store.h"

namespace weft::coordinator {

// Calls `use` with each hash (64 hexadecimal digits) in `text`. Finds all hashes in a manifest,
// regardless of the field.
void each_hash_in(std::string_view text, const std::function<void(const Hash&)>& use);

class BlobSweep {
 public:
  struct Settings {
    // Age at which an unnamed blob is removed.
    std::chrono::seconds unused = std::chrono::hours(1);
    // Time that a job's blobs stay after its end.
    std::chrono::seconds kept = std::chrono::hours(7 * 24);
    std::chrono::seconds period = std::chrono::minutes(15);  // Time between two sweeps.
  };
  BlobSweep(store::Store& store, store::Blobs& blobs, Settings settings)
      : store_(store), blobs_(blobs), settings_(settings) {}

  // Runs one sweep. An error of the store ends the sweep before anything is removed.
  [[nodiscard]] Result<store::Blobs::Collected> sweep(Instant at, UnixMillis unix,
                                                      const std::stop_token& stop = {});
  void start();
  void stop() { thread_ = {}; }

 private:
  [[nodiscard]] Result<> name_blobs_of(const JobId& job,
                                       const std::function<void(const Hash&)>& name);

  store::Store& store_;
  store::Blobs& blobs_;
  const Settings settings_;
  std::jthread thread_;
};

}  // namespace weft::coordinator
