// Convicted workers, and suspects (trust/suspects.h), whose paid tasks of the day before are
// computed again: what is to be looked up, what is being computed, and which clients are owed
// something for tasks that were wrong.
//
// Pure: what is found and computed comes in, what is to be done goes out. Bounds: active_max
// workers at a time have page_size tasks under way; others wait. Of one worker at most tasks_max
// are computed again; those after them are named as not computed. Convicted workers go first; the
// clients because of which suspects are here take turns.
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
  static constexpr UnixMillis back = 86'400'000;  // A day.

  // How long what a suspect's tasks cost waits to be settled, if it is not convicted: what a
  // conviction takes is divided among the clients of wrong tasks.
  static constexpr UnixMillis settles_after = 600'000;

  // One that is under way goes on as it was: a convicted worker is given no more tasks. What it was
  // given while it was a suspect follows.
  void begin(const PublicKey& worker, UnixMillis convicted);
  // As if it were convicted, because of a job of this client. Of a suspect that is here already,
  // what it was given since follows. False: it is here because it is convicted.
  bool begin_suspect(const PublicKey& worker, const PublicKey& client, UnixMillis suspected);
  void restore(const store::Recheck& row);
  // A conviction took so much of it that no client has. Nothing if the worker is not here.
  void took(const PublicKey& worker, MicroCredits amount);
  // Rows that changed since the last call. Removed ones are not among them.
  [[nodiscard]] std::vector<store::Recheck> changed();

  // What is to be looked up now; each is answered by found().
  [[nodiscard]] std::vector<FindPaid> lookups();
  // Whether there were any; a page without tasks is the last one.
  void found(const PublicKey& worker, const std::vector<TaskId>& tasks);
  // Whether one more task of the worker is computed again, which counts it.
  [[nodiscard]] bool has_room(const PublicKey& worker);

  // A task that is computed again, for one worker or several. Whether it is not already.
  bool wait_for(const PublicKey& worker, const std::shared_ptr<const PaidTask>& paid);
  [[nodiscard]] std::shared_ptr<const PaidTask> waiting(const TaskId& task) const;
  [[nodiscard]] bool waits_for_client(const PublicKey& client) const;
  // It is computed: the workers that waited for it.
  std::set<PublicKey> computed(const TaskId& task);

  // All of whose tasks are looked up and computed; they are forgotten here.
  [[nodiscard]] std::vector<store::Recheck> complete(UnixMillis now);
  // Suspects whose tasks are computed since the last call, with how many they were.
  [[nodiscard]] std::vector<std::pair<PublicKey, std::uint32_t>> take_computed_suspects();

  [[nodiscard]] std::size_t size() const { return workers_.size(); }
  [[nodiscard]] bool contains(const PublicKey& worker) const { return workers_.contains(worker); }
  // Whether tasks are being looked up: what is found may have been read before a correction.
  [[nodiscard]] bool looks_up() const;

 private:
  struct Worker {
    store::Recheck row;
    bool looking = false;
    bool at_end = false;
    bool changed = true;
    bool suspect = false;   // And not convicted.
    bool reported = false;  // By take_computed_suspects().
    std::uint64_t turn = 0;
    std::optional<UnixMillis> since{};  // What is older is computed already.
    // While it was a suspect: convicted, or suspected again. What is newer follows.
    std::optional<UnixMillis> convicted{};
    std::uint32_t waiting = 0;          // Tasks.
    std::optional<TaskId> page_last{};  // The last of the page that is being computed.
  };
  // Once a page is computed, a restart need not compute it again.
  static void advance(Worker& its);
  static void look_from_the_start(Worker& its);
  [[nodiscard]] static bool is_over(const Worker& its) { return its.at_end && its.waiting == 0; }
  struct Waiting {
    std::shared_ptr<const PaidTask> paid;
    std::set<PublicKey> workers;
  };
  std::map<PublicKey, Worker> workers_;
  std::map<TaskId, Waiting> waiting_;
  std::map<PublicKey, std::uint64_t> turns_;  // The latest of each client that has suspects here.
};

// What the client paid for an accepted task of so many agreeing workers.
[[nodiscard]] MicroCredits price_paid(const store::Job& job, const manifest::Manifest& manifest,
                                      std::size_t agreeing);

// What each client gets of what a conviction took: all it is due, or if that is not enough the same
// share of it, rounded down.
[[nodiscard]] MicroCredits refund_of(MicroCredits due, MicroCredits due_to_all, MicroCredits taken);

}  // namespace weft::jobs
