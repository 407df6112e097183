// The options and the results of a play. Plain data.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <vector>

#include "apps/bench/attacks/cast.h"
#include "common/base/ids.h"
#include "decisions/trust/attacks/setup.h"
#include "decisions/trust/attacks/strategy.h"

namespace weft::coordinator::bench {

struct PlayOptions {
  std::uint16_t port = 0;
  trust::attacks::Scene scene;
  const trust::attacks::Entry* strategy = nullptr;  // Null: all workers are honest.
  trust::attacks::Plan plan;
  double task_seconds = 0.02;    // Time of a task on a worker of rate 1.
  bool agreement_alone = false;  // Clients' jobs need only agreement of workers.
  double seconds_max = 60;       // Time limit in seconds; open tasks then stay undecided.
  std::function<bool()> stop;    // Polled to end the play early; may be empty.
};

struct PlayedJob {
  JobId id;
  bool own = false;  // The client is an attacker.
};

// The observations of the players. Other results are in the coordinator's folder.
struct Played {
  double seconds = 0;          // Time until the last job of an honest client ended.
  std::uint64_t cheats = 0;    // Wrong results delivered for honest clients.
  std::set<TaskId> wrong;      // Tasks of honest clients with an accepted wrong result.
  MicroCredits gained = 0;     // Attackers' pay for wrong shares of results.
  MicroCredits paid = 0;       // All pay of attackers.
  std::uint64_t replaced = 0;  // Wallets that attackers abandoned.
  bool ended = true;           // True if all jobs of honest clients ended.
  std::vector<PlayedJob> jobs;
  std::vector<Player> workers;  // All wallets that ever worked in the play.
};

}  // namespace weft::coordinator::bench
