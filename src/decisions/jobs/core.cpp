#include "decisions/jobs/core.h"

#include <utility>

#include "decisions/jobs/core_parts.h"

namespace weft::jobs {

Core::Core(Parts parts, CoreSettings settings)
    : parts_(std::make_unique<CoreParts>(parts.world, parts.book, std::move(settings))) {}
Core::~Core() = default;

Result<> Core::restore(Restored restored, Moment now) {
  return parts_->restore(std::move(restored), now);
}

void Core::flush(Moment now) {
  if (parts_->tables.outbox.is_broken()) return;
  parts_->decide(now);
  parts_->tables.outbox.flush();
}

std::optional<Instant> Core::next_deadline() const { return parts_->next_deadline(); }

JobSubmissions& Core::submissions() { return parts_->submissions; }
JobPrices& Core::prices() { return parts_->prices; }
JobLife& Core::jobs() { return parts_->life; }
WorkerSessions& Core::sessions() { return parts_->sessions; }
ResultIntake& Core::results() { return parts_->results; }
ResultComparisons& Core::comparisons() { return parts_->comparisons; }
Checkpoints& Core::checkpoints() { return parts_->checkpoints; }
VerificationLeases& Core::checks() { return parts_->checks; }
Corrections& Core::corrections() { return parts_->corrections; }
Standings& Core::standings() { return parts_->standings; }
ClientKeys& Core::keys() { return parts_->keys; }
Completions& Core::completions() { return parts_->completions; }
OwnerRequests& Core::owners() { return parts_->owners; }
OwnerRecords& Core::owner_records() { return parts_->owner_records; }
Grants& Core::grants() { return parts_->grants; }
Stakes& Core::stakes() { return parts_->stakes; }
ClientWeights& Core::weights() { return parts_->weights; }
CoreViews& Core::views() { return parts_->views; }
JobWatch& Core::watch() { return parts_->watch; }
const Accounts& Core::accounts() const { return parts_->tables.accounts; }

}  // namespace weft::jobs
