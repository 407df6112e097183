// Requests with API keys that become jobs, and waiting for a job's end.
#include <algorithm>

#include "common/base/format.h"
#include "decisions/jobs/core_state.h"

namespace weft::jobs {

void Core::admit_job_request(const billing::JobRequest& wanted, Moment now,
                             Answer<billing::JobAdmission> answer) {
  State& state = *state_;
  const auto reply = state.replier(std::move(answer));
  billing::JobAdmission out;
  const billing::ApiKey* const key = state.answers.keys.find(wanted.key);
  if (key != nullptr && state.owners.is_revoked(key->owner)) {
    out.refused = {.error = {ErrorCode::unauthenticated,
                             "The device that made the API key was revoked by its owner."}};
    return reply(std::move(out));
  }
  auto admitted = state.answers.keys.admit(wanted.key, {.cost_worst = wanted.budget}, now.at);
  out.rates = admitted.rates;
  out.refused = std::move(admitted.refused);
  if (key != nullptr) {
    out.key_id = key->id;
    out.client = key->owner;
  }
  // The key ring speaks of tokens.
  if (out.refused && out.refused->error.code == ErrorCode::insufficient_funds)
    out.refused->error.message = weft::format(
        "The API key {} may not spend the {:.6f} credits that are set aside for this request: send "
        "a smaller number in the header Weft-Budget, or use another key.",
        key->name, static_cast<double>(wanted.budget) / 1e6);
  reply(std::move(out));
}

void Core::job_request_ended(const std::string& key_id, MicroCredits held, MicroCredits spent,
                             Moment now) {
  State& state = *state_;
  const auto key =
      state.answers.keys.settle(key_id, {.cost_worst = held}, {.credits = spent}, now.at);
  if (key) state.store_key(*key);
}

void Core::count_workers(std::string_view feature, const Answer<std::size_t>& answer) {
  answer(static_cast<std::size_t>(std::ranges::count_if(state_->workers, [&](const auto& each) {
    return std::ranges::contains(each.second.hello.capabilities.features, feature);
  })));
}

void Core::when_ended(const JobId& job, Answer<EndedJob> answer) {
  State& state = *state_;
  if (!state.jobs.contains(job))
    return state.replier(std::move(answer))(
        fail(ErrorCode::not_found, "The job {} does not run.", job.text()));
  state.waiters[job].push_back(std::move(answer));
}

void Core::State::tell_waiters(const RunningJob& job, const store::JobUpdate::End& end) {
  const auto found = waiters.find(job.row.id);
  if (found == waiters.end()) return;
  const EndedJob ended{.state = end.state,
                       .reason = end.reason,
                       .outputs = end.outputs,
                       .paid = job.row.budget - ledger.escrow(job.row.id).total()};
  for (auto& answer : found->second) replier(std::move(answer))(ended);
  waiters.erase(found);
}

}  // namespace weft::jobs
