// What the scheduler is told and what it decides, as plain data.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "common/base/clock.h"
#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/manifest/manifest.h"
#include "common/protocol/capabilities.h"
#include "common/protocol/leases.h"
#include "decisions/scheduler/fair_share.h"
#include "decisions/scheduler/preemption.h"
#include "decisions/scheduler/pricing.h"
#include "decisions/scheduler/speculation.h"

namespace weft::scheduler {

// What keeps cheaply started workers from holding up the others. Each is one field, so that
// a test can show what happens without it.
struct Safeguards {
  bool newcomers_rank_last = true;   // They get what trusted workers leave.
  bool rates_are_shown = true;       // What a worker says of its speed counts for nothing.
  bool trusted_canaries = true;      // Newcomers run no canary.
  bool trusted_blame = true;         // Failures of newcomers alone end no job.
  bool lost_goes_to_trusted = true;  // A task that a newcomer lost goes to a trusted worker next.
  bool prefixes_share = true;        // Newcomers of one address prefix share one share of that.
  // Newcomers get no task whose result could not be checked within Settings::sample_wait_max.
  bool samples_in_time = true;
  // Leases of a job that newcomers may have, as a share of its tasks, if a trusted worker could run
  // them.
  double newcomer_share_max = 0.1;
  // One counts until its result is accepted, and to the job's end if it is lost or wrong; otherwise
  // while it is held.
  bool tries_are_spent = true;

  [[nodiscard]] static Safeguards none() {
    return {.newcomers_rank_last = false,
            .rates_are_shown = false,
            .trusted_canaries = false,
            .trusted_blame = false,
            .lost_goes_to_trusted = false,
            .prefixes_share = false,
            .samples_in_time = false,
            .newcomer_share_max = 1,
            .tries_are_spent = false};
  }
};

struct Settings {
  std::chrono::milliseconds wall_max{30'000};  // For one task (Lease::wall_ms_max).
  std::chrono::milliseconds grace{
      5'000};  // On top, for fetching and sending, before a lease expires.
  std::chrono::milliseconds beat{
      1'000};  // A worker with leases that says nothing for beats_missed_max of these is lost.
  std::uint32_t beats_missed_max = 3;
  std::chrono::milliseconds dispatch_max{
      100};  // One dispatch is cut so that it is predicted to take at most this.
  std::chrono::milliseconds hold_max{
      500};  // A worker holds more than one task while they are predicted to take less in all.
  std::chrono::milliseconds retry_same_after{
      500};  // A task goes back to a worker that failed it only after this.
  std::chrono::milliseconds retry_forger_after{
      30'000};  // The same where its answer was wrong (data_loss).
  std::chrono::milliseconds retry_unable_after{
      600'000};  // The same where it has not got what the task takes (resource_exhausted).
  std::uint32_t failed_workers_max =
      3;  // A task that failed on so many different workers ends its job.
  std::uint32_t failed_attempts_max = 6;  // Or so often in all.
  std::uint32_t timeouts_max =
      2;  // Tasks of one job out of time on so many workers (or so often on the only one) end it.
  std::uint32_t browsers_lost_max =
      2;  // Browsers that vanish while running a canary, or the same task.
  std::chrono::milliseconds starved_after{
      10'000};  // NoWorkerLeft for a further replica that no worker can compute.
  // A job with tasks to give ends once for so long no connected worker has had what it requires,
  // counted from its submission or from a restart.
  std::chrono::milliseconds unfit_max = std::chrono::hours(24);
  std::uint32_t expiries_max =
      3;  // Leases in a row that a worker lets expire before it counts as lost.
  std::chrono::milliseconds sample_wait_max = std::chrono::minutes(10);  // See Safeguards.
  std::uint32_t refusals_max =
      2;  // Workers that call the shader or its size wrong; one is enough in the canary.
  // Long tasks send their state no more often than this, and tasks that take less than twenty of it
  // not at all; 0: none do.
  std::chrono::milliseconds checkpoint_min{250};
  // A job whose urgency (score.h) is at least this does not wait for its canary: so many more of
  // its tasks may run beside it, each on a worker that has nothing to do. All of that is wasted
  // if the canary shows that the job costs more than its budget.
  double urgent_from = 0.75;
  std::uint32_t scouts_max = 7;
  double leaving_risk_max =
      0.25;  // A task passes over workers that leave before its end more likely than this,
             // and those too slow for wall_max, while a better one may get free.
  FairShares::Settings fair_shares;
  Speculation speculation;
  Pricing pricing;
  Preemption::Settings preemption;
  Safeguards safeguards;
};

// How far a worker is trusted (trust/levels.h).
enum class Standing : std::uint8_t {
  newcomer,     // Without standing: starting one costs nothing.
  established,  // Earned, and its speed is what its accepted work has shown.
  invited,      // The operator's own: its speed is what it says, corrected by its results.
};

// How a worker's slots are used.
enum class Sharing : std::uint8_t {
  in_turn,  // Its tasks run one after the other, each with all of its memory; the others wait,
            // their data fetched ahead.
  sliced,   // They run at a time, in time slices (worker/tasks/slices.h), and share its memory by
            // what their jobs ask for.
};

struct Worker {
  PublicKey key;
  protocol::WorkerKind kind = protocol::WorkerKind::native;
  std::uint32_t slots = 1;  // Tasks that it holds at a time, at most.
  protocol::Capabilities capabilities;
  Sharing sharing = Sharing::in_turn;
  std::uint64_t slice_memory_bytes =
      0;  // For a sliced one: every task's partition, where its job does not require more.
  Standing standing = Standing::invited;
  std::string
      prefix{};  // Newcomers of one prefix share one share of a job; empty: it is not shared.
  MicroCredits price_min = 0;  // The least for a unit that it accepts; it gets no job below.
  bool local = false;          // It is on this machine or in a private network.
};

struct Job {
  JobId id;
  manifest::Kind kind = manifest::Kind::wgsl;
  manifest::Requires requirements;
  std::uint32_t priority = 50;
  std::uint32_t tasks = 1;
  std::uint32_t workgroups = 1;  // manifest::axis_length().
  std::uint32_t replicas = 1;
  std::uint32_t replicas_first =
      0;  // Leased at first, until want_replicas() asks for more; 0: all of them.
  MicroCredits budget = 0;
  MicroCredits per_unit = 0;          // As quoted (quote.h); 0: Pricing::per_unit.
  MicroCredits price_quoted = 0;      // PriceTerms::quoted,
  MicroCredits price_max = 0;         // PriceTerms::max,
  bool price_capped = false;          // and PriceTerms::capped.
  std::vector<double> paces_known{};  // What earlier canaries of the same work have shown, in
                                      // reference seconds a workgroup (measured_work.h).
  double paid_share = 1;              // The part of its budget that was not granted.
  MicroCredits stake = 0;             // The client's; see score.h.
  Duration waited{};                  // Since its submission, where it comes from before a restart.
  std::optional<Instant> deadline;    // The job ends with deadline_exceeded then.
  std::optional<Estimate> estimate;   // Known from before a restart: the canary has passed.
  PublicKey client{};   // Whose share of the network it counts towards (fair_share.h).
  double share = 1;     // The client's weight.
  bool anyone = false;  // Its client lets newcomers run its canary.
  // Into how many parts a task is cut for checks of newcomers' results; 0: none of them waits for a
  // check.
  std::uint32_t sample_parts = 0;
  bool states_shared = false;  // A worker that runs a task of it uses any worker's state
                               // (docs/decisions/0006), not only from its own.
};
// The parts of a Job that its manifest says.
[[nodiscard]] Job job_from(const JobId& id, const manifest::Manifest& manifest);

// Where a task stood when the coordinator stopped. Tasks that nothing happened to are not listed.
struct TaskProgress {
  std::uint32_t index = 0;
  bool settled = false;
  std::vector<PublicKey> delivered;   // Workers whose counted replica is stored.
  std::uint32_t replicas_wanted = 0;  // 0: as the job says.
};

// --- Decisions
// ---------------------------------------------------------------------------------------------------------

// Send these tasks to the worker, in order; it runs them in that order.
struct Lease {
  PublicKey worker;
  JobId job;
  std::uint32_t piece_workgroups_max = 0;  // 0: one dispatch.
  std::uint32_t wall_ms_max = 0;
  bool canary = false;
  std::uint32_t checkpoint_ms = 0;  // protocol::Lease's.
  std::vector<protocol::LeasedTask> tasks;
};
// Tell the worker to drop these; they are its no more.
struct Cancel {
  PublicKey worker;
  std::vector<protocol::HeldTask> tasks;
  std::string reason;
};
// Tell the worker to stop this one at its next checkpoint; it keeps the lease until then
// (Scheduler::checkpointed()).
struct Yield {
  PublicKey worker;
  protocol::HeldTask task;
};
// A lease ended without a result that counts (expiry, failure, the worker went):
// trust.withdraw(task, worker).
struct LeaseLost {
  TaskId task;
  PublicKey worker;
  std::uint32_t attempt = 0;
  std::string reason;
};
// The worker holds leases and says nothing: close its connection. It is removed already.
struct WorkerLost {
  PublicKey worker;
  std::string reason;
};
// The canary has passed: store the price with the job.
struct Estimated {
  JobId job;
  Estimate estimate;
};
// A worker's run of the job has shown how long its work takes: to remember for quotes
// (measured_work.h).
struct Measured {
  JobId job;
  PublicKey by;                      // Zeros: the operator's device.
  double seconds_per_workgroup = 0;  // At the reference rate.
  bool alone = false;                // Its word is enough.
};
// The job ends without all its tasks: store it, refund the escrow, trust.remove_job. It is removed
// here already.
struct JobFailed {
  JobId job;
  Error reason;
};
// A further replica of this task was wanted (want_replicas()), and for Settings::starved_after
// every connected worker that could compute it has had its turn: trust.give_up(task).
struct NoWorkerLeft {
  TaskId task;
};
// No trusted worker could run the job's canary: the operator's own device is to measure it
// (Scheduler::canary_measured()). Said once, and again for a job whose canary still waits when the
// last trusted worker has left.
struct CanaryWanted {
  JobId job;
};
using Decision = std::variant<Lease, Cancel, Yield, LeaseLost, WorkerLost, Estimated, Measured,
                              JobFailed, NoWorkerLeft, CanaryWanted>;

}  // namespace weft::scheduler
