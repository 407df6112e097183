// The histories of workers that are or were connected: their presence by the hour (presence.h), and
// whether they were trusted when they left. A departed worker is remembered until 100,000 others
// have left after it.
//
// Pure. Hours of the day follow the wall clock of set_clock().
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "common/base/clock.h"
#include "common/base/ids.h"
#include "decisions/scheduler/presence.h"

namespace weft::scheduler {

class WorkerHistories {
 public:
  explicit WorkerHistories(std::size_t departed_max = 100'000) : departed_max_(departed_max) {}

  // Sets the wall clock's time at the instant `now`. Until this is called, hours begin with
  // Instant's epoch.
  void set_clock(Instant now, UnixMillis unix);
  [[nodiscard]] UnixMillis unix_at(Instant now) const;

  // Records an arrival. The reference to the presence stays valid until the worker has departed.
  [[nodiscard]] Presence& arrives(const PublicKey& worker, bool trusted, Instant now);
  // Records a departure of a worker that has arrived before.
  void departs(const PublicKey& worker, Instant now);
  void set_trusted(const PublicKey& worker, bool trusted);

  // True if the worker is trusted, or was when it left; false for an unknown worker.
  [[nodiscard]] bool trusted(const PublicKey& worker) const;
  // Returns null for an unknown worker.
  [[nodiscard]] const Presence* presence(const PublicKey& worker) const;

  // Restores a stored history. Does nothing for a known worker.
  void restore(const PublicKey& worker, const std::array<Presence::Hour, Presence::hours>& seen);
  // Forgets a worker's history. Does nothing for a worker that is unknown or connected.
  void forget(const PublicKey& worker);

  // take_moved() returns the workers that departed since its last call, take_forgotten() those that
  // were forgotten since its last call.
  [[nodiscard]] std::vector<PublicKey> take_moved();
  [[nodiscard]] std::vector<PublicKey> take_forgotten();

 private:
  struct History {
    Presence presence;
    std::uint64_t departure = 0;  // The number of the worker's departure; 0: connected.
    bool trusted = false;
  };

  std::size_t departed_max_;
  std::map<PublicKey, History> histories_;
  // The workers that have left, by History::departure.
  std::map<std::uint64_t, PublicKey> departed_;
  std::uint64_t next_departure_ = 1;
  std::vector<PublicKey> moved_;
  std::vector<PublicKey> forgotten_;
  Instant clock_at_{};
  UnixMillis clock_unix_ = 0;
};

}  // namespace weft::scheduler
