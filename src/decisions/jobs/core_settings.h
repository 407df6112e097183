// How the core is set up: bounds, money, defences.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>

#include "decisions/billing/answers.h"
#include "decisions/jobs/grant_bounds.h"
#include "decisions/scheduler/types.h"
#include "decisions/trust/referee.h"

namespace weft::jobs {

struct CoreSettings {
  // Whether workers count by levels (trust/levels.h) or by heads, which only tests and simulations
  // want: wallets are free.
  void count_levels(bool on) {
    referee.defences = on ? trust::Defences{} : trust::Defences::none();
    scheduler.safeguards = on ? scheduler::Safeguards{} : scheduler::Safeguards::none();
    verification_permille = on ? CoreSettings{}.verification_permille : 0;
  }

  scheduler::Settings scheduler;
  MicroCredits grant = 0;  // To an invited client, once; granted credits.
  GrantLimits grants;      // The operator's own processes do not count.
  // Off only in tests: each new client is granted it at its first job, and wallets are free.
  bool grants_need_invitation = true;
  // Off only in tests: grants are free credits then, which can be staked and transferred.
  bool grants_tainted = true;
  // The share of each price that goes to the account that verifiers and auditors are paid from.
  std::uint32_t verification_permille = 20;
  std::size_t jobs_running_max = 10'000;    // --jobs-max
  std::size_t tasks_open_max = 2'000'000;   // Over all running jobs; --tasks-max.
  std::size_t jobs_per_client_max = 1'000;  // --jobs-per-client; 0: no bound.
  std::size_t tasks_per_client_max =
      500'000;  // Over its running jobs; --tasks-per-client; 0: no bound.
  std::size_t workers_max = 20'000;
  double workers_known_share = 0.25;  // The share that is kept for invited and established ones.
  std::size_t commits_in_flight_max = 32;  // Beyond that events gather.
  std::size_t departed_max = 1'000;        // Workers that left and are still listed.
  trust::RefereeSettings referee;
  trust::Secret
      secret;  // For the referee's draws: random, the same after a restart, and never sent.
  // This much of what a worker earns goes to its stake until that holds stake_target
  // (--stake-permille, --stake-target).
  std::uint32_t stake_permille = 0;
  MicroCredits stake_target = 10'000'000;
  // The least that an owner settles at a time: an epoch has room for 2,097,152 owners.
  MicroCredits settle_min = 1'000'000;
  std::map<PublicKey, double>
      client_weights;  // Clients' shares of the network, where that is not 1 (--client-weight).
  // Pay of newcomers becomes theirs so much later (docs/trust.md); 0: at once.
  std::chrono::milliseconds pay_held_for{600'000};
  // So long after an accepted result was found wrong its client gets its money back, if the worker
  // is convicted.
  std::chrono::milliseconds refund_owed_for{86'400'000};
  // What a conviction took does not reach: the rest of the owner's stake pays.
  bool refunds_from_stake = true;
  bool stakes_open = false;  // Workers may deposit and withdraw (--stakes).
  billing::AnswerChecks answers;
  // Off only in tests. A quote counts for one job (used_quotes.h); nothing of an owner is deleted
  // while something of it is under way; a suspension ends also for a worker that stays connected.
  bool quotes_count_once = true;
  bool owners_forgotten_idle = true;
  bool suspensions_end_connected = true;
};

}  // namespace weft::jobs
