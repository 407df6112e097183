// The events of the coordinator's core, as plain data. All checks that need no state are already
// done: signatures fit, bytes have their hashes and roots, and manifests keep every rule.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/base/clock.h"
#include "common/base/ids.h"
#include "common/base/number_id.h"
#include "common/manifest/manifest.h"
#include "common/manifest/split.h"
#include "common/protocol/hello.h"
#include "common/protocol/results.h"
#include "common/records/records.h"
#include "decisions/trust/levels.h"
#include "decisions/trust/referee.h"

namespace weft::jobs {

// One connection of one worker.
using SessionId = NumberId<struct SessionTag, std::uint64_t>;

// The time of an event, on both clocks.
struct Moment {
  Instant at;
  UnixMillis unix = 0;
};

// The content of a quote of this coordinator, which its signature covers (protocol/price_offer.h).
struct QuotedPrice {
  std::array<std::uint8_t, 16> id{};
  MicroCredits per_unit = 0;
  MicroCredits price = 0;  // The price of the whole job; 0: not known when the quote was made.
  UnixMillis until = 0;
};

// A client asks for the price of a job.
struct QuoteWanted {
  PublicKey client;
  std::shared_ptr<const manifest::Manifest> manifest;
  Hash manifest_hash{};  // stored_hash() of the manifest.
  Hash work{};           // work_of() the manifest (work.h).
};

// A job that a client signed. The blobs of its data are stored.
struct Submission {
  PublicKey client;
  store::SubmitNonce nonce{};
  std::shared_ptr<const manifest::Manifest> manifest;
  std::string manifest_text{};              // manifest::to_json() of the manifest.
  Hash manifest_hash{};                     // The hash of the blob that holds manifest_text.
  Hash work{};                              // work_of() the manifest.
  std::optional<QuotedPrice> quote{};       // A quote for this manifest and client.
  std::optional<MicroCredits> price_max{};  // None: 1.5 times the known price.
  JobId id{};                               // The id of the job, if it is new.
  // The stored job of the same client and nonce. It is looked up before the event; a job that was
  // accepted since the lookup is known to the core.
  std::optional<store::Job> known{};
};

// A client's request to end its job.
struct Cancellation {
  JobId job;
  PublicKey client;
  std::optional<store::Job> stored{};  // The job, if it was stored when ingest looked it up.
};

// The stored rows, and facts about them that are looked up before the core takes them up.
struct Restored {
  // An answer that was under way when the last process ended, and whose escrow is not empty.
  struct Answer {
    JobId id;
    OwnerId client;
  };
  // True if two results of one task, with the different roots `a` and `b`, agree within the job's
  // tolerance.
  struct Agreement {
    TaskId task;
    Hash a, b;
    bool agrees = false;
  };
  store::Loaded rows;
  std::vector<Answer> answers{};
  std::vector<Agreement> agreements{};
  std::size_t grants_today = 0;  // Grants since the start of the day (GrantBounds::day_of()).
};

// A job that a client offers, before its shader is compiled and its data are stored.
struct JobOffer {
  PublicKey client;
  store::SubmitNonce nonce{};
  std::uint32_t tasks = 0;
  MicroCredits budget = 0;
};

// A worker has shown that it holds its key.
struct Arrival {
  SessionId session{};
  protocol::Hello hello;
  std::string blob_token;
  // Network of the worker (net::address_prefix()); empty: the coordinator's machine or network.
  std::string prefix{};
  trust::Invitation invitation = trust::Invitation::none;
};

// A worker says that it has saved a checkpoint of a task.
struct SavedState {
  SessionId session{};
  protocol::Checkpoint told;
  // The blob is stored, has the named size, and is a checkpoint of the task.
  bool is_stored = false;
};

// A worker answers a request for the states before groups of steps.
struct SentStates {
  SessionId session{};
  protocol::States told;
  // True for each state whose blob is stored, has the named size, and is a state of the task.
  std::vector<bool> is_stored;
};

// A result whose outputs are stored and have the root that the result claims.
struct Delivery {
  SessionId session{};
  PublicKey worker;
  protocol::TaskResult result;
};

// A delivered result, and whether it agrees with other results of its task.
struct Comparison {
  TaskId task;
  PublicKey worker;
  std::uint32_t attempt = 0;
  Hash root;
  // The roots of other results, and whether the result agrees with each of them.
  std::vector<std::pair<Hash, bool>> agreements;
};

// A receipt whose signature fits.
struct CoveringReceipt {
  SessionId session{};
  store::Receipt receipt;  // `arrived` is 0 if the receipt arrives now and is not stored yet.
  // Items for which the worker holds leases, in the form in which they were leased.
  std::vector<protocol::ReceiptItem> items;
  // Other items that it signs: the receipt does not cover them.
  std::vector<protocol::ReceiptItem> unleased;
  ByteVector statement;  // The signed text; its SHA-256 is the receipt's digest.
  ByteVector claims;     // The claims of all items; the blob Receipt::claims.
};

// The root and the outputs that the coordinator's verifier computed.
struct Recomputed {
  Hash root;
  std::vector<store::OutputBlob> outputs;  // The blobs are stored.
};
struct Checked {
  trust::AuditOutcome outcome = trust::AuditOutcome::failed;
  std::optional<manifest::Range> wrong{};  // The first range that differs.
  // If the outcome is that the result agrees: for each of the rival results, which this refutes, a
  // range in which the rival differs.
  std::vector<manifest::Range> apart{};
  std::string reason{};  // Why the check failed.
  // The check failed for lack of time, or because too many checks waited: the verifier may do it
  // later.
  bool late = false;
  // The check failed because the verifier's own results for the part vary: the job is at fault, not
  // the worker.
  bool unsteady = false;
  // The check failed because a state that the worker sent is not the one to which it is committed:
  // as if it had sent none.
  bool unanswered = false;
  // The order had groups of steps: the outcome is one of steps, not of bytes of the result.
  bool of_steps = false;
  std::optional<Recomputed> right{};             // The right result, if a paid task is wrong.
  trust::Devices devices = trust::Devices::one;  // The devices that computed the differing range.
  std::string vendor{};                          // The vendor of the first of `devices`.
};

// Tasks that a convicted worker was paid for.
struct PaidFound {
  struct Each {
    store::Task task;
    PublicKey client;
    std::shared_ptr<const manifest::Manifest> manifest;
    MicroCredits paid = 0;  // Pay by the client to all workers that agreed.
  };
  PublicKey worker;
  std::vector<Each> tasks;  // Empty: there are no more tasks.
};

// A job that had ended, with the root and the outputs that follow from its corrected tasks.
struct JoinedAgain {
  store::Job job;  // The stored row of the job.
  Hash root;
  std::vector<store::OutputBlob> outputs;
};

// Answers one request, once everything that the answer reports is durable.
template <class T>
using Answer = std::function<void(Result<T>)>;

}  // namespace weft::jobs
