// Whether a job may come in at all: room for it, in all and of its client, and money. Asked before
// anything expensive is done for it, and again when it is taken.
#include "common/base/counted.h"
#include "decisions/jobs/core_state.h"

namespace weft::jobs {

Result<> Core::State::room_for(const PublicKey& client, std::uint64_t tasks) const {
  if (jobs.size() >= settings.jobs_running_max || tasks_open + tasks > settings.tasks_open_max) {
    return fail(ErrorCode::resource_exhausted,
                "{} jobs with {} open tasks are running; try again when some have ended "
                "(--jobs-max and --tasks-max raise the bounds).",
                jobs.size(), tasks_open);
  }
  const auto found = loads.find(owner_of(client));
  const ClientLoad own = found == loads.end() ? ClientLoad{} : found->second;
  const auto is_over = [](std::uint64_t count, std::uint64_t most) {
    return most > 0 && count > most;
  };
  if (is_over(own.jobs + 1, settings.jobs_per_client_max) ||
      is_over(own.tasks + tasks, settings.tasks_per_client_max)) {
    return fail(ErrorCode::resource_exhausted,
                "{} of this client with {} are running; try again when some have ended "
                "(--jobs-per-client and --tasks-per-client raise the bounds).",
                counted(own.jobs, "job"), counted(own.tasks, "task"));
  }
  return {};
}

void Core::State::count_load(const OwnerId& owner, std::uint64_t tasks, bool begins) {
  if (begins) {
    ClientLoad& load = loads[owner];
    ++load.jobs;
    load.tasks += tasks;
    return parts.book.set_load(owner, {.jobs = load.jobs, .tasks = load.tasks});
  }
  const auto found = loads.find(owner);
  if (found == loads.end()) return;
  found->second.tasks -= tasks;
  --found->second.jobs;
  parts.book.set_load(owner, {.jobs = found->second.jobs, .tasks = found->second.tasks});
  if (found->second.jobs == 0) loads.erase(found);
}

void Core::may_submit(const JobOffer& offer, const Answer<bool>& answer) {
  const State& state = *state_;
  const auto look = [&]() -> Result<bool> {
    if (state.nonces.contains(std::pair(offer.client, offer.nonce))) return true;
    WEFT_OK(state.room_for(offer.client, offer.tasks));
    const OwnerId owner = state.owner_of(offer.client);
    const MicroCredits held = state.ledger.spendable(owner).total();
    if (held + state.grant_of_stranger(owner) < offer.budget)
      return std::unexpected(state.cannot_spend(owner, offer.budget));
    return true;
  };
  answer(look());
}

}  // namespace weft::jobs
