// What a play is told, and what it saw. Plain data.
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
  const trust::attacks::Entry* strategy = nullptr;  // Null: all are honest.
  trust::attacks::Plan plan;
  double task_seconds = 0.02;    // That a task takes a worker of rate 1.
  bool agreement_alone = false;  // The clients' jobs ask for agreement alone.
  double seconds_max = 60;       // What is not done then stays undecided.
  std::function<bool()> stop;    // Asked now and then; may be empty.
};

struct PlayedJob {
  JobId id;
  bool own = false;  // An attacker's.
};

// What the players saw. The rest is in the coordinator's folder.
struct Played {
  double seconds = 0;          // Until the last job of an honest client had ended.
  std::uint64_t cheats = 0;    // Wrong answers handed in to honest clients,
  std::set<TaskId> wrong;      // and tasks of theirs of which such an answer was accepted.
  MicroCredits gained = 0;     // Paid for the wrong share of these.
  MicroCredits paid = 0;       // To attackers, for everything.
  std::uint64_t replaced = 0;  // Wallets that attackers gave up.
  bool ended = true;           // All jobs of honest clients have.
  std::vector<PlayedJob> jobs;
  std::vector<Player> workers;  // All wallets that ever worked.
};

}  // namespace weft::coordinator::bench
