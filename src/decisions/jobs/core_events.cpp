// Which part hears which event.
#include <utility>

#include "decisions/jobs/core_state.h"

namespace weft::jobs {

void Core::submit(Submission submission, Moment now, Answer<protocol::api::Submitted> answer) {
  state_->submissions.submit(std::move(submission), now, std::move(answer));
}
void Core::may_submit(const JobOffer& offer, const Answer<bool>& answer) {
  state_->submissions.may_submit(offer, answer);
}
void Core::quote(const QuoteWanted& wanted, Moment now, Answer<protocol::api::Quote> answer) {
  state_->prices.quote(wanted, now, std::move(answer));
}
void Core::cancel(const Cancellation& wanted, Moment now, Answer<protocol::api::Submitted> answer) {
  state_->life.cancel(wanted, now, std::move(answer));
}
void Core::joined(const JobId& job, Result<std::vector<store::OutputBlob>> outputs, Moment now) {
  state_->life.joined(job, std::move(outputs), now);
}
void Core::arrive(Arrival arrival, Moment now) { state_->sessions.arrive(std::move(arrival), now); }
void Core::checkpointed(const SavedState& saved, Moment now) {
  state_->checkpoints.saved(saved, now);
}
void Core::resume(SessionId session, std::vector<protocol::HeldTask> held, Moment now) {
  state_->sessions.resume(session, std::move(held), now);
}
void Core::beat(SessionId session, Moment now) { state_->sessions.beat(session, now); }
void Core::slots(SessionId session, std::uint32_t slots, Moment now) {
  state_->sessions.slots(session, slots, now);
}
void Core::left(SessionId session, bool on_purpose, Moment now) {
  state_->sessions.left(session, on_purpose, now);
}
void Core::compared(const Comparison& comparison, Moment now) {
  state_->comparisons.compared(comparison, now);
}
void Core::add_key(billing::ApiKey key, billing::KeyMaker maker, MicroCredits give, Moment now,
                   Answer<billing::ApiKey> answer) {
  state_->keys.add(std::move(key), maker, give, now, std::move(answer));
}
void Core::revoke_key(const std::string& id, const std::optional<PublicKey>& who, Moment now,
                      Answer<billing::ApiKey> answer) {
  state_->keys.revoke(id, who, now, std::move(answer));
}
void Core::list_keys(const std::optional<PublicKey>& owner,
                     Answer<std::vector<billing::ApiKey>> answer) {
  state_->keys.list(owner, std::move(answer));
}
void Core::show_key(const Hash& key, Answer<billing::ApiKey> answer) {
  state_->keys.show(key, std::move(answer));
}
void Core::admit_answers(const billing::AnswerOrder& order, Moment now,
                         Answer<billing::AnswerAdmission> answer) {
  state_->completions.admit(order, now, std::move(answer));
}
void Core::answered(billing::AnswerReport report, Moment now) {
  state_->completions.answered(std::move(report), now);
}
void Core::answer_audited(const billing::AnswerAudited& audited, Moment now) {
  state_->completions.audited(audited, now);
}
void Core::answer_traced(const billing::AnswerTraced& traced, Moment now) {
  state_->completions.traced(traced, now);
}
void Core::admit_job_request(const billing::JobRequest& wanted, Moment now,
                             Answer<billing::JobAdmission> answer) {
  state_->keys.admit_job_request(wanted, now, std::move(answer));
}
void Core::job_request_ended(const std::string& key_id, MicroCredits held, MicroCredits spent,
                             Moment now) {
  state_->keys.job_request_ended(key_id, held, spent, now);
}
void Core::count_workers(std::string_view feature, const Answer<std::size_t>& answer) {
  state_->sessions.count(feature, answer);
}
void Core::when_ended(const JobId& job, Answer<EndedJob> answer) {
  state_->life.when_ended(job, std::move(answer));
}
void Core::move_stake(const StakeMove& move, Moment now, Answer<StakeView> answer) {
  state_->stakes.move(move, now, std::move(answer));
}
void Core::show_stake(const PublicKey& wallet, Moment now, Answer<StakeView> answer) {
  state_->stakes.show(wallet, now, std::move(answer));
}
void Core::chain_stakes(const ChainReading& reading, Moment now, Answer<ChainReadingTaken> answer) {
  state_->stakes.read_chain(reading, now, std::move(answer));
}
void Core::pardon(const Pardon& wanted, Moment now, Answer<StakeView> answer) {
  state_->standings.pardon(wanted, now, std::move(answer));
}
void Core::show_owner(const PublicKey& device, Answer<OwnerView> answer) {
  state_->owner_requests.show(device, std::move(answer));
}
void Core::grant(const GrantWanted& wanted, Moment now, Answer<OwnerView> answer) {
  state_->grants.give(wanted, now, std::move(answer));
}
void Core::pay(const Payment& payment, Moment now, Answer<OwnerView> answer) {
  state_->owner_requests.pay(payment, now, std::move(answer));
}
void Core::settle(const Settling& settling, Moment now, Answer<OwnerView> answer) {
  state_->owner_requests.settle(settling, now, std::move(answer));
}
void Core::add_device(const PublicKey& by, const OwnerId& to, store::Device device, Moment now,
                      Answer<OwnerView> answer) {
  state_->owner_requests.add_device(by, to, std::move(device), now, std::move(answer));
}
void Core::revoke_device(const PublicKey& by, const PublicKey& key, Moment now,
                         Answer<OwnerView> answer) {
  state_->owner_requests.revoke_device(by, key, now, std::move(answer));
}
void Core::owner_data(const PublicKey& device, Moment now, Answer<OwnerData> answer) {
  state_->owner_records.show(device, now, std::move(answer));
}
void Core::forget_owner(const PublicKey& device, Moment now, Answer<OwnerView> answer) {
  state_->owner_records.forget(device, now, std::move(answer));
}
void Core::set_weight(const ClientWeight& wanted, Moment now,
                      Answer<protocol::api::Client> answer) {
  state_->weights.set(wanted, now, std::move(answer));
}
void Core::clients(Moment now, Answer<protocol::api::Clients> answer) {
  state_->weights.list(now, std::move(answer));
}
void Core::live(std::vector<protocol::api::Job> jobs,
                Answer<std::vector<protocol::api::Job>> answer) {
  state_->views.live(std::move(jobs), std::move(answer));
}
void Core::show_job(protocol::api::Job job, Moment now, Answer<protocol::api::Job> answer) {
  state_->views.show_job(std::move(job), now, std::move(answer));
}
void Core::live_tasks(const JobId& job, std::vector<protocol::api::Task> tasks,
                      Answer<std::vector<protocol::api::Task>> answer) {
  state_->views.live_tasks(job, std::move(tasks), std::move(answer));
}
void Core::workers(Answer<protocol::api::Workers> answer) {
  state_->views.workers(std::move(answer));
}
void Core::ledger(Answer<protocol::api::Ledger> answer) { state_->views.ledger(std::move(answer)); }
void Core::balance(std::span<const ledger::Account> accounts, Answer<MicroCredits> answer) {
  state_->views.balance(accounts, std::move(answer));
}
void Core::settlement(Answer<protocol::api::Settlement> answer) {
  state_->views.settlement(std::move(answer));
}
void Core::watch(WatchWanted wanted, Moment now, Answer<WatchUpdate> answer) {
  state_->watch.watch(wanted, now, std::move(answer));
}
void Core::stop_watching() { state_->watch.stop(); }

void Core::metrics(Answer<std::string> answer) {
  state_->outbox.replier(std::move(answer))(
      metrics_text(*state_, {.rechecks_running = state_->rechecks.size(),
                             .samples = state_->samples(),
                             .answers = state_->completions.counters()}));
}

MicroCredits Core::ledger_sum() const { return state_->accounts.ledger().sum(); }
MicroCredits Core::balance_now(const ledger::Account& account) const {
  return state_->accounts.ledger().balance(account);
}

}  // namespace weft::jobs
