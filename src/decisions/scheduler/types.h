// Inputs and decisions of the scheduler, as plain data.
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

// Rules that keep workers whose wallets are free from delaying other workers and jobs. Each rule is
// one field, so that a test can show what happens without it.
struct Safeguards {
  bool newcomers_rank_last = true;   // Newcomers get the tasks that trusted workers leave.
  bool rates_are_shown = true;       // The speed that a worker claims does not count.
  bool trusted_canaries = true;      // Newcomers run no canary.
  bool trusted_blame = true;         // Failures of newcomers alone end no job.
  bool lost_goes_to_trusted = true;  // A task that a newcomer lost goes to a trusted worker next.
  bool prefixes_share = true;        // Newcomers of one address prefix have one share together.
  // Newcomers get no task whose result could not be checked within Settings::sample_wait_max.
  bool samples_in_time = true;
  // The most leases of a job that newcomers may have, as a share of the job's tasks. Applies only
  // if a trusted worker could run the tasks.
  double newcomer_share_max = 0.1;
  // If true, a newcomer's lease counts towards newcomer_share_max until its result is accepted; if
  // the lease is lost or the result is wrong, it counts to the job's end. If false, a lease counts
  // only while it is held.
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
  std::chrono::milliseconds wall_max{30'000};  // The time limit of one task (Lease::wall_ms_max).
  std::chrono::milliseconds grace{
      5'000};  // Time for fetching and sending, beyond wall_max, before a lease expires.
  std::chrono::milliseconds beat{
      // The time between heartbeats. A worker with leases is lost after beats_missed_max missed
      // ones.
      1'000};
  std::uint32_t beats_missed_max = 3;
  std::chrono::milliseconds dispatch_max{100};  // The longest predicted time of one dispatch.
  std::chrono::milliseconds hold_max{
      500};  // A worker gets several tasks if their predicted times add up to less.
  std::chrono::milliseconds retry_same_after{
      500};  // How long a worker that failed a task does not get it again.
  std::chrono::milliseconds retry_forger_after{
      30'000};  // How long a worker with a wrong answer (data_loss) does not get the task again.
  std::chrono::milliseconds retry_unable_after{
      600'000};  // How long a worker that lacks what a task needs does not get it again.
  std::uint32_t failed_workers_max = 3;   // A job ends if a task failed on this number of workers.
  std::uint32_t failed_attempts_max = 6;  // A job ends if a task failed this often.
  std::uint32_t timeouts_max =
      // A job ends if a task ran out of time on this number of workers, or this often on the only
      // one.
      2;
  std::uint32_t browsers_lost_max =
      2;  // A job ends if this number of browsers was lost on its canary or a task.
  std::chrono::milliseconds starved_after{
      10'000};  // How long a further replica waits for a worker before NoWorkerLeft.
  // A job with tasks to give ends if no connected worker has met its requirements for this time,
  // counted from the job's submission or from a restart.
  std::chrono::milliseconds unfit_max = std::chrono::hours(24);
  std::uint32_t expiries_max = 3;  // A worker is lost if this many of its leases expire in a row.
  // The longest time for which a newcomer's result may wait for a check
  // (Safeguards::samples_in_time).
  std::chrono::milliseconds sample_wait_max = std::chrono::minutes(10);
  // A job ends if this number of workers calls its shader or its size wrong; for the canary one
  // worker is enough.
  std::uint32_t refusals_max = 2;
  // The shortest time between two checkpoints of a long task. A task that takes less than twenty
  // times this time makes no checkpoints. With 0, no task makes checkpoints.
  std::chrono::milliseconds checkpoint_min{250};
  // A job whose urgency (score.h) is at least urgent_from does not wait for its canary: up to
  // scouts_max more of its tasks may run beside the canary, each on an idle worker. Their work is
  // wasted if the canary shows that the job costs more than its budget.
  double urgent_from = 0.75;
  std::uint32_t scouts_max = 7;
  // The greatest probability with which a worker may leave before a task's end and still be given
  // the task. The task passes over other workers, and over workers that are too slow for wall_max,
  // while a better worker may become free.
  double leaving_risk_max = 0.25;
  FairShares::Settings fair_shares;
  Speculation speculation;
  Pricing pricing;
  Preemption::Settings preemption;
  Safeguards safeguards;
};

// The level of trust in a worker (trust/levels.h).
enum class Standing : std::uint8_t {
  newcomer,     // A worker without standing; starting one costs nothing.
  established,  // A worker with standing, whose speed accepted work has shown.
  invited,      // A worker of the operator; its speed is its claim, corrected by its results.
};

// The way in which a worker shares its device among the tasks that it holds.
enum class Sharing : std::uint8_t {
  // Tasks run one after another, each with all of the worker's memory. The data of the tasks that
  // wait is fetched ahead.
  in_turn,
  // Tasks run at the same time, in time slices (worker/tasks/slices.h), and divide the memory by
  // their jobs' requirements.
  sliced,
};

struct Worker {
  PublicKey key;
  protocol::WorkerKind kind = protocol::WorkerKind::native;
  std::uint32_t slots = 1;  // The most tasks that the worker holds at a time.
  protocol::Capabilities capabilities;
  Sharing sharing = Sharing::in_turn;
  std::uint64_t slice_memory_bytes = 0;  // If sliced: the least memory that each task takes.
  Standing standing = Standing::invited;
  std::string
      prefix{};  // Newcomers of one prefix have one share of a job together; empty: not limited.
  MicroCredits price_min = 0;  // The least price of a unit that the worker accepts.
  bool local = false;          // True if the worker is on this machine or in a private network.
};

struct Job {
  JobId id;
  manifest::Kind kind = manifest::Kind::wgsl;
  manifest::Requires requirements;
  std::uint32_t priority = 50;
  std::uint32_t tasks = 1;
  std::uint32_t workgroups = 1;  // The value of manifest::axis_length().
  std::uint32_t replicas = 1;
  std::uint32_t replicas_first =
      0;  // Replicas at first, until want_replicas() asks for more; 0: all replicas.
  MicroCredits budget = 0;
  // The price of a unit from the quote (quote.h); 0 takes Pricing::per_unit.
  MicroCredits per_unit = 0;
  MicroCredits price_quoted = 0;  // The value of PriceTerms::quoted.
  MicroCredits price_max = 0;     // The value of PriceTerms::max.
  bool price_capped = false;      // The value of PriceTerms::capped.
  // Paces that earlier canaries of the same work have shown, in reference seconds a workgroup
  // (measured_work.h).
  std::vector<double> paces_known{};
  double paid_share = 1;             // The part of the budget that was not granted.
  MicroCredits stake = 0;            // The client's stake (score.h).
  Duration waited{};                 // Time since the submission, for a job from before a restart.
  std::optional<Instant> deadline;   // The time at which the job ends with deadline_exceeded.
  std::optional<Estimate> estimate;  // Set for a job from before a restart whose canary has passed.
  PublicKey client{};   // The client whose share of the network is charged (fair_share.h).
  double share = 1;     // The weight of the client's share.
  bool anyone = false;  // True if the client lets newcomers run the canary.
  // The number of parts into which a task is cut for checks of newcomers' results. 0: no result of
  // the job waits for a check.
  std::uint32_t sample_parts = 0;
  // True if a worker may continue a task from any worker's state (docs/decisions/0006). False if it
  // can continue only from its own state.
  bool states_shared = false;
};
// A Job with the fields that follow from its manifest.
[[nodiscard]] Job job_from(const JobId& id, const manifest::Manifest& manifest);

// The state of a task when the coordinator stopped. Untouched tasks are not listed.
struct TaskProgress {
  std::uint32_t index = 0;
  bool settled = false;
  std::vector<PublicKey> delivered;   // Workers whose replicas count and are stored.
  std::uint32_t replicas_wanted = 0;  // 0 takes the job's number of replicas.
};

// --- Decisions of the scheduler, which its caller carries out.

// Send these tasks to the worker. The worker runs them in this order.
struct Lease {
  PublicKey worker;
  JobId job;
  std::uint32_t piece_workgroups_max = 0;  // 0: the task is one dispatch.
  std::uint32_t wall_ms_max = 0;
  bool canary = false;
  std::uint32_t checkpoint_ms = 0;  // The value of protocol::Lease::checkpoint_ms.
  std::vector<protocol::LeasedTask> tasks;
};
// Tell the worker to drop these tasks: it no longer holds their leases.
struct Cancel {
  PublicKey worker;
  std::vector<protocol::HeldTask> tasks;
  std::string reason;
};
// Tell the worker to stop this task at its next checkpoint. The worker keeps the lease until then
// (Scheduler::checkpointed()).
struct Yield {
  PublicKey worker;
  protocol::HeldTask task;
};
// A lease ended without a result that counts, because it expired or failed, or the worker left:
// call trust.withdraw(task, worker).
struct LeaseLost {
  TaskId task;
  PublicKey worker;
  std::uint32_t attempt = 0;
  std::string reason;
};
// A worker that holds leases is silent and has been removed: close its connection.
struct WorkerLost {
  PublicKey worker;
  std::string reason;
};
// The canary has passed: store the price with the job.
struct Estimated {
  JobId job;
  Estimate estimate;
};
// A worker's run of the job has shown how long the work takes. Store it for quotes
// (measured_work.h).
struct Measured {
  JobId job;
  PublicKey by;                      // The worker's key; zeros for the operator's device.
  double seconds_per_workgroup = 0;  // The time in reference seconds.
  bool alone = false;                // True if this measurement alone makes a price.
};
// The job ends without all its tasks, and the scheduler has removed it: store the failure, refund
// the escrow, and call trust.remove_job.
struct JobFailed {
  JobId job;
  Error reason;
};
// The task needs a further replica (want_replicas()), but every connected worker that could compute
// it has had its turn, for Settings::starved_after: call trust.give_up(task).
struct NoWorkerLeft {
  TaskId task;
};
// No trusted worker could run the job's canary: let the operator's own device measure it
// (CheckReports::canary_measured()). This is decided once, and again if the canary still waits when
// the last trusted worker has left.
struct CanaryWanted {
  JobId job;
};
using Decision = std::variant<Lease, Cancel, Yield, LeaseLost, WorkerLost, Estimated, Measured,
                              JobFailed, NoWorkerLeft, CanaryWanted>;

}  // namespace weft::scheduler
