// How much of the blob store a job's results will take: its tasks' outputs, for each replica where
// these may differ, once more for known workers, and the joined ones. Set aside when a job is
// taken, and again after a restart.
#pragma once

#include "common/manifest/manifest.h"
#include "common/records/records.h"
#include "platform/store/room.h"
#include "platform/store/store.h"

namespace weft::coordinator {

// O(tasks). `apart_for_known`: what known workers hand in has room that strangers' results do not
// take.
[[nodiscard]] store::Room::Needs room_of(const manifest::Manifest& manifest,
                                         bool apart_for_known = true);

// Room for what the running jobs among `rows` have still to store.
void restore_room(const store::Loaded& rows, store::Room& room, bool apart_for_known = true);

// Room that was set aside for a submission. It goes back with this object, unless the job runs:
// then its end gives it back. Threading: one thread at a time.
class RoomAside {
 public:
  RoomAside(store::Room& room, const JobId& job) : room_(room), job_(job) {}
  RoomAside(const RoomAside&) = delete;
  ~RoomAside() {
    if (!kept_) room_.end(job_);
  }
  [[nodiscard]] const JobId& job() const { return job_; }
  void keep() { kept_ = true; }

 private:
  store::Room& room_;
  const JobId job_;
  bool kept_ = false;
};

}  // namespace weft::coordinator
