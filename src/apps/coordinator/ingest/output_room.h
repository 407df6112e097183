// How much of the blob store a job's results will take: its tasks' outputs, for each replica where
// these may differ, and as much more as one network of strangers may fill with wrong ones; once
// more for known workers; and the joined ones. Set aside when a job is taken, and again after a
// restart.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "common/manifest/manifest.h"
#include "common/records/records.h"
#include "decisions/jobs/book.h"
#include "platform/store/room.h"
#include "platform/store/store.h"

namespace weft::coordinator {

// Each bound is turned off only in tests, in which its attack succeeds then.
struct RoomShares {
  // A part is for results of known workers. Without it wrong results of strangers use up the room
  // of their job, and right ones are not stored.
  bool for_known = true;
  // What strangers of one network store and is not accepted takes at most this share of the room
  // for results, and the largest task's outputs at least. At 1 the wrong results of one network
  // keep out the right ones of others.
  double of_network = 0.25;
};

struct JobRoom {
  store::Room::Needs needs;
  std::uint64_t network_max = store::Room::unbounded;
};

// O(tasks).
[[nodiscard]] JobRoom room_of(const manifest::Manifest& manifest, const RoomShares& shares = {});

// Room for what the running jobs among `rows` have still to store.
void restore_room(const store::Loaded& rows, store::Room& room, const RoomShares& shares = {});

// The results of these accepted tasks count to the networks of their workers no more. O(workers).
void count_accepted(std::span<const store::Task> tasks, store::Room& room);

// Whose room a connected worker's blob takes. `output_of`: the job whose output it is; what is no
// output of a task has free room. `network`: net::address_prefix() of the worker's.
[[nodiscard]] store::Room::For room_of_worker(const jobs::Book& book, const PublicKey& worker,
                                              std::string network,
                                              const std::optional<JobId>& output_of);

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
