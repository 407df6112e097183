// The data that must survive a restart, as rows. A Batch holds the changes that one event (or
// several) decided; it is committed as a whole or not at all.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "common/base/ids.h"
#include "common/records/api_key.h"
#include "common/records/device.h"
#include "common/records/model.h"
#include "common/records/transaction.h"

namespace weft::store {

// The state of a job. corrected: the job was done, and results that turned out to be wrong were
// replaced.
enum class JobState : std::uint8_t {
  running = 0,
  done = 1,
  failed = 2,
  cancelled = 3,
  corrected = 4
};
[[nodiscard]] std::string_view to_string(JobState state);
[[nodiscard]] inline bool is_terminal(JobState state) { return state != JobState::running; }
// True if a job in this state has a root and outputs.
[[nodiscard]] inline bool has_results(JobState state) {
  return state == JobState::done || state == JobState::corrected;
}

struct OutputBlob {
  Hash hash;
  std::uint64_t bytes = 0;
  friend bool operator==(const OutputBlob&, const OutputBlob&) = default;
};

struct Job {
  JobId id;
  PublicKey client;
  std::string name;
  // JSON text as the workers get it: all data as blobs. Empty if the owner deleted the job's
  // content.
  std::string manifest;
  Hash manifest_hash;  // SHA-256 of the manifest's text, which is the blob's name.
  std::uint32_t tasks = 0;
  MicroCredits budget = 0;
  UnixMillis created = 0;
  // Terms agreed before the job ran (decisions/scheduler/quote.h); 0 in jobs from before schema
  // version 8.
  MicroCredits per_unit = 0;      // The price of a compute unit.
  MicroCredits price_quoted = 0;  // The price in the quote that was given; 0: none.
  MicroCredits price_max = 0;     // 0: only the budget bounds the price.
  // True: the client named price_max, and a higher price ends the job. False: the job costs at most
  // price_max.
  bool price_max_named = true;
  // The fields from here on change later (JobUpdate).
  JobState state = JobState::running;
  std::uint32_t accepted = 0;  // Accepted tasks; the store counts them as they are committed.
  MicroCredits price = 0;      // 0 until the canary has passed.
  double units = 0;
  double reference_seconds_per_workgroup = 0;
  std::string reason;  // Set if the job failed or was cancelled.
  Hash root;           // Set if the job is done.
  // The joined outputs in the manifest's order, if the job is done.
  std::vector<OutputBlob> outputs;
  UnixMillis ended = 0;
  friend bool operator==(const Job&, const Job&) = default;
};

// An update of a job: sets the fields that have a value.
struct JobUpdate {
  struct Price {
    MicroCredits price = 0;
    double units = 0;
    double reference_seconds_per_workgroup = 0;
  };
  struct End {
    JobState state = JobState::done;
    std::string reason;
    Hash root;
    std::vector<OutputBlob> outputs;
    UnixMillis ended = 0;
  };
  JobId id;
  std::optional<Price> price;
  std::optional<End> end;
};

// The basis on which a result was accepted (docs/trust.md).
enum class Basis : std::uint8_t {
  unknown = 0,      // Accepted before the basis was stored.
  mathematics = 1,  // The coordinator checked a matrix product.
  verifier = 2,     // The coordinator's verifier computed parts of the result again.
  root = 3,         // A worker that was invited as a verifier computed the result, or parts of it.
  invited = 4,      // An invited worker computed the result, or parts of it.
  established = 5,  // Established workers computed the result, or parts of it.
  agreement = 6,    // Workers agree on the result, and the client required no more.
  corrected = 7     // The result was wrong; the coordinator's verifier computed it again.
};
inline constexpr std::size_t bases = 8;
using BasisCounts = std::array<std::uint32_t, bases>;  // The number of tasks by basis.

// An accepted task. Tasks without a row are open.
struct Task {
  TaskId id;
  Hash root;
  std::vector<OutputBlob> outputs;
  // The worker that made the bytes; zeros: the coordinator, which corrected them.
  PublicKey worker;
  std::vector<PublicKey> agreeing;  // The workers that were paid.
  UnixMillis accepted = 0;
  Basis basis = Basis::unknown;
  friend bool operator==(const Task&, const Task&) = default;
};

// A replica that counts (its receipt is valid). A worker has at most one for each task.
struct Replica {
  TaskId task;
  PublicKey worker;
  std::uint32_t attempt = 0;
  Hash root;
  std::vector<OutputBlob> outputs;
  Hash receipt;  // The digest of the receipt.
  double gpu_seconds = 0;
  double wall_seconds = 0;
  UnixMillis arrived = 0;
  // The roots of the task's states after each group of steps but the last, to which the worker is
  // committed; empty: the worker gave none, or its lease did not ask for them.
  std::vector<Hash> steps = {};
  friend bool operator==(const Replica&, const Replica&) = default;
};

// A signed receipt, kept for audits and disputes. It is committed before the replicas that name it,
// or with them. While the store stays open, a second commit of the same digest changes nothing.
struct Receipt {
  Hash digest;
  PublicKey worker;
  Hash session_nonce;
  Signature signature;
  UnixMillis arrived = 0;
  // The blob of the claims whose root is signed. Zeros for a receipt of the first format, whose
  // statement contains the claims.
  Hash claims{};
  friend bool operator==(const Receipt&, const Receipt&) = default;
};

// Two receipts of one device that contradict each other: the device has signed two results of one
// task and attempt. The row contains everything that proves this, whatever happens to the task, its
// blobs and its other receipts.
struct Evidence {
  struct Signed {
    Hash root;             // The root of the result.
    ByteVector statement;  // proof::receipt_statement(), and the claims under its root.
    ByteVector claims;
    Signature signature;
    friend bool operator==(const Signed&, const Signed&) = default;
  };
  PublicKey worker;
  PublicKey owner;  // The worker's owner when the evidence came.
  TaskId task;
  std::uint32_t attempt = 0;
  UnixMillis time = 0;
  Signed first, second;
  friend bool operator==(const Evidence&, const Evidence&) = default;
};
// The most rows of evidence that are kept: the first rows of each worker (one is enough to take a
// whole stake), and the latest rows of all workers.
inline constexpr std::size_t evidence_of_worker_max = 4;
inline constexpr std::size_t evidence_max = 65536;

struct Transaction {
  ledger::Transaction transaction;
  UnixMillis time = 0;
  friend bool operator==(const Transaction&, const Transaction&) = default;
};

using SubmitNonce = std::array<std::uint8_t, 16>;
// An accepted submission of a client: the same nonce returns the same job again.
struct Nonce {
  PublicKey client;
  SubmitNonce nonce{};
  JobId job;
  friend bool operator==(const Nonce&, const Nonce&) = default;
};

// 32 random bytes with a name, made at the first start and kept.
struct Secret {
  std::string name;
  FixedBytes<32> value;
  friend bool operator==(const Secret&, const Secret&) = default;
};

struct Reputation {
  PublicKey worker;
  std::uint64_t accepted = 0;
  std::uint64_t refused = 0;
  friend bool operator==(const Reputation&, const Reputation&) = default;
};

// The evidence by which a worker is believed (decisions/trust/reputation.h).
struct Standing {
  PublicKey worker;
  double verified = 0;  // Evidence as of `updated`.
  UnixMillis updated = 0;
  std::uint32_t wrong = 0;         // The number of all suspensions.
  UnixMillis suspended_until = 0;  // 0: never suspended.
  friend bool operator==(const Standing&, const Standing&) = default;
};

// The part of a worker's standing that comes from one client (decisions/trust/evidence.h). A worker
// has at most one row for each client. It is stored together with the worker's standing, so that
// both are of the same time.
struct ClientShare {
  PublicKey worker;
  PublicKey client;   // The client's owner.
  double weight = 0;  // Evidence as of `at`.
  UnixMillis at = 0;
  friend bool operator==(const ClientShare&, const ClientShare&) = default;
};

// A wrong result of a worker in jobs of one client. Together with a mismatch in another client's
// jobs it convicts the worker (decisions/trust/evidence.h). A worker has at most one row for each
// client.
struct Mismatch {
  PublicKey worker;
  PublicKey client;  // The client's owner.
  TaskId task;       // The task of the latest wrong result.
  UnixMillis at = 0;
  MicroCredits penalty = 0;
  friend bool operator==(const Mismatch&, const Mismatch&) = default;
};

// The evidence that a worker's answers come from smaller weights than those of a model's file
// (decisions/billing/weight_sums.h). A worker has at most one row for each file and kind of answer.
struct WeightSum {
  PublicKey worker;
  Hash file;            // SHA-256 of the model's file.
  bool shared = false;  // True: answers of chains of several workers; false: answers given alone.
  double sum = 0;
  friend bool operator==(const WeightSum&, const WeightSum&) = default;
};

// The record of a worker's samples: the number of its next results that are checked in full,
// because a root found an error, and the leases that a newcomer has earned
// (decisions/trust/standing.h).
struct Watch {
  PublicKey worker;
  std::uint32_t checks = 0;    // Full checks that are still to come.
  std::uint32_t mistakes = 0;  // Mistakes that a root found.
  std::uint32_t passes = 0;    // Passed samples in a row, up to the most leases of a newcomer.
  friend bool operator==(const Watch&, const Watch&) = default;
};

// The known causes of wrong results of a running job, in the bytes of decisions/trust/job_faults.h.
// A job has at most one row.
struct Faults {
  JobId job;
  ByteVector state;
  friend bool operator==(const Faults&, const Faults&) = default;
};

// The pace of one worker's run of some work, for quotes (decisions/scheduler/measured_work.h). A
// worker has at most one row for each work.
struct Pace {
  Hash work;           // Hash of program, data and dispatch.
  PublicKey worker;    // Zeros for the operator's device.
  double seconds = 0;  // Reference seconds a workgroup.
  bool alone = false;  // True if this measurement alone makes a price.
  UnixMillis time = 0;
  friend bool operator==(const Pace&, const Pace&) = default;
};

// The usual load of one hour of the week (decisions/scheduler/seasons.h).
struct Season {
  std::uint32_t hour = 0;  // From 0 to 167, beginning on Thursday, in UTC.
  double busy = 0;
  friend bool operator==(const Season&, const Season&) = default;
};

// The presence of a worker by the hour of day (decisions/scheduler/presence.h).
struct Presence {
  struct Hour {
    float present_seconds = 0;
    float departures = 0;
    std::int32_t day = 0;  // The last day with a presence in that hour, in days since 1970.
    friend bool operator==(const Hour&, const Hour&) = default;
  };
  PublicKey worker;
  std::array<Hour, 24> hours{};
  friend bool operator==(const Presence&, const Presence&) = default;
};

// A client's weight (decisions/scheduler/fair_share.h) that the operator set at run time.
struct ClientWeight {
  PublicKey client;
  double weight = 1;
  UnixMillis at = 0;  // Time at which the operator set the weight, by the operator's clock.
  friend bool operator==(const ClientWeight&, const ClientWeight&) = default;
};

// A checkpoint of an open task by one worker. Each worker has at most one for each task.
struct Checkpoint {
  TaskId task;
  PublicKey worker;
  Hash blob{};
  std::uint64_t bytes = 0;
  std::uint32_t done = 0;  // Parts of the task that are done.
  std::uint32_t of = 1;    // The number of all parts of the task.
  friend bool operator==(const Checkpoint&, const Checkpoint&) = default;
};

// Held pay of a new worker for a task.
struct HeldPay {
  TaskId task;
  PublicKey worker;
  OwnerId owner;  // The worker's owner.
  MicroCredits free = 0;
  MicroCredits granted = 0;
  // True if the pay was lost by a conviction: the pay goes to the client if the task turns out to
  // be wrong.
  bool lost = false;
  friend bool operator==(const HeldPay&, const HeldPay&) = default;
};

// The progress of computing a convicted worker's paid tasks again, those of the day before its
// conviction. Each worker has at most one row.
struct Recheck {
  PublicKey worker;
  UnixMillis convicted = 0;
  std::optional<TaskId> last;  // The task that was looked up last, in the order of paid_tasks().
  std::uint32_t tasks = 0;     // The number of tasks looked up so far.
  MicroCredits taken = 0;      // Taken by the conviction and not given to a client yet.
  friend bool operator==(const Recheck&, const Recheck&) = default;
};

// The correction of a paid task of a convicted worker: its result was wrong and is replaced, or it
// could not be computed again. Each task has at most one row.
struct Correction {
  TaskId task;
  PublicKey worker;  // The convicted worker.
  PublicKey client;
  UnixMillis time = 0;
  bool replaced = false;      // If false, the result could not be computed again for `reason`.
  Hash was;                   // The root of the wrong result.
  MicroCredits due = 0;       // The amount that the client had paid for the task.
  MicroCredits refunded = 0;  // The client's refund, out of what the conviction took.
  bool joined = false;        // True if the job's root and outputs are corrected, or cannot be.
  bool settled = false;       // True if no more is refunded for the correction.
  std::string reason;
  friend bool operator==(const Correction&, const Correction&) = default;
};

// A check, in which part of a result was computed again: the evidence of a verdict.
struct Check {
  enum class Kind : std::uint8_t { sample = 0, dispute = 1, audit = 2, recheck = 3 };
  enum class Outcome : std::uint8_t { agrees = 0, differs = 1, failed = 2 };
  struct Range {  // Workgroups along the axis in which the job is cut.
    std::uint32_t first = 0;
    std::uint32_t count = 0;
    friend bool operator==(const Range&, const Range&) = default;
  };
  TaskId task;
  UnixMillis time = 0;
  PublicKey worker;  // The worker that gave the checked result.
  Hash root;         // The root of the checked result.
  PublicKey by;      // The worker that computed again; zeros: the coordinator's verifier.
  Kind kind = Kind::sample;
  Outcome outcome = Outcome::agrees;
  std::vector<Range> ranges;   // The ranges to compute again.
  std::optional<Range> wrong;  // The first range that differed, if it is known.
  std::string reason;          // Why the check failed, or the basis of a root's mismatch.
  friend bool operator==(const Check&, const Check&) = default;
};

// A change of a row: it is put, replacing the row with its key, or removed. Removing looks at the
// key alone; removing a missing row does nothing.
enum class Change : std::uint8_t { put, remove };
template <class Row>
struct Changed {
  Row row;
  Change change = Change::put;
};

// The changes are applied in the order of the fields, so that a job comes before its tasks; within
// a field in its order.
struct Batch {
  std::vector<Secret> secrets;
  std::vector<Job> jobs;
  std::vector<Nonce> nonces;
  std::vector<Receipt> receipts;
  std::vector<Replica> replicas;
  std::vector<Task> tasks;
  std::vector<JobUpdate> job_updates;
  std::vector<Transaction> transactions;
  std::vector<Reputation> reputations;
  std::vector<Standing> standings;
  std::vector<Changed<ClientShare>> client_shares;
  std::vector<Changed<Mismatch>> mismatches;
  std::vector<Changed<WeightSum>> weight_sums;
  std::vector<Watch> watches;  // Replaces the worker's row.
  std::vector<Changed<Faults>> faults;
  std::vector<ClientWeight> client_weights;
  std::vector<ApiKey> api_keys;
  std::vector<Device> devices;  // Replaces the row with the same key.
  std::vector<Changed<Checkpoint>> checkpoints;
  std::vector<Changed<Presence>> presences;
  std::vector<Changed<Model>> models;
  std::vector<Changed<Pace>> paces;
  std::vector<Season> seasons;                // Replaces the hour's row.
  std::vector<Changed<HeldPay>> held_pays;    // One row at most for each worker and task.
  std::vector<std::string> api_keys_removed;  // Ids of removed keys.
  std::vector<Task> corrected_tasks;          // Replace accepted tasks, but keep their `agreeing`.
  std::vector<Changed<Recheck>> rechecks;
  std::vector<Correction> corrections;  // Replaces the task's row.
  std::vector<Check> checks;
  // One row for each attempt, up to evidence_of_worker_max and evidence_max.
  std::vector<Evidence> evidence;
  std::vector<UnixMillis> checks_kept_since;  // Deletes some of the older checks.
  // Clients whose ended jobs lose their content: name, manifest, reason and outputs. Transactions
  // and proofs stay. Their nonces and each job's other rows are not changed. This is applied after
  // everything else in the batches that are committed together.
  std::vector<PublicKey> clients_forgotten;

  [[nodiscard]] bool empty() const;
  // Appends all of `other`.
  void merge(Batch&& other);
};

// The data that a coordinator needs to continue after a restart. Ended jobs are left out: they are
// read one by one (Store::job(), Store::tasks()).
struct Loaded {
  std::vector<Secret> secrets;
  std::vector<Job> jobs;  // Running jobs, in the order of their commits.
  // Accepted tasks of running jobs, in the order of `jobs`, then by index.
  std::vector<Task> tasks;
  // Counted replicas of the running jobs' open tasks, in the order of `jobs`, then by index and by
  // arrival.
  std::vector<Replica> replicas;
  std::vector<ledger::Entry> balances;
  // The keys of transactions that belong to a running job or to no job.
  std::vector<ledger::AppliedKey> keys;
  std::vector<Reputation> reputations;
  std::vector<Standing> standings;
  std::vector<ClientShare> client_shares;  // Ordered by worker and client.
  std::vector<Mismatch> mismatches;        // Ordered by worker and client.
  std::vector<WeightSum> weight_sums;      // Ordered by worker, file and `shared`.
  std::vector<Watch> watches;              // Ordered by worker.
  std::vector<Faults> faults;              // Ordered by job.
  std::vector<ClientWeight> client_weights;
  std::vector<ApiKey> api_keys;         // Ordered by id.
  std::vector<Checkpoint> checkpoints;  // Checkpoints of running and ended jobs.
  std::vector<Presence> presences;
  std::vector<Device> devices;          // Devices in the order of their first commits.
  std::vector<Model> models;            // Ordered by name.
  std::vector<Pace> paces;              // Ordered by time, work and worker.
  std::vector<Season> seasons;          // Ordered by hour.
  std::vector<HeldPay> held_pays;       // Ordered by the commit of the job, by task and worker.
  std::vector<Task> held_tasks;         // The tasks of held_pays.
  std::vector<Job> held_jobs;           // The jobs of held_pays, running or ended, each once.
  std::vector<Recheck> rechecks;        // Ordered by worker.
  std::vector<Correction> corrections;  // Corrections that are not settled, by job and task.
};

}  // namespace weft::store
