// Which workers' paid tasks are computed again before it is known whose fault a wrong result was.
//
// A root that finds a result wrong, on two devices, suspects its worker, and it may take long until
// that is settled (referee.h, polls): meanwhile the worker could be gone with what it was paid for.
// Computing its tasks again convicts no worker and costs the verifier's time alone. A client whose
// job differs by device could have that spent on honest workers again and again, so that each
// client has so much of it a day: tasks that were computed again because of its jobs and were all
// right. What a recheck that finds a wrong task, or whose worker is convicted, has cost is given
// back.
//
// Pure. Bounds: a client has tasks_max / suspect_tasks_max suspects at a time under way, and
// waiting_max more that wait for them.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include "common/base/clock.h"
#include "common/base/ids.h"

namespace weft::trust {

struct SuspectLimits {
  // Right tasks that are computed again because of one client's jobs, in a day.
  std::uint32_t tasks_max = 40'000;
  // So many of one suspect at most.
  std::uint32_t suspect_tasks_max = 10'000;
  std::size_t waiting_max = 256;
};

class Suspects {
 public:
  static constexpr UnixMillis day = 86'400'000;

  explicit Suspects(SuspectLimits limits = {}) : limits_(limits) {}

  // A root found a result of `worker` wrong in a job of `client` (an owner). Whether its tasks are
  // to be computed again now: not if they already are, or if the client's share is used up.
  [[nodiscard]] bool suspect(const PublicKey& worker, const PublicKey& client, UnixMillis now);
  struct Next {
    PublicKey worker;
    PublicKey client;
  };
  // They are computed, `tasks` of them. Workers that waited for it follow.
  [[nodiscard]] std::vector<Next> computed(const PublicKey& worker, std::uint32_t tasks,
                                           bool some_wrong, UnixMillis now);
  // It was not the client's job that was at fault.
  void convicted(const PublicKey& worker);

  [[nodiscard]] bool is_open(const PublicKey& worker) const;

 private:
  struct Spent {
    PublicKey worker;
    UnixMillis since = 0;
    std::uint32_t tasks = 0;
    bool open = false;
  };
  struct Client {
    std::deque<Spent> spent;
    std::deque<PublicKey> waiting;
  };
  void forget_old(UnixMillis now);
  [[nodiscard]] bool has_room(const Client& client) const;
  static void begin(Client& client, const PublicKey& worker, std::uint32_t tasks, UnixMillis now);

  const SuspectLimits limits_;
  std::map<PublicKey, Client> clients_;
};

}  // namespace weft::trust
