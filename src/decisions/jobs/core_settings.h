// The settings of the core: bounds, money, defences.
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
  // Sets whether workers count by levels (trust/levels.h) or by their number. Only tests and
  // simulations count by number, because wallets are free.
  void count_levels(bool on) {
    referee.defences = on ? trust::Defences{} : trust::Defences::none();
    scheduler.safeguards = on ? scheduler::Safeguards{} : scheduler::Safeguards::none();
    verification_permille = on ? CoreSettings{}.verification_permille : 0;
  }

  scheduler::Settings scheduler;
  MicroCredits grant = 0;  // Granted credits that an invited client gets, once.
  GrantLimits grants;      // Limits of grants; they do not apply to the operator's processes.
  // Off only in tests: each new client then gets the grant at its first job, although wallets are
  // free.
  bool grants_need_invitation = true;
  // Off only in tests: grants are then free credits, which can be staked and transferred.
  bool grants_tainted = true;
  // The share of each price that goes to the account from which verifiers and auditors are paid.
  std::uint32_t verification_permille = 20;
  std::size_t jobs_running_max = 10'000;   // Most running jobs (--jobs-max).
  std::size_t tasks_open_max = 2'000'000;  // Most tasks of all running jobs (--tasks-max).
  // Most running jobs of a client (--jobs-per-client); 0: no bound.
  std::size_t jobs_per_client_max = 1'000;
  std::size_t tasks_per_client_max =
      500'000;  // Most tasks of a client's running jobs (--tasks-per-client); 0: no bound.
  std::size_t workers_max = 20'000;
  // The share of workers_max that is reserved for invited and established workers.
  double workers_known_share = 0.25;
  // The number of commits under way at which further events are gathered instead of committed.
  std::size_t commits_in_flight_max = 32;
  std::size_t departed_max = 1'000;  // Workers that have left and are still listed.
  trust::RefereeSettings referee;
  trust::Secret
      secret;  // The random secret for the referee's draws: equal after a restart, and never sent.
  // The share of a worker's pay, in permille, that goes to its stake until the stake holds
  // stake_target (--stake-permille, --stake-target).
  std::uint32_t stake_permille = 0;
  MicroCredits stake_target = 10'000'000;
  // The smallest amount that an owner may settle at a time, because an epoch has room for 2,097,152
  // owners.
  MicroCredits settle_min = 1'000'000;
  std::map<PublicKey, double>
      client_weights;  // Clients' shares of the network that differ from 1 (--client-weight).
  // The time for which newcomers' pay is held before it becomes theirs (docs/trust.md); 0: no time.
  std::chrono::milliseconds pay_held_for{600'000};
  // The time after an accepted result was found wrong for which its client may still get its money
  // back, if the worker is convicted.
  std::chrono::milliseconds refund_owed_for{86'400'000};
  // If a conviction takes too little to refund all clients, the rest of the owner's stake pays.
  bool refunds_from_stake = true;
  bool stakes_open = false;  // Workers may deposit and withdraw stakes (--stakes).
  billing::AnswerChecks answers;
  // Three rules that are off only in tests. They ensure that a quote counts for one job
  // (used_quotes.h), that an owner's data are not deleted while it has work under way, and that a
  // suspension ends also for a worker that stays connected.
  bool quotes_count_once = true;
  bool owners_forgotten_idle = true;
  bool suspensions_end_connected = true;
};

}  // namespace weft::jobs
