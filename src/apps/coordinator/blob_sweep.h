// The end of blobs. Each sweep removes the blobs that no row names and that were not used for a
// while: uploads of which no job was made, outputs that were not counted, states of tasks whose
// worker was lost before it could say so, removed models. The blobs of a job lose their name some
// days after its end; a job of whose tasks pay is held keeps them.
//
// A blob that is used at any moment before its removal stays (Blobs::collect), and a row that names
// a blob is committed soon after the blob was put or found: so no row names a removed one.
// Threading: one thread; start() makes it, and stop() or the destructor ends it.
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

// Calls `use` with each hash (64 hexadecimal digits) in `text`: what a manifest names, whatever the
// field.
void each_hash_in(std::string_view text, const std::function<void(const Hash&)>& use);

class BlobSweep {
 public:
  struct Settings {
    std::chrono::seconds unused = std::chrono::hours(1);     // Before an unnamed blob goes.
    std::chrono::seconds kept = std::chrono::hours(7 * 24);  // A job's blobs after its end.
    std::chrono::seconds period = std::chrono::minutes(15);  // From one sweep to the next.
  };
  BlobSweep(store::Store& store, store::Blobs& blobs, Settings settings)
      : store_(store), blobs_(blobs), settings_(settings) {}

  // One sweep. An error of the store ends it, and nothing is removed.
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
