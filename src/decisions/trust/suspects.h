// Chooses the workers whose paid tasks are computed again before it is known whether the worker or
// its device caused a wrong result.
//
// If a root finds a result wrong on two devices, the worker of the result is a suspect. It may take
// long until the cause is known (referee.h, polls), and meanwhile the worker could leave with its
// pay. Computing its tasks again convicts no worker and costs only the verifier's time. But a
// client whose job differs by device could make the verifier spend this time on honest workers
// again and again. Therefore each client has a daily limit on the tasks that were computed again
// because of its jobs and were all right. If a recheck finds a wrong task, or the suspect is
// convicted, the recheck no longer counts towards the client's limit.
//
// Pure. Bounds: for each client, tasks_max / suspect_tasks_max suspects are under way at a time,
// and waiting_max more wait for them.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include "common/base/clock.h"
#include "common/base/ids.h"

namespace weft::trust {

struct SuspectLimits {
  // The most right tasks that are computed again in a day because of one client's jobs.
  std::uint32_t tasks_max = 40'000;
  // The most tasks of one suspect that are computed again.
  std::uint32_t suspect_tasks_max = 10'000;
  std::size_t waiting_max = 256;
};

class Suspects {
 public:
  static constexpr UnixMillis day = 86'400'000;

  explicit Suspects(SuspectLimits limits = {}) : limits_(limits) {}

  // Call it when a root found a result of `worker` wrong in a job of `client` (an owner). Returns
  // true if the worker's tasks are to be computed again now; false if they already are, or if the
  // client's limit is used up.
  [[nodiscard]] bool suspect(const PublicKey& worker, const PublicKey& client, UnixMillis now);
  struct Next {
    PublicKey worker;
    PublicKey client;
  };
  // Call it when the worker's tasks, of which there were `tasks`, were computed again. Returns the
  // workers that waited for this and whose tasks are to be computed next.
  [[nodiscard]] std::vector<Next> computed(const PublicKey& worker, std::uint32_t tasks,
                                           bool some_wrong, UnixMillis now);
  // Call it when the worker was convicted: the client's job was not the cause of the wrong result.
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
