// Room in the blob store that the results of a job will use: the outputs of its tasks, once for
// each replica if replicas may differ in their bytes; an addition for wrong results of one network
// of strangers; the outputs once more for known workers; the joined outputs; and the states that
// one check of steps asks for. The room is reserved when a job is accepted, and again after a
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

// Bounds against abuse. Tests turn one off to see its attack succeed.
struct RoomShares {
  // Reserves a part for results of known workers. Without it, wrong results of strangers can use up
  // the room of a job, and correct results cannot be stored.
  bool for_known = true;
  // The share of the room for results that unaccepted results of strangers of one network may use,
  // but at least the outputs of the largest task. At 1, wrong results of one network can keep out
  // correct results of others.
  double of_network = 0.25;
};

struct JobRoom {
  store::Room::Needs needs;
  std::uint64_t network_max = store::Room::unbounded;
};

// The room that a job needs. O(tasks).
[[nodiscard]] JobRoom room_of(const manifest::Manifest& manifest, const RoomShares& shares = {});

// Reserves room for the results that the running jobs among `rows` have not stored yet.
void restore_room(const store::Loaded& rows, store::Room& room, const RoomShares& shares = {});

// Stops counting the results of these accepted tasks against the networks of their workers.
// O(workers).
void count_accepted(std::span<const store::Task> tasks, store::Room& room);

// The room that a blob of a connected worker uses: that of a job if the blob is an output of a task
// or a state that a check asked for, else free room. `network` is net::address_prefix() of the
// worker's address.
[[nodiscard]] store::Room::For room_of_worker(const jobs::Book& book, const PublicKey& worker,
                                              std::string network,
                                              const jobs::WorkerBlobs::Upload& upload);

// Room that is reserved for a submission. The destructor gives it back unless the job runs; then
// the job's end gives it back. Threading: one thread at a time.
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
