// The coordinator's state and its rules: scheduler, trust and ledger composed. Events come in, and
// the core decides. One group commit holds the decisions of a batch of events; their effects
// (verdicts, answers) go out only when the commit is durable, so that nothing is acknowledged
// earlier. Leases acknowledge nothing and go out at once.
//
//   core.submissions().submit(...); core.results().deliver(...);   any number of events
//   core.flush(now);     decides, commits, and lets the effects follow
//
// Each event goes to the part that handles it, which has a single purpose and its own header
// (README.md). The parts share the tables of core_tables.h.
//
// The core has no sockets, threads, store, blobs or clock: facts about these arrive with the
// events, and work for them goes out through World. Tests run the whole network with simulated time
// and a store in memory.
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

  // Takes up the stored rows. Must be called before all else. Fails with data_loss if the rows
  // contradict themselves.
  [[nodiscard]] Result<> restore(Restored restored, Moment now);
  // Makes decisions, commits them and then runs their effects. Must be called after each batch of
  // events and at next_deadline().
  void flush(Moment now);
  [[nodiscard]] std::optional<Instant> next_deadline() const;

  // Jobs: from their offer to their end.
  [[nodiscard]] JobSubmissions& submissions();
  [[nodiscard]] JobPrices& prices();
  [[nodiscard]] JobLife& jobs();
  // Workers and the results that they deliver.
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
  // The functions for owners and their money.
  [[nodiscard]] OwnerRequests& owners();
  [[nodiscard]] OwnerRecords& owner_records();
  [[nodiscard]] Grants& grants();
  [[nodiscard]] Stakes& stakes();
  [[nodiscard]] ClientWeights& weights();
  [[nodiscard]] const Accounts& accounts() const;
  // The views for pages, commands and watchers.
  [[nodiscard]] CoreViews& views();
  [[nodiscard]] JobWatch& watch();

 private:
  const std::unique_ptr<CoreParts> parts_;
};

}  // namespace weft::jobs
