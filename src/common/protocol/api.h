// What the coordinator's HTTP interface answers, as structs: the coordinator writes them, `weft
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

// GET /v1/info
struct Info {
  std::string software;  // "weft/0.1.0"
  std::uint32_t protocol = 1;
  std::string coordinator;  // Its public key.
  bool tls = false;
  MicroCredits grant = 0;  // What a new client is given.
  std::uint64_t blob_bytes_max = 0;
};

// A coordinator's new key, signed with the old one (protocol::rotation_digest).
struct KeyRotation {
  std::string before;
  std::string after;
  std::string signature;
};

// GET /v1/identity/NONCE: that the coordinator holds its key (protocol::identity_digest), and every
// key that it had before, oldest first.
struct Identity {
  std::string coordinator;
  std::string signature;
  std::vector<KeyRotation> rotations;
};

// POST /v1/jobs -> 202
struct Submitted {
  std::string id;
  std::string state;  // As Job::state.
  std::uint32_t tasks = 0;
  MicroCredits escrow = 0;
  std::string link;                  // Shows the job to each reader: ?link=LINK at its routes.
  std::vector<std::string> notes{};  // How it will be checked, in sentences.
  MicroCredits per_unit = 0;         // What a compute unit of it costs.
  MicroCredits price_quoted = 0;     // The price in the quote that was given; 0: none.
  MicroCredits max_price = 0;        // It costs no more.
};

// POST /v1/jobs/quote: what a job would cost, signed (price_offer.h). docs/pricing.md.
struct Quote {
  std::string id{};     // 16 random bytes.
  std::string quote{};  // What POST /v1/jobs?quote= takes.
  std::string coordinator{};
  std::string client{};    // For whom it is.
  std::string manifest{};  // The hash of the manifest as it is stored.
  MicroCredits base = 0;   // per_unit = base * (1 + demand) * (1 + capability) * season
  double demand = 0;
  double capability = 0;
  double season = 1;
  MicroCredits per_unit = 0;
  double units = 0;  // Compute units, and the price of all tasks and of one: 0 where the same work
                     // was not measured before. It costs per_unit for what its canary shows then.
  MicroCredits price = 0;
  MicroCredits price_per_task = 0;
  std::uint32_t tasks = 0;
  std::uint32_t replicas = 1;
  MicroCredits max_price = 0;  // 1.5 times the price, which bounds it where no quote is given.
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

// One thing that a job requires, and how many workers lack it.
struct JobLack {
  std::string what;           // "the feature shader-f16"
  std::uint32_t workers = 0;  // Workers without it.
};
struct JobWaiting {
  std::string reason;          // A word: docs/http.md. Empty: nothing waits.
  std::string detail;          // The same in a sentence or two.
  std::uint32_t task = 0;      // Whose reason it is.
  std::uint32_t able = 0;      // Connected workers that have what the job requires.
  std::uint32_t position = 0;  // Where all of them are busy: among the jobs that require the same,
                               // from 1 on; 0: not known.
  double seconds = 0;  // Until something changes, as expected; where it is too slow everywhere,
                       // what it would take. 0: not known.
  std::vector<JobLack> lacks;  // If no worker has all that the job requires.
};

// An accepted result of a convicted worker that was wrong and is replaced, or that could not be
// computed again.
struct Correction {
  std::uint32_t task = 0;
  std::string worker;
  std::int64_t time = 0;
  bool replaced = false;  // Otherwise `reason` says why it could not be computed again.
  std::string was;        // The root of the wrong result.
  MicroCredits refunded = 0;
  std::string reason;
};

// GET /v1/jobs/{id}; GET /v1/jobs answers { "jobs": [...] }, newest first, without name, client,
// reason, amounts, root and outputs of jobs of others.
struct Job {
  std::string id;
  std::string name;
  std::string kind;  // "wgsl", "kernel", "onnx"
  std::string client;
  std::string state;   // "running", "done", "failed", "cancelled", "corrected"
  std::string reason;  // Where failed or cancelled.
  std::uint32_t tasks = 0;
  std::uint32_t accepted = 0;
  std::uint32_t leased = 0;  // Leases held now, replicas counted each.
  std::uint32_t replicas = 1;
  MicroCredits budget = 0;
  MicroCredits price = 0;          // 0 until the canary has passed.
  MicroCredits per_unit = 0;       // What a compute unit costs.
  MicroCredits price_quoted = 0;   // The price in the quote that was given; 0: none.
  MicroCredits max_price = 0;      // It costs no more; 0: than its budget.
  std::string root;                // Where done or corrected.
  std::vector<JobOutput> outputs;  // The same.
  std::int64_t created = 0;
  std::int64_t ended = 0;
  JobWaiting waiting;   // Only where one job is asked for.
  std::string link;     // The same: what shows the job to each reader, as ?link=LINK.
  std::string decided;  // The same, of a job that has ended: on whose word its results rest.
  std::uint32_t corrected = 0;  // The same: results that were wrong and are replaced,
  std::uint32_t unchecked =
      0;                      // and results of a convicted worker that could not be computed again.
  MicroCredits refunded = 0;  // For the former.
  std::vector<Correction> corrections;  // The first of both.
};
struct Jobs {
  std::vector<Job> jobs;
};

// GET /v1/clients: those with running jobs, and those with a weight of their own. POST
// /v1/clients/KEY answers one of them.
struct Client {
  std::string client;
  double weight = 1;
  std::int64_t set = 0;  // When the operator set it; 0: it is as the coordinator was started with.
  std::uint32_t jobs = 0;   // Its running jobs.
  double used_seconds = 0;  // Work at the reference rate, half of it forgotten every hour.
  double lead_seconds =
      0;  // It has had so much more than its share: so much later its jobs stand in the queue.
};
struct Clients {
  std::vector<Client> clients;
  std::string next = {};  // As Workers::next.
};

// GET /v1/tasks?job=ID[&from=INDEX&count=N] answers { "tasks": [...] } by index.
struct TaskReplica {
  std::string worker;
  std::string root;
  bool agreed = false;  // Paid for this task.
};
struct Task {
  std::uint32_t index = 0;
  std::string state;  // "waiting", "leased", "checking", "accepted"
  std::string root;   // Where accepted.
  std::vector<TaskReplica> replicas;
};
struct Tasks {
  std::string job;
  std::vector<Task> tasks;
  std::uint64_t next = 0;  // `from` of the next page; 0: that was all.
};

// GET /v1/jobs/ID/tasks/INDEX/proof: everything to check one task with, without believing the
// coordinator: `root` is the tree over the roots of the outputs' bytes, `path` leads from it to the
// job's root, and each receipt's digest is the SHA-256 of what its worker signed: GET
// /v1/blobs/{receipt} has those bytes, which end with the root of claims; GET /v1/blobs/{claims}
// has these, with (task, attempt, root) among them. Receipts of the first format, which had their
// claims in what was signed, name none.
struct ProofReplica {
  std::string worker;
  std::uint32_t attempt = 0;
  std::string root;
  bool agreed = false;    // Paid for this task.
  std::string receipt;    // The digest that is signed.
  std::string claims;     // The blob of its claims; empty: the first format.
  std::string signature;  // The worker's signature.
  double gpu_seconds = 0;
  double wall_seconds = 0;
  std::int64_t arrived = 0;
};
struct ProofOutput {
  std::string hash;  // Hash of the bytes: GET /v1/blobs/{hash}.
  std::uint64_t bytes = 0;
};
struct Proof {
  std::string job;
  std::uint32_t index = 0;
  std::uint32_t tasks = 0;
  std::string coordinator;
  std::string root;               // Empty where the task is not accepted.
  std::string job_root;           // Empty where the job is not done.
  std::vector<std::string> path;  // From `root` to `job_root`: siblings, the lowest first.
  std::vector<ProofOutput> outputs;
  std::vector<ProofReplica> replicas;
};

// How results were decided. GET /v1/jobs/ID/verdict of a job, ?task=INDEX of one task; GET
// /v1/workers/KEY/verdict of what a worker handed in. Checks are kept for 30 days.
struct VerdictRange {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};
struct VerdictCheck {
  std::string job;
  std::uint32_t task = 0;
  std::int64_t time = 0;
  std::string worker;   // Whose result it was,
  std::string root;     // which had this root.
  std::string by;       // The worker that computed parts of it again; empty: the coordinator.
  std::string kind;     // "sample", "dispute", "audit", "recheck"
  std::string outcome;  // "agrees", "differs", "failed"
  std::vector<VerdictRange> ranges;  // Computed again, along the axis in which the job is cut.
  std::vector<VerdictRange> wrong;   // The first that differed, where that is known.
  std::string reason;                // Where it failed.
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
  std::string basis;    // A word: docs/http.md, "Verdicts". Empty: the task is open.
  std::string decided;  // The same in a sentence.
  std::string root;
  std::string worker;  // Whose bytes they are; empty: the coordinator's.
  std::int64_t accepted = 0;
  std::vector<VerdictReceipt> receipts;  // Only where one task is asked for.
};
struct Verdict {
  std::string job;     // Where a job or task is asked for.
  std::string worker;  // Where a worker is.
  std::string state;
  std::string decided;  // How all results were, in a sentence.
  std::vector<VerdictTask> tasks;
  std::vector<VerdictCheck> checks;  // As they were made; the latest 1,000.
  std::vector<Correction> corrections;
};

// GET /v1/workers answers { "workers": [...] }: connected now, and those that left since the start
// with connected = false.
struct Worker {
  std::string key;
  std::string kind;         // "native", "browser"
  std::string device;       // "gpu", "cpu"
  std::string description;  // Adapter or processor.
  bool connected = false;
  std::uint32_t slots = 0;
  std::uint32_t held = 0;      // Leases now.
  std::uint64_t accepted = 0;  // Replicas that were paid, ever.
  std::uint64_t refused = 0;
  // To the operator only, otherwise 0:
  MicroCredits balance = 0;   // What its owner has earned and not spent,
  MicroCredits held_pay = 0;  // and of that, what becomes free later: pay of new workers.
  double f32_gflop_per_s = 0;
  double copy_gb_per_s = 0;
  std::int64_t since = 0;
  MicroCredits price_min = 0;  // The least for a compute unit that it accepts.
};
inline constexpr std::size_t page_rows_max = 1000;
// Lists come in pages of at most so many rows: ?from=NEXT&count=N, where NEXT is `next` of the page
// before.
struct Workers {
  std::vector<Worker> workers;
  std::string next = {};  // Empty or not there: that was all.
};

// GET /v1/ledger
struct Balance {
  // Its text (common/records/account.h). To others than the operator only its kind, "owner": the
  // balances of a kind are added up.
  std::string account;
  MicroCredits amount = 0;
};
struct Ledger {
  MicroCredits sum = 0;  // Always 0.
  std::vector<Balance> balances;
  std::string next = {};  // As Workers::next.
};
// What a transaction did to one account, and what that held afterwards.
struct LedgerMovement {
  std::string account;
  MicroCredits amount = 0;
  MicroCredits balance = 0;  // 0 of accounts that the asker does not own.
};
struct LedgerEntry {
  std::string key;
  std::string job;  // Empty: of none.
  std::string what;
  // The account that was asked for; for a job its escrow's, free and granted credits together.
  MicroCredits amount = 0;
  MicroCredits balance = 0;  // What that held afterwards.
  std::int64_t time = 0;
  std::vector<LedgerMovement> movements;  // All of the transaction: they sum to 0.
};
// GET /v1/ledger?account=A[&from=N][&count=N]: its transactions, newest first.
struct LedgerAccount {
  std::string account;
  MicroCredits amount = 0;  // Now.
  std::vector<LedgerEntry> entries;
  std::uint64_t next = 0;  // `from` of the next page; 0: that was all.
};
// GET /v1/ledger?job=ID[&from=N][&count=N]: what the job moved, oldest first.
struct LedgerJob {
  std::string job;
  MicroCredits amount = 0;  // What its escrow holds now.
  std::vector<LedgerEntry> entries;
  std::uint64_t next = 0;
};

// GET /v1/owner, and the answer of what changes one: what an owner has, and its devices. Amounts
// are micro-credits.
struct OwnerDevice {
  std::string key;
  std::string name;
  std::string role;  // "full" or "recovery".
  std::int64_t added = 0;
  std::int64_t revoked = 0;  // 0: not.
};
struct Owner {
  std::string owner;
  std::string device;  // Which asks.
  MicroCredits free = 0;
  MicroCredits granted = 0;
  MicroCredits held = 0;
  MicroCredits held_granted = 0;
  MicroCredits staked = 0;
  MicroCredits settled = 0;  // Ever.
  std::vector<OwnerDevice> devices;
};

// GET /v1/settlement: what owners have settled since the start, in the order of their accounts, and
// the millionths of compute units that they have done (decisions/settlement/work_units.h).
struct SettledOwner {
  std::string owner;
  MicroCredits settled = 0;
  std::int64_t units = 0;
};
struct Settlement {
  std::vector<SettledOwner> owners;
  std::string next = {};  // As Workers::next.
};

// RFC 9457 problem document.
struct Problem {
  std::string type = "about:blank";
  std::string title;
  int status = 0;
  std::string detail;
  std::string code;  // weft::ErrorCode as a word.
};

// One JSON document. Reading takes documents of newer coordinators: unknown keys are passed over,
// missing ones keep their defaults; anything that is no such document is invalid_argument.
template <class View>
[[nodiscard]] std::string to_json(const View& view);
template <class View>
[[nodiscard]] Result<View> from_json(std::string_view text);

// For generating the page's types: JSON schema by struct name.
[[nodiscard]] std::string api_schema();

}  // namespace weft::protocol::api
