// What a run is made of: the honest network, and the numbers of an attack, which a search varies.
#pragma once

#include <cstdint>
#include <string>

#include "decisions/scheduler/types.h"
#include "decisions/trust/referee.h"

namespace weft::trust::attacks {

// Jobs that an attacker goes for.
enum class JobClass : std::uint8_t { all, costly, cheap };
inline constexpr double costly_share = 0.1;  // A share of honest clients' jobs.

struct Plan {
  double share = 0.3;         // Attackers, as a share of all workers that start established; or,
  std::uint32_t wallets = 0;  // fresh wallets, where this is not 0.
  double start = 0.95;        // Reputation that attackers start with; 0: fresh wallets.
  double task_share = 1;      // Share of its tasks that it cheats in.
  std::uint32_t slices = 64;  // Wrong slices of 64.
  double stake = 1000;        // That each attacker deposits, in prices of a task.
  double exit_hours = 0;      // Leaves after so long; 0: never.
  JobClass target = JobClass::all;
  bool returns = true;             // A new wallet takes the place of one that is suspended.
  double own_jobs = 0;             // Jobs of the attacker, as a share of all.
  std::uint32_t own_tasks = 32;    // Tasks of each.
  bool devices_differ = false;     // The right answer to its own jobs differs by vendor,
  std::uint32_t differ_every = 1;  // in one task of so many.
  std::uint32_t prefixes = 0;      // Address prefixes that its wallets share; 0: one each.
  bool own_vendor = false;         // Says that its devices are of a vendor that no other has.
};

struct Scene {
  std::uint64_t seed = 1;
  std::uint32_t tasks = 20'000;  // All tasks of honest clients.
  std::uint32_t job_tasks = 500;
  std::uint32_t jobs_open = 4;  // Jobs of honest clients at a time.
  std::uint32_t clients = 40;
  std::uint32_t slices = 64;    // Slices of a task.
  std::uint32_t replicas = 2;   // With a stake, established workers run a task alone.
  std::uint32_t workers = 40;   // That start established, attackers among them.
  std::uint32_t newcomers = 0;  // Honest workers that start without standing.
  std::uint32_t invited = 0;    // The operator's own workers.
  double start = 0.99;          // Reputation of honest workers.
  double task_seconds = 2;      // On the reference worker.
  double stake = 1000;          // Stake of an honest established worker, in prices of a task.
  bool verifier = true;
  double verifier_rate = 400;  // Slices that the coordinator's verifier computes in a second.
  // It has a second device, of a driver that computes the same as the first.
  bool second_device = true;
  double crashing = 0;  // Share of honest workers that crash now and then,
  double slow = 0;      // or are ten times as slow.
  std::uint32_t vendors =
      1;  // Vendors of the honest workers' devices; the verifier's is the first.
  double correction_hours = 24;  // A convicted worker's tasks of so long are computed again.
  double stop_after = 0;         // Simulated hours; 0: until all tasks are done.
  RefereeSettings referee{};
  scheduler::Safeguards safeguards{};
};

struct Outcome {
  std::uint64_t tasks = 0;      // Accepted, of honest clients.
  std::uint64_t undecided = 0;  // Not accepted at the end.
  std::uint64_t wrong_all = 0;  // Accepted with every slice wrong.
  std::uint64_t wrong = 0;      // Accepted with any slice wrong,
  std::uint64_t corrected = 0;  // and corrected within the time.
  // Wrong tasks that will not be corrected within their time, if attackers that are still there at
  // the end of the run go on as they did.
  double uncorrected = 0;
  std::uint64_t cheats = 0;     // Wrong answers handed in to honest clients.
  double gained = 0;            // Pay for wrong answers, in prices of a task; less
  double forfeited = 0;         // pay that was held,
  double slashed = 0;           // and stakes.
  std::uint32_t convicted = 0;  // Attackers' wallets.
  std::uint32_t honest_convicted = 0;
  double honest_slashed = 0;
  std::uint64_t honest_refused = 0;  // Right answers of honest workers that a check refused.
  std::uint32_t jobs = 0;            // Jobs of honest clients that were done
  std::uint32_t jobs_failed = 0;     // or were ended before.
  double seconds = 0;                // Until all tasks of honest clients were accepted.
  double price = 0;                  // Mean price of a task of honest clients, in credits.
  double extra_cold = 0;             // Work beyond one run of each task: the first 10,000,
  double extra_warm = 0;             // the rest.
  std::uint64_t rechecked = 0;       // Paid tasks of suspects that were computed again.
  double sample_lag = 0;             // Longest wait of a sample, in seconds,
  double newcomer_lag = 0;           // and of a newcomer's.

  [[nodiscard]] double uncorrected_share() const {
    return tasks == 0 ? 0 : uncorrected / static_cast<double>(tasks);
  }
  // What each accepted wrong task cost the attackers, in prices of a task.
  [[nodiscard]] double cost() const {
    return wrong == 0 ? 0 : (forfeited + slashed - gained) / static_cast<double>(wrong);
  }
  [[nodiscard]] std::string json() const;
};

}  // namespace weft::trust::attacks
