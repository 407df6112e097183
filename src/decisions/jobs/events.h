// What happens to the coordinator's core, as plain data. Everything in here has been checked as far
// as that needs no state: signatures fit, bytes have their hashes and roots, manifests keep every
// rule.
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

// What a quote of this coordinator says, which its signature holds for (protocol/price_offer.h).
struct QuotedPrice {
  std::array<std::uint8_t, 16> id{};
  MicroCredits per_unit = 0;
  MicroCredits price = 0;  // The whole job's; 0: not known when it was made.
  UnixMillis until = 0;
};

// A client asks what a job would cost.
struct QuoteWanted {
  PublicKey client;
  std::shared_ptr<const manifest::Manifest> manifest;
  Hash manifest_hash{};  // stored_hash() of it,
  Hash work{};           // and work_of() (work.h).
};

// A job that a client signed. Its data are blobs that are stored.
struct Submission {
  PublicKey client;
  store::SubmitNonce nonce{};
  std::shared_ptr<const manifest::Manifest> manifest;
  std::string manifest_text{};              // manifest::to_json() of it,
  Hash manifest_hash{};                     // which is this blob.
  Hash work{};                              // work_of() it.
  std::optional<QuotedPrice> quote{};       // For that manifest and client.
  std::optional<MicroCredits> price_max{};  // Nothing: 1.5 times what is known of its price.
  JobId id{};                               // Its own, if it is a new job.
  // The stored job of the same client and nonce. Looked up before the event: a job that was taken
  // since then is known to the core.
  std::optional<store::Job> known{};
};

// A client wants its job to end.
struct Cancellation {
  JobId job;
  PublicKey client;
  std::optional<store::Job> stored{};  // The job, if it was stored when ingest looked.
};

// What is stored, with what is looked up about it before the core takes it up.
struct Restored {
  // An answer that was under way when the last process ended, and whose escrow is not empty.
  struct Answer {
    JobId id;
    OwnerId client;
  };
  // Whether two results of one task, with the different roots `a` and `b`, agree within the job's
  // tolerance.
  struct Agreement {
    TaskId task;
    Hash a, b;
    bool agrees = false;
  };
  store::Loaded rows;
  std::vector<Answer> answers{};
  std::vector<Agreement> agreements{};
  std::size_t grants_today = 0;  // Since GrantBounds::day_of() the start.
};

// What a client would hand in, before its shader is compiled and its data are stored.
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
  std::string prefix{};  // Its network (net::address_prefix()); empty: its own machine or network.
  trust::Invitation invitation = trust::Invitation::none;
};

// A worker says that it has saved the state of a task.
struct SavedState {
  SessionId session{};
  protocol::Checkpoint told;
  bool is_stored = false;  // The blob is here, has that size, and is a state of that task.
};

// A result whose outputs are stored and have the root that it claims.
struct Delivery {
  SessionId session{};
  PublicKey worker;
  protocol::TaskResult result;
};

// A result that was delivered, and whether it agrees with others of its task.
struct Comparison {
  TaskId task;
  PublicKey worker;
  std::uint32_t attempt = 0;
  Hash root;
  std::vector<std::pair<Hash, bool>> agreements;  // With the results of these roots.
};

// A receipt whose signature fits.
struct CoveringReceipt {
  SessionId session{};
  store::Receipt receipt;                    // `arrived` 0: it comes now, and is not stored before.
  std::vector<protocol::ReceiptItem> items;  // What the worker holds leases of, as it was leased.
  std::vector<protocol::ReceiptItem> unleased;  // What else it signs: that covers nothing.
  ByteVector statement;  // What was signed is the SHA-256 of this, the receipt's digest.
  ByteVector claims;     // Those of all items; the blob Receipt::claims.
};

// What the coordinator's verifier found.
struct Recomputed {
  Hash root;
  std::vector<store::OutputBlob> outputs;  // Stored.
};
struct Checked {
  trust::AuditOutcome outcome = trust::AuditOutcome::failed;
  std::optional<manifest::Range> wrong{};  // The first range that differs.
  // Where it agrees: for each of the other results, which this refutes, a range in which it
  // differs.
  std::vector<manifest::Range> apart{};
  std::string reason{};  // Where it failed.
  // Failed for lack of time, or because too much waited: the same verifier may do it later.
  bool late = false;
  // What the verifier itself computes of the part changes: it is the job, not the worker. Failed.
  bool unsteady = false;
  std::optional<Recomputed> right{};             // Where a paid task is wrong.
  trust::Devices devices = trust::Devices::one;  // That computed a range that differs.
  std::string vendor{};                          // The first device's.
};

// Tasks that a convicted worker was paid for.
struct PaidFound {
  struct Each {
    store::Task task;
    PublicKey client;
    std::shared_ptr<const manifest::Manifest> manifest;
    MicroCredits paid = 0;  // By the client, to all that agreed.
  };
  PublicKey worker;
  std::vector<Each> tasks;  // None: there are no more.
};

// A job that had ended, with its root and outputs as its tasks are now.
struct JoinedAgain {
  store::Job job;  // As it is stored.
  Hash root;
  std::vector<store::OutputBlob> outputs;
};

// Answers one request, after everything that it tells of is durable.
template <class T>
using Answer = std::function<void(Result<T>)>;

}  // namespace weft::jobs
