// Convicted workers and suspects (trust/suspects.h) whose paid tasks of the last day are computed
// again: the tasks to be looked up, the tasks under way, and the clients that are owed a refund for
// wrong results.
//
// Pure: findings and results come in, lookups and orders go out. Bounds: active_max workers at a
// time have page_size tasks under way; other workers wait. At most tasks_max tasks of one worker
// are computed again; the tasks after them are reported as not computed. Convicted workers go
// first; suspects take turns by the client because of which they are suspected.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "common/base/ids.h"
#include "common/records/records.h"
#include "decisions/jobs/held_pay.h"
#include "decisions/jobs/world.h"

namespace weft::jobs {

class Rechecks {
 public:
  static constexpr std::size_t active_max = 4;
  static constexpr std::uint32_t page_size = 64;
  static constexpr std::uint32_t tasks_max = 10'000;
  // Age of the oldest tasks that are computed again: a day.
  static constexpr UnixMillis back = 86'400'000;

  // The time before the wrong tasks of a suspect are settled if it is not convicted. They wait
  // because the amount that a conviction takes is divided among all clients of wrong tasks.
  static constexpr UnixMillis settles_after = 600'000;

  // Begins the recheck of a convicted worker. A recheck that is under way continues unchanged,
  // because a convicted worker gets no more tasks. If the worker was a suspect until now, the tasks
  // that it was given since its recheck began are checked afterwards.
  void begin(const PublicKey& worker, UnixMillis convicted);
  // Begins the recheck of a suspect, because of a job of this client. If a recheck of the suspect
  // is under way, its tasks of the time since then follow. Returns false if the worker is being
  // rechecked because it was convicted.
  bool begin_suspect(const PublicKey& worker, const PublicKey& client, UnixMillis suspected);
  void restore(const store::Recheck& row);
  // Notes the amount that a conviction took of the worker and that no client has been given. Does
  // nothing if the worker has no recheck.
  void took(const PublicKey& worker, MicroCredits amount);
  // Rows that changed since the last call, without removed rows.
  [[nodiscard]] std::vector<store::Recheck> changed();

  // The lookups that are due. found() answers each of them.
  [[nodiscard]] std::vector<FindPaid> lookups();
  // Takes the page of tasks that a lookup found. A page without tasks is the last one.
  void found(const PublicKey& worker, const std::vector<TaskId>& tasks);
  // True if one more task of the worker may be computed again; the task is then counted.
  [[nodiscard]] bool has_room(const PublicKey& worker);

  // Notes that this worker's recheck waits until the task is computed again. Several workers may
  // wait for one task. Returns true if no worker waited for it before, so that the caller must
  // order the computation.
  bool wait_for(const PublicKey& worker, const std::shared_ptr<const PaidTask>& paid);
  [[nodiscard]] std::shared_ptr<const PaidTask> waiting(const TaskId& task) const;
  [[nodiscard]] bool waits_for_client(const PublicKey& client) const;
  // Call it when the task is computed. Returns the workers that waited for it.
  std::set<PublicKey> computed(const TaskId& task);

  // Returns and forgets the workers whose tasks are all looked up and computed.
  [[nodiscard]] std::vector<store::Recheck> complete(UnixMillis now);
  // Suspects whose tasks were all computed since the last call, with the number of their tasks.
  [[nodiscard]] std::vector<std::pair<PublicKey, std::uint32_t>> take_computed_suspects();

  [[nodiscard]] std::size_t size() const { return workers_.size(); }
  [[nodiscard]] bool contains(const PublicKey& worker) const { return workers_.contains(worker); }
  // True while a lookup of tasks is under way. It may have read rows that a correction has changed
  // since.
  [[nodiscard]] bool looks_up() const;

 private:
  struct Worker {
    store::Recheck row;
    bool looking = false;
    bool at_end = false;
    bool changed = true;
    bool suspect = false;   // A suspect that is not convicted.
    bool reported = false;  // take_computed_suspects() has returned it.
    std::uint64_t turn = 0;
    std::optional<UnixMillis> since{};  // Older tasks are computed already.
    // The time at which the worker, while it was a suspect, was convicted or suspected again. Newer
    // tasks are looked up afterwards.
    std::optional<UnixMillis> convicted{};
    std::uint32_t waiting = 0;          // Number of tasks under way.
    std::optional<TaskId> page_last{};  // The last task of the page under way.
  };
  // Notes that a page is computed, so that it is not computed again after a restart.
  static void advance(Worker& its);
  static void look_from_the_start(Worker& its);
  [[nodiscard]] static bool is_over(const Worker& its) { return its.at_end && its.waiting == 0; }
  struct Waiting {
    std::shared_ptr<const PaidTask> paid;
    std::set<PublicKey> workers;
  };
  std::map<PublicKey, Worker> workers_;
  std::map<TaskId, Waiting> waiting_;
  // The latest turn of each client that has suspects here.
  std::map<PublicKey, std::uint64_t> turns_;
};

// The price that the client paid for an accepted task on which `agreeing` workers agree.
[[nodiscard]] MicroCredits price_paid(const store::Job& job, const manifest::Manifest& manifest,
                                      std::size_t agreeing);

// The refund of one client from the amount that a conviction took: all that it is due, or, if the
// amount is not enough for all clients, an equal share of what each is due, rounded down.
[[nodiscard]] MicroCredits refund_of(MicroCredits due, MicroCredits due_to_all, MicroCredits taken);

}  // namespace weft::jobs
