// The setup of a run: the honest network, and the numbers of an attack, which a search varies.
#pragma once

#include <cstdint>
#include <string>

#include "decisions/scheduler/types.h"
#include "decisions/trust/referee.h"

namespace weft::trust::attacks {

// The jobs that an attacker cheats in.
enum class JobClass : std::uint8_t { all, costly, cheap };
inline constexpr double costly_share = 0.1;  // Costly jobs, as a share of honest clients' jobs.

struct Plan {
  double share = 0.3;         // Attackers, as a share of the workers that start established.
  std::uint32_t wallets = 0;  // Fresh wallets instead of a `share`; 0: none.
  double start = 0.95;        // Reputation at the start; 0: fresh wallets.
  double task_share = 1;      // Share of its tasks that an attacker cheats in.
  std::uint32_t slices = 64;  // Wrong slices, out of 64.
  double stake = 1000;        // Deposit of each attacker, in prices of a task.
  double exit_hours = 0;      // Hours after which an attacker leaves; 0: never.
  JobClass target = JobClass::all;
  bool returns = true;             // A new wallet replaces a suspended one.
  double own_jobs = 0;             // Attackers' own jobs, as a share of all.
  std::uint32_t own_tasks = 32;    // Tasks of each attacker's job.
  bool devices_differ = false;     // Attackers' jobs have answers that differ by vendor.
  std::uint32_t differ_every = 1;  // One task of this number differs by vendor.
  std::uint32_t prefixes = 0;      // Address prefixes of all wallets; 0: one for each.
  bool stepped_jobs = false;       // The tasks of all jobs are steps and cannot be cut.
  bool own_vendor = false;         // Claims a device vendor that no other worker has.
};

struct Scene {
  std::uint64_t seed = 1;
  std::uint32_t tasks = 20'000;  // All tasks of honest clients.
  std::uint32_t job_tasks = 500;
  std::uint32_t jobs_open = 4;  // Open jobs of honest clients.
  std::uint32_t clients = 40;
  std::uint32_t slices = 64;    // Slices of a task.
  std::uint32_t replicas = 2;   // Quorum; established workers with a stake run a task alone.
  std::uint32_t workers = 40;   // Workers that start established, including attackers.
  std::uint32_t newcomers = 0;  // Honest workers that start without standing.
  std::uint32_t invited = 0;    // Workers that the operator invited.
  double start = 0.99;          // Reputation of honest workers.
  double task_seconds = 2;      // Seconds of a task on the reference worker.
  double stake = 1000;          // Stake of an honest established worker, in prices of a task.
  bool verifier = true;
  double verifier_rate = 400;  // Slices that the coordinator's verifier computes in a second.
  // The verifier has a second device, and both devices compute equal results.
  bool second_device = true;
  double crashing = 0;  // Share of honest workers that crash now and then.
  double slow = 0;      // Share of honest workers at a tenth of the speed.
  // The number of vendors of the honest workers' devices. The verifier's device is of the first.
  std::uint32_t vendors = 1;
  double correction_hours = 24;  // How far back a convicted worker's tasks are computed again.
  double stop_after = 0;         // Simulated hours; 0: until all tasks are done.
  RefereeSettings referee{};
  scheduler::Safeguards safeguards{};
};

struct Outcome {
  std::uint64_t tasks = 0;      // Accepted tasks of honest clients.
  std::uint64_t undecided = 0;  // Tasks not accepted at the end.
  std::uint64_t wrong_all = 0;  // Accepted tasks with every slice wrong.
  std::uint64_t wrong = 0;      // Accepted tasks with any slice wrong.
  std::uint64_t corrected = 0;  // Wrong tasks corrected in time.
  // The expected number of wrong tasks that will not be corrected in time, if attackers that are
  // still connected at the end of the run continue as before.
  double uncorrected = 0;
  std::uint64_t cheats = 0;     // Wrong answers handed in to honest clients.
  double gained = 0;            // Pay for wrong answers, in prices of a task.
  double forfeited = 0;         // Held pay that was lost, in prices of a task.
  double slashed = 0;           // Stake that was lost, in prices of a task.
  std::uint32_t convicted = 0;  // Wallets of attackers.
  // The attackers' share of all results that established workers handed in to honest clients.
  double established_share = 0;
  std::uint32_t honest_convicted = 0;
  double honest_slashed = 0;
  std::uint64_t honest_refused = 0;  // Right answers of honest workers that a check refused.
  std::uint32_t jobs = 0;            // Finished jobs of honest clients.
  std::uint32_t jobs_failed = 0;     // Failed jobs of honest clients.
  double seconds = 0;                // Time until all tasks of honest clients were accepted.
  double price = 0;                  // Mean price of a task of honest clients, in credits.
  double extra_cold = 0;        // Extra work in the first 10,000 tasks, as a share of one run each.
  double extra_warm = 0;        // Extra work in the later tasks, as a share of one run each.
  std::uint64_t rechecked = 0;  // Paid tasks of suspects that were computed again.
  double sample_lag = 0;        // Longest wait of a sample, in seconds.
  double newcomer_lag = 0;      // Longest wait of a newcomer's sample, in seconds.

  [[nodiscard]] double uncorrected_share() const {
    return tasks == 0 ? 0 : uncorrected / static_cast<double>(tasks);
  }
  // The cost of each accepted wrong task to the attackers, in prices of a task.
  [[nodiscard]] double cost() const {
    return wrong == 0 ? 0 : (forfeited + slashed - gained) / static_cast<double>(wrong);
  }
  [[nodiscard]] std::string json() const;
};

}  // namespace weft::trust::attacks
