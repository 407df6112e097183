// What must survive, as rows. A Batch is what one event (or several) decided; it is committed whole
// or not at all.
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

// Corrected: it was done, and results of it that turned out to be wrong were replaced.
enum class JobState : std::uint8_t {
  running = 0,
  done = 1,
  failed = 2,
  cancelled = 3,
  corrected = 4
};
[[nodiscard]] std::string_view to_string(JobState state);
[[nodiscard]] inline bool is_terminal(JobState state) { return state != JobState::running; }
// Whether it has a root and outputs.
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
  // JSON text as the workers get it: all data as blobs. Empty: its owner deleted its content.
  std::string manifest;
  Hash manifest_hash;  // Hash of that text: the blob's name.
  std::uint32_t tasks = 0;
  MicroCredits budget = 0;
  UnixMillis created = 0;
  // As agreed before it ran (decisions/scheduler/quote.h); 0 in jobs of before schema version 8.
  MicroCredits per_unit = 0;      // What a compute unit costs.
  MicroCredits price_quoted = 0;  // The price in the quote that was given; 0: none.
  MicroCredits price_max = 0;     // 0: the budget alone bounds the price.
  bool price_max_named = true;  // By the client: over it the job ends; else it costs that at most.
  // What changes later (JobUpdate).
  JobState state = JobState::running;
  std::uint32_t accepted = 0;  // Kept by the store from the tasks that are committed.
  MicroCredits price = 0;      // 0 until the canary has passed.
  double units = 0;
  double reference_seconds_per_workgroup = 0;
  std::string reason;               // Where failed or cancelled.
  Hash root;                        // Where done.
  std::vector<OutputBlob> outputs;  // Where done: the joined outputs, in manifest order.
  UnixMillis ended = 0;
  friend bool operator==(const Job&, const Job&) = default;
};

// Sets what is given.
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

// On whose word a result was accepted (docs/trust.md).
enum class Basis : std::uint8_t {
  unknown = 0,      // Accepted before this was stored.
  mathematics = 1,  // The coordinator checked a matrix product.
  verifier = 2,     // The coordinator's verifier computed parts of it again.
  root = 3,         // A worker that was invited as a verifier computed it, or parts of it.
  invited = 4,      // The same of an invited worker.
  established = 5,  // The same of established workers.
  agreement = 6,    // Workers agree, and the client asked for no more.
  corrected = 7     // It was wrong; the coordinator's verifier computed it.
};
inline constexpr std::size_t bases = 8;
using BasisCounts = std::array<std::uint32_t, bases>;  // Tasks, by basis.

// An accepted task. Tasks without a row are open.
struct Task {
  TaskId id;
  Hash root;
  std::vector<OutputBlob> outputs;
  PublicKey worker;  // Whose bytes they are; zeros: the coordinator's, where it was corrected.
  std::vector<PublicKey> agreeing;  // The workers that were paid.
  UnixMillis accepted = 0;
  Basis basis = Basis::unknown;
  friend bool operator==(const Task&, const Task&) = default;
};

// A replica that counts (its receipt is valid). One worker has one for each task.
struct Replica {
  TaskId task;
  PublicKey worker;
  std::uint32_t attempt = 0;
  Hash root;
  std::vector<OutputBlob> outputs;
  Hash receipt;  // The receipt's digest.
  double gpu_seconds = 0;
  double wall_seconds = 0;
  UnixMillis arrived = 0;
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
  // The blob with the claims whose root is signed. Zeros: a receipt of the first format, whose
  // statement has them.
  Hash claims{};
  friend bool operator==(const Receipt&, const Receipt&) = default;
};

// Two receipts of one device that contradict each other: it has signed two results of one task and
// attempt. With all that shows it, whatever becomes of the task, its blobs and its other receipts.
struct Evidence {
  struct Signed {
    Hash root;             // The result.
    ByteVector statement;  // proof::receipt_statement(), and what its root covers.
    ByteVector claims;
    Signature signature;
    friend bool operator==(const Signed&, const Signed&) = default;
  };
  PublicKey worker;
  PublicKey owner;  // When it came.
  TaskId task;
  std::uint32_t attempt = 0;
  UnixMillis time = 0;
  Signed first, second;
  friend bool operator==(const Evidence&, const Evidence&) = default;
};
// What is kept: the first of a worker (one is enough for all of a stake), and the latest of all.
inline constexpr std::size_t evidence_of_worker_max = 4;
inline constexpr std::size_t evidence_max = 65536;

struct Transaction {
  ledger::Transaction transaction;
  UnixMillis time = 0;
  friend bool operator==(const Transaction&, const Transaction&) = default;
};

using SubmitNonce = std::array<std::uint8_t, 16>;
// A client's submission that was taken: the same nonce gives the same job again.
struct Nonce {
  PublicKey client;
  SubmitNonce nonce{};
  JobId job;
  friend bool operator==(const Nonce&, const Nonce&) = default;
};

// 32 random bytes by name, made at the first start and kept.
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

// How far a worker is believed (decisions/trust/reputation.h).
struct Standing {
  PublicKey worker;
  double verified = 0;  // Evidence at `updated`.
  UnixMillis updated = 0;
  std::uint32_t wrong = 0;         // Suspensions ever.
  UnixMillis suspended_until = 0;  // 0: never suspended.
  friend bool operator==(const Standing&, const Standing&) = default;
};

// What a client has given of a worker's standing (decisions/trust/evidence.h). Each worker has one
// for each client. Stored with the worker's standing, so that both are of the same moment.
struct ClientShare {
  PublicKey worker;
  PublicKey client;   // Its owner.
  double weight = 0;  // Evidence at `at`.
  UnixMillis at = 0;
  friend bool operator==(const ClientShare&, const ClientShare&) = default;
};

// What a worker got wrong in jobs of one client, which convicts it with a mismatch in another one's
// (decisions/trust/evidence.h). A worker has one for each client.
struct Mismatch {
  PublicKey worker;
  PublicKey client;  // Its owner.
  TaskId task;       // The latest.
  UnixMillis at = 0;
  MicroCredits penalty = 0;
  friend bool operator==(const Mismatch&, const Mismatch&) = default;
};

// How a worker's samples fare: how many of its next results are checked whole, since a root found
// some of it wrong, and how many leases a newcomer has earned (decisions/trust/standing.h).
struct Watch {
  PublicKey worker;
  std::uint32_t checks = 0;    // To come.
  std::uint32_t mistakes = 0;  // That a root found.
  std::uint32_t passes = 0;    // In a row, as far as they count.
  friend bool operator==(const Watch&, const Watch&) = default;
};

// Whose fault the wrong results of a running job are, as far as is known, in the bytes of
// decisions/trust/job_faults.h. A job has one at most.
struct Faults {
  JobId job;
  ByteVector state;
  friend bool operator==(const Faults&, const Faults&) = default;
};

// What one worker's run of some work has shown, for quotes (decisions/scheduler/measured_work.h).
// A worker has one for each work.
struct Pace {
  Hash work;           // Program, data and dispatch.
  PublicKey worker;    // Zeros: the operator's device.
  double seconds = 0;  // Reference seconds a workgroup.
  bool alone = false;  // Its word is enough.
  UnixMillis time = 0;
  friend bool operator==(const Pace&, const Pace&) = default;
};

// How busy an hour of the week usually is (decisions/scheduler/seasons.h).
struct Season {
  std::uint32_t hour = 0;  // 0 to 167, from Thursday on, UTC.
  double busy = 0;
  friend bool operator==(const Season&, const Season&) = default;
};

// When a worker was here, by the hour of day (decisions/scheduler/presence.h).
struct Presence {
  struct Hour {
    float present_seconds = 0;
    float departures = 0;
    std::int32_t day = 0;  // In which it was last seen in that hour, in days since 1970.
    friend bool operator==(const Hour&, const Hour&) = default;
  };
  PublicKey worker;
  std::array<Hour, 24> hours{};
  friend bool operator==(const Presence&, const Presence&) = default;
};

// A client's weight (decisions/scheduler/fair_share.h), as the operator set it at run time.
struct ClientWeight {
  PublicKey client;
  double weight = 1;
  UnixMillis at = 0;  // By the operator's clock.
  friend bool operator==(const ClientWeight&, const ClientWeight&) = default;
};

// The state of an open task that one worker saved; each worker has one for each task.
struct Checkpoint {
  TaskId task;
  PublicKey worker;
  Hash blob{};
  std::uint64_t bytes = 0;
  std::uint32_t done = 0;  // Parts of the task,
  std::uint32_t of = 1;    // of so many.
  friend bool operator==(const Checkpoint&, const Checkpoint&) = default;
};

// Pay of a new worker for a task that is not free yet.
struct HeldPay {
  TaskId task;
  PublicKey worker;
  OwnerId owner;  // The worker's.
  MicroCredits free = 0;
  MicroCredits granted = 0;
  bool lost = false;  // By a conviction: to the client if the task turns out to be wrong.
  friend bool operator==(const HeldPay&, const HeldPay&) = default;
};

// A convicted worker whose paid tasks of the day before its conviction are computed again, as far
// as that has come. Each worker has one at most.
struct Recheck {
  PublicKey worker;
  UnixMillis convicted = 0;
  std::optional<TaskId> last;  // The latest that was looked up, in the order of paid_tasks().
  std::uint32_t tasks = 0;     // Looked up so far.
  MicroCredits taken = 0;      // By the conviction, and not given to a client yet.
  friend bool operator==(const Recheck&, const Recheck&) = default;
};

// A paid task of a convicted worker that was wrong and is replaced, or that could not be computed
// again. Each task has one at most.
struct Correction {
  TaskId task;
  PublicKey worker;  // That was convicted.
  PublicKey client;
  UnixMillis time = 0;
  bool replaced = false;      // Otherwise it could not be computed again: `reason`.
  Hash was;                   // The root of the result that was wrong.
  MicroCredits due = 0;       // What the client had paid for it,
  MicroCredits refunded = 0;  // and got back, out of what the conviction took.
  bool joined = false;        // The job's root and outputs are right, or cannot be.
  bool settled = false;       // And nothing more is refunded.
  std::string reason;
  friend bool operator==(const Correction&, const Correction&) = default;
};

// Part of a result that was computed again: the evidence of a verdict.
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
  PublicKey worker;  // Whose result it was,
  Hash root;         // which had this root.
  PublicKey by;      // The worker that computed it again; zeros: the coordinator's verifier.
  Kind kind = Kind::sample;
  Outcome outcome = Outcome::agrees;
  std::vector<Range> ranges;   // What was to be computed again.
  std::optional<Range> wrong;  // The first of them that differed, where that is known.
  std::string reason;          // Why it failed, or what a root's mismatch rests on.
  friend bool operator==(const Check&, const Check&) = default;
};

// A row that is put, in place of the one with its key, or removed. Removing counts the key alone;
// removing a row that is not there is nothing.
enum class Change : std::uint8_t { put, remove };
template <class Row>
struct Changed {
  Row row;
  Change change = Change::put;
};

// In the order of the fields, so that a job stands before its tasks; within a field in its order.
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
  std::vector<Watch> watches;  // Put in place of the worker's.
  std::vector<Changed<Faults>> faults;
  std::vector<ClientWeight> client_weights;
  std::vector<ApiKey> api_keys;
  std::vector<Device> devices;  // Put in place of the one with the same key.
  std::vector<Changed<Checkpoint>> checkpoints;
  std::vector<Changed<Presence>> presences;
  std::vector<Changed<Model>> models;
  std::vector<Changed<Pace>> paces;
  std::vector<Season> seasons;                // Put in place of the hour's.
  std::vector<Changed<HeldPay>> held_pays;    // A worker has one for each task.
  std::vector<std::string> api_keys_removed;  // By id.
  std::vector<Task> corrected_tasks;          // In place of accepted ones; `agreeing` stays.
  std::vector<Changed<Recheck>> rechecks;
  std::vector<Correction> corrections;  // Put in place of the task's.
  std::vector<Check> checks;
  std::vector<Evidence> evidence;             // One for an attempt, within the bounds above.
  std::vector<UnixMillis> checks_kept_since;  // Some that are older are forgotten.
  // Clients whose ended jobs lose what tells of their content: name, manifest, reason and outputs.
  // What was moved and proven stays. Their nonces and each job's other rows are not changed. After
  // everything else of the batches that are committed together.
  std::vector<PublicKey> clients_forgotten;

  [[nodiscard]] bool empty() const;
  // Appends all of `other`.
  void merge(Batch&& other);
};

// What a coordinator needs to go on. Ended jobs are left out: they are read one by one
// (Store::job(), Store::tasks()).
struct Loaded {
  std::vector<Secret> secrets;
  std::vector<Job> jobs;    // Running ones, in the order in which they were committed.
  std::vector<Task> tasks;  // Accepted tasks of running jobs, ordered by job as above, then index.
  // Counted replicas of the running jobs' open tasks, ordered by job and index as above, then by
  // arrival.
  std::vector<Replica> replicas;
  std::vector<ledger::Entry> balances;
  std::vector<ledger::AppliedKey> keys;  // Transactions of running jobs, and those without a job.
  std::vector<Reputation> reputations;
  std::vector<Standing> standings;
  std::vector<ClientShare> client_shares;  // By worker and client.
  std::vector<Mismatch> mismatches;        // The same.
  std::vector<Watch> watches;              // By worker.
  std::vector<Faults> faults;              // By job.
  std::vector<ClientWeight> client_weights;
  std::vector<ApiKey> api_keys;         // By id.
  std::vector<Checkpoint> checkpoints;  // For running jobs and ended ones.
  std::vector<Presence> presences;
  std::vector<Device> devices;          // In the order of their first commits.
  std::vector<Model> models;            // By name.
  std::vector<Pace> paces;              // By time, work and worker.
  std::vector<Season> seasons;          // By hour.
  std::vector<HeldPay> held_pays;       // By job as it was committed, task and worker,
  std::vector<Task> held_tasks;         // their tasks
  std::vector<Job> held_jobs;           // and jobs, running or ended, each once.
  std::vector<Recheck> rechecks;        // By worker.
  std::vector<Correction> corrections;  // Those that are not settled, by job and task.
};

}  // namespace weft::store
