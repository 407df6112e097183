// The answers of the coordinator's HTTP interface, as structs. The coordinator writes them; `weft
// submit`, the demo and the page read them (the page through types generated from api_schema()).
// Amounts are micro-credits, times milliseconds since 1970, keys base58, hashes and job ids hex.
// docs/http.md names the routes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/ids.h"
#include "common/base/result.h"

namespace weft::protocol::api {

// The answer to GET /v1/info.
struct Info {
  std::string software;  // "weft/0.1.0"
  std::uint32_t protocol = 1;
  std::string coordinator;  // The coordinator's public key.
  bool tls = false;
  MicroCredits grant = 0;  // The credits that a new client is granted.
  std::uint64_t blob_bytes_max = 0;
};

// A coordinator's new key, signed with the old one (protocol::rotation_digest).
struct KeyRotation {
  std::string before;
  std::string after;
  std::string signature;
};

// GET /v1/identity/NONCE: the proof that the coordinator holds its key (protocol::identity_digest),
// and every key that it had before, oldest first.
struct Identity {
  std::string coordinator;
  std::string signature;
  std::vector<KeyRotation> rotations;
};

// The answer (202) to POST /v1/jobs.
struct Submitted {
  std::string id;
  std::string state;  // The job's state (Job::state).
  std::uint32_t tasks = 0;
  MicroCredits escrow = 0;
  std::string link;                  // Lets any reader see the job: ?link=LINK at its routes.
  std::vector<std::string> notes{};  // Sentences on how the results will be checked.
  MicroCredits per_unit = 0;         // The price of a compute unit of the job.
  MicroCredits price_quoted = 0;     // The price in the quote that was given; 0: none.
  MicroCredits max_price = 0;        // The most that the job costs.
};

// POST /v1/jobs/quote: the price that a job would have, signed (price_offer.h). See
// docs/pricing.md.
struct Quote {
  std::string id{};     // 16 random bytes in hex.
  std::string quote{};  // The text for POST /v1/jobs?quote=.
  std::string coordinator{};
  std::string client{};    // The client that the quote is for.
  std::string manifest{};  // The hash of the stored manifest.
  MicroCredits base = 0;   // per_unit = base * (1 + demand) * (1 + capability) * season
  double demand = 0;
  double capability = 0;
  double season = 1;
  MicroCredits per_unit = 0;
  // units, price and price_per_task are 0 if this work was not measured before. The job then costs
  // per_unit for the units that its canary shows.
  double units = 0;
  MicroCredits price = 0;
  MicroCredits price_per_task = 0;
  std::uint32_t tasks = 0;
  std::uint32_t replicas = 1;
  MicroCredits max_price = 0;  // 1.5 times the price: the bound if no quote is shown.
  MicroCredits budget = 0;
  std::int64_t made = 0;
  std::int64_t valid_until = 0;
  std::string signature{};
};

struct JobOutput {
  std::string name;  // "output0"
  std::string hash;  // Hash of the joined bytes: GET /v1/jobs/{id}/outputs/{i}.
  std::uint64_t bytes = 0;
  std::string type;  // "u32"
  std::vector<std::uint64_t> shape;
};

// One requirement of a job, with the number of workers that do not meet it.
struct JobLack {
  std::string what;           // "the feature shader-f16"
  std::uint32_t workers = 0;  // The number of workers that lack it.
};
struct JobWaiting {
  std::string reason;      // A word (docs/http.md); empty: no task waits.
  std::string detail;      // The reason in a sentence or two.
  std::uint32_t task = 0;  // The task that waits for this reason.
  std::uint32_t able = 0;  // Connected workers that meet the job's requirements.
  // The place, from 1 on, among the jobs with equal requirements if all workers that meet them are
  // busy; 0: unknown.
  std::uint32_t position = 0;
  // The expected time until something changes; if every worker is too slow, the time that the task
  // would take. 0: unknown.
  double seconds = 0;
  std::vector<JobLack> lacks;  // Set if no worker meets all of the job's requirements.
};

// A correction of an accepted result of a convicted worker: the result was wrong and is replaced,
// or it could not be computed again.
struct Correction {
  std::uint32_t task = 0;
  std::string worker;
  std::int64_t time = 0;
  bool replaced = false;  // If false, `reason` says why the result could not be computed again.
  std::string was;        // The root of the result that was paid.
  MicroCredits refunded = 0;
  std::string reason;
};

// GET /v1/jobs/{id}: one job. GET /v1/jobs answers { "jobs": [...] }, newest first. Jobs of other
// clients are shown without name, client, reason, amounts, root and outputs.
struct Job {
  std::string id;
  std::string name;
  std::string kind;  // "wgsl", "kernel", "onnx"
  std::string client;
  std::string state;   // "running", "done", "failed", "cancelled", "corrected"
  std::string reason;  // Set if the job failed or was cancelled.
  std::uint32_t tasks = 0;
  std::uint32_t accepted = 0;
  std::uint32_t leased = 0;  // Present leases; each replica counts.
  std::uint32_t replicas = 1;
  MicroCredits budget = 0;
  MicroCredits price = 0;          // 0 until the canary has passed.
  MicroCredits per_unit = 0;       // The price of a compute unit.
  MicroCredits price_quoted = 0;   // The price in the quote that was given; 0: none.
  MicroCredits max_price = 0;      // The most that the job costs; 0: its budget.
  std::string root;                // Set if the job is done or corrected.
  std::vector<JobOutput> outputs;  // Set if the job is done or corrected.
  std::int64_t created = 0;
  std::int64_t ended = 0;
  JobWaiting waiting;           // The fields from here on are set only in the answer for one job.
  std::string link;             // Lets any reader see the job, as ?link=LINK.
  std::string decided;          // For an ended job: the basis on which its results were accepted.
  std::uint32_t corrected = 0;  // The number of wrong results that are replaced.
  std::uint32_t unchecked = 0;  // Results of convicted workers that could not be computed again.
  MicroCredits refunded = 0;    // Refunds for the wrong results.
  std::vector<Correction> corrections;  // The first replaced or unchecked results.
};
struct Jobs {
  std::vector<Job> jobs;
};

// A client with running jobs or with a weight of its own. GET /v1/clients lists them all; POST
// /v1/clients/KEY answers with one.
struct Client {
  std::string client;
  double weight = 1;
  // Time at which the operator set the weight; 0: it was set when the coordinator started.
  std::int64_t set = 0;
  std::uint32_t jobs = 0;   // The number of the client's running jobs.
  double used_seconds = 0;  // Work at the reference rate; decays by half every hour.
  double lead_seconds =
      0;  // The delay of the client's jobs in the queue, because it had more than its share.
};
struct Clients {
  std::vector<Client> clients;
  std::string next = {};  // Place of the next page (Workers::next).
};

// GET /v1/tasks?job=ID[&from=INDEX&count=N] answers { "tasks": [...] }, ordered by index.
struct TaskReplica {
  std::string worker;
  std::string root;
  bool agreed = false;  // True if the worker was paid for this task.
};
struct Task {
  std::uint32_t index = 0;
  std::string state;  // "waiting", "leased", "checking", "accepted"
  std::string root;   // Set if the task is accepted.
  std::vector<TaskReplica> replicas;
};
struct Tasks {
  std::string job;
  std::vector<Task> tasks;
  std::uint64_t next = 0;  // `from` of the next page; 0: this is the last page.
};

// GET /v1/jobs/ID/tasks/INDEX/proof: everything that is needed to check one task without believing
// the coordinator. `root` is the tree over the roots of the outputs' bytes, and `path` leads from
// it to the job's root. Each receipt's digest is the SHA-256 of the bytes that its worker signed:
// GET /v1/blobs/{receipt} has these bytes, which end with the root of claims; GET
// /v1/blobs/{claims} has the claims, with (task, attempt, root) among them. Receipts of the first
// format contain their claims in the signed bytes, and name no blob of claims.
struct ProofReplica {
  std::string worker;
  std::uint32_t attempt = 0;
  std::string root;
  bool agreed = false;    // True if the worker was paid for this task.
  std::string receipt;    // The digest that was signed.
  std::string claims;     // The blob of its claims; empty for the first format.
  std::string signature;  // The worker's signature.
  double gpu_seconds = 0;
  double wall_seconds = 0;
  std::int64_t arrived = 0;
};
struct ProofOutput {
  std::string hash;  // Hash of the bytes, for GET /v1/blobs/{hash}.
  std::uint64_t bytes = 0;
};
struct Proof {
  std::string job;
  std::uint32_t index = 0;
  std::uint32_t tasks = 0;
  std::string coordinator;
  std::string root;               // Empty if the task is not accepted.
  std::string job_root;           // Empty if the job is not done.
  std::vector<std::string> path;  // The siblings from `root` to `job_root`, the lowest first.
  std::vector<ProofOutput> outputs;
  std::vector<ProofReplica> replicas;
};

// The decisions about results. GET /v1/jobs/ID/verdict shows those of a job, or with ?task=INDEX of
// one task; GET /v1/workers/KEY/verdict shows those of a worker. Checks are kept for 30 days.
struct VerdictRange {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};
struct VerdictCheck {
  std::string job;
  std::uint32_t task = 0;
  std::int64_t time = 0;
  std::string worker;   // The worker that gave the checked result.
  std::string root;     // The root of the checked result.
  std::string by;       // The worker that computed parts of it again; empty: the coordinator.
  std::string kind;     // "sample", "dispute", "audit", "recheck"
  std::string outcome;  // "agrees", "differs", "failed"
  // The ranges that were computed again, along the axis in which the job is cut.
  std::vector<VerdictRange> ranges;
  std::vector<VerdictRange> wrong;  // The first ranges that differed, if they are known.
  std::string reason;               // The reason if the check failed, else empty.
};
struct VerdictReceipt {
  std::string worker;
  std::string root;
  bool paid = false;
  std::string receipt;  // The digest that the worker signed.
  std::int64_t arrived = 0;
};
struct VerdictTask {
  std::uint32_t task = 0;
  std::string basis;    // A word (docs/http.md, "Verdicts"); empty: the task is open.
  std::string decided;  // The basis in a sentence.
  std::string root;
  std::string worker;  // The worker that made the accepted bytes; empty: the coordinator.
  std::int64_t accepted = 0;
  std::vector<VerdictReceipt> receipts;  // Set only in the answer for one task.
};
struct Verdict {
  std::string job;     // Set in the answer for a job or task.
  std::string worker;  // Set in the answer for a worker.
  std::string state;
  std::string decided;  // How all results were decided, in a sentence.
  std::vector<VerdictTask> tasks;
  // The latest 1,000 checks, in the order in which they were made.
  std::vector<VerdictCheck> checks;
  std::vector<Correction> corrections;
};

// GET /v1/workers answers { "workers": [...] }: the connected workers, and those that left since
// the coordinator's start with connected = false.
struct Worker {
  std::string key;
  std::string kind;         // "native", "browser"
  std::string device;       // "gpu", "cpu"
  std::string description;  // The name of the adapter or processor.
  bool connected = false;
  std::uint32_t slots = 0;
  std::uint32_t held = 0;      // Present leases.
  std::uint64_t accepted = 0;  // The number of all replicas that were paid.
  std::uint64_t refused = 0;
  // Balances are shown to the operator only, otherwise 0.
  MicroCredits balance = 0;   // Earned and unspent credits of the worker's owner.
  MicroCredits held_pay = 0;  // The part of `balance` that becomes free later: pay of new workers.
  double f32_gflop_per_s = 0;
  double copy_gb_per_s = 0;
  std::int64_t since = 0;
  MicroCredits price_min = 0;  // The least price of a compute unit that the worker accepts.
};
inline constexpr std::size_t page_rows_max = 1000;
// A page of workers. Lists come in pages of at most page_rows_max rows: ?from=NEXT&count=N, where
// NEXT is `next` of the page before.
struct Workers {
  std::vector<Worker> workers;
  std::string next = {};  // Empty or missing: this is the last page.
};

// A balance in the answer to GET /v1/ledger.
struct Balance {
  // The account's text (common/records/account.h). Only the operator sees it; other readers see the
  // kind alone, "owner", with the sum of the balances of this kind.
  std::string account;
  MicroCredits amount = 0;
};
struct Ledger {
  MicroCredits sum = 0;  // The sum of all balances, which is always 0.
  std::vector<Balance> balances;
  std::string next = {};  // Place of the next page (Workers::next).
};
// The change of one account by a transaction, and the account's balance afterwards.
struct LedgerMovement {
  std::string account;
  MicroCredits amount = 0;
  MicroCredits balance = 0;  // 0 for accounts that the asker does not own.
};
struct LedgerEntry {
  std::string key;
  std::string job;  // Empty: the transaction belongs to no job.
  std::string what;
  // The change of the requested account; for a job that of its escrow, free and granted credits
  // together.
  MicroCredits amount = 0;
  MicroCredits balance = 0;  // The balance after the movement.
  std::int64_t time = 0;
  std::vector<LedgerMovement> movements;  // All movements of the transaction, which sum to 0.
};
// GET /v1/ledger?account=A[&from=N][&count=N]: the account's transactions, newest first.
struct LedgerAccount {
  std::string account;
  MicroCredits amount = 0;  // The present balance.
  std::vector<LedgerEntry> entries;
  std::uint64_t next = 0;  // `from` of the next page; 0: this is the last page.
};
// GET /v1/ledger?job=ID[&from=N][&count=N]: the transactions of the job, oldest first.
struct LedgerJob {
  std::string job;
  MicroCredits amount = 0;  // The present balance of the job's escrow.
  std::vector<LedgerEntry> entries;
  std::uint64_t next = 0;
};

// GET /v1/owner, and the answer to every change of an owner: its balances and its devices. Amounts
// are micro-credits.
struct OwnerDevice {
  std::string key;
  std::string name;
  std::string role;  // "full" or "recovery".
  std::int64_t added = 0;
  std::int64_t revoked = 0;  // Time of the revocation; 0: not revoked.
};
struct Owner {
  std::string owner;
  std::string device;  // The device that sends the request.
  MicroCredits free = 0;
  MicroCredits granted = 0;
  MicroCredits held = 0;
  MicroCredits held_granted = 0;
  MicroCredits staked = 0;
  MicroCredits settled = 0;  // All credits settled since the start.
  std::vector<OwnerDevice> devices;
};

// GET /v1/settlement: the credits that owners have settled since the start, in the order of their
// accounts, and the millionths of compute units that they have done
// (decisions/settlement/work_units.h).
struct SettledOwner {
  std::string owner;
  MicroCredits settled = 0;
  std::int64_t units = 0;
};
struct Settlement {
  std::vector<SettledOwner> owners;
  std::string next = {};  // Place of the next page (Workers::next).
};

// The document of an error (RFC 9457, problem details).
struct Problem {
  std::string type = "about:blank";
  std::string title;
  int status = 0;
  std::string detail;
  std::string code;  // The word of the weft::ErrorCode.
};

// Writes and reads one JSON document. Reading accepts documents of newer coordinators: unknown keys
// are ignored, and missing ones keep their defaults. Any other deviation is invalid_argument.
template <class View>
[[nodiscard]] std::string to_json(const View& view);
template <class View>
[[nodiscard]] Result<View> from_json(std::string_view text);

// The JSON schema by struct name, from which the page's types are generated.
[[nodiscard]] std::string api_schema();

}  // namespace weft::protocol::api
