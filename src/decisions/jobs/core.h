// The coordinator's state and its rules: scheduler, trust and ledger composed. One thread owns it.
// Events come in, decisions are made, one group commit holds what the events of a batch decided,
// and only when that is durable do its effects go out: verdicts, answers. Nothing is acknowledged
// before. Leases acknowledge nothing and go out at once.
//
//   core.submissions().submit(...); core.results().deliver(...);   any number of events
//   core.flush(now);                                               decides, commits, and lets the
//   effects follow
//
// Each event goes to the part that it concerns, which has one idea and a header of its own
// (README.md); the tables that the parts share are core_tables.h.
//
// It has no sockets, threads, store, blobs or clock: what it has to know of them arrives with the
// events, what it wants done goes out through World. The whole network is tested with simulated
// time and a store in memory.
//
// Threading: one thread. Bounds: CoreSettings. Invariant: after every event the ledger sums to
// zero; a task is paid at most once.
#pragma once

#include <memory>
#include <optional>

#include "decisions/jobs/book.h"
#include "decisions/jobs/core_requests.h"
#include "decisions/jobs/core_settings.h"
#include "decisions/jobs/events.h"
#include "decisions/jobs/world.h"

namespace weft::jobs {

class Accounts;
class Checkpoints;
class ClientKeys;
class ClientWeights;
class Completions;
class CoreViews;
class Corrections;
class Grants;
class JobLife;
class JobPrices;
class JobSubmissions;
class JobWatch;
class OwnerRecords;
class OwnerRequests;
class ResultComparisons;
class ResultIntake;
class Stakes;
class Standings;
class VerificationLeases;
class WorkerSessions;
struct CoreParts;

class Core {
 public:
  struct Parts {
    World& world;
    Book& book;
  };
  Core(Parts parts, CoreSettings settings);
  Core(const Core&) = delete;
  ~Core();

  // First of all: takes up what was stored. data_loss if it contradicts itself.
  [[nodiscard]] Result<> restore(Restored restored, Moment now);
  // Decides, commits, acts. Call it after each batch of events and at next_deadline().
  void flush(Moment now);
  [[nodiscard]] std::optional<Instant> next_deadline() const;

  // Jobs: from their offer to their end.
  [[nodiscard]] JobSubmissions& submissions();
  [[nodiscard]] JobPrices& prices();
  [[nodiscard]] JobLife& jobs();
  // Workers, and what they hand in.
  [[nodiscard]] WorkerSessions& sessions();
  [[nodiscard]] ResultIntake& results();
  [[nodiscard]] ResultComparisons& comparisons();
  [[nodiscard]] Checkpoints& checkpoints();
  [[nodiscard]] VerificationLeases& checks();
  [[nodiscard]] Corrections& corrections();
  [[nodiscard]] Standings& standings();
  // Answers of language models, and requests with API keys.
  [[nodiscard]] ClientKeys& keys();
  [[nodiscard]] Completions& completions();
  // Owners and their money.
  [[nodiscard]] OwnerRequests& owners();
  [[nodiscard]] OwnerRecords& owner_records();
  [[nodiscard]] Grants& grants();
  [[nodiscard]] Stakes& stakes();
  [[nodiscard]] ClientWeights& weights();
  [[nodiscard]] const Accounts& accounts() const;
  // What is shown.
  [[nodiscard]] CoreViews& views();
  [[nodiscard]] JobWatch& watch();

 private:
  const std::unique_ptr<CoreParts> parts_;
};

}  // namespace weft::jobs
