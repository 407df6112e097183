#include "decisions/jobs/client_keys.h"

#include <algorithm>
#include <utility>

#include "common/base/format.h"
#include "decisions/ledger/answer_pay.h"

namespace weft::jobs {

Result<> ClientKeys::restore(std::span<const billing::ApiKey> keys) {
  for (const auto& key : keys) WEFT_OK(ring_.add(key));
  return {};
}

void ClientKeys::add(billing::ApiKey key, billing::KeyMaker maker, MicroCredits give, Moment now,
                     Answer<billing::ApiKey> answer) {
  const auto reply = [this, &answer](Result<billing::ApiKey> result) {
    tables_.outbox.effect(
        [answer = std::move(answer), result = std::move(result)] { answer(result); });
  };
  const bool is_operator = maker == billing::KeyMaker::the_operator;
  if (give > 0 && !is_operator)
    return reply(fail(ErrorCode::permission_denied,
                      "Only the operator may make an API key that comes with credits; leave out "
                      "--give (\"give\")."));
  if (auto may = tables_.accounts.may_spend(key.owner); !may) return reply(pass(std::move(may)));
  const OwnerId owner = tables_.accounts.owner_of(key.owner);
  if (auto funded = grants_.fund(owner, now); !funded) return reply(pass(std::move(funded)));
  if (!is_operator && tables_.accounts.ledger().spendable(owner).total() <= 0)
    return reply(
        fail(ErrorCode::insufficient_funds,
             "The client {} holds no credits at this coordinator that an API key could spend.",
             key.owner.text()));
  if (!is_operator) {
    if (auto may = ring_.may_add(key.owner); !may) return reply(pass(std::move(may)));
  }
  key.created = now.unix;
  if (auto added = ring_.add(key); !added) return reply(pass(std::move(added)));
  if (give > 0) {
    if (auto moved = tables_.accounts.move(ledger::grant_with_key(key.id, owner, give), now);
        !moved)
      return reply(pass(std::move(moved)));
  }
  store_key(key);
  reply(std::move(key));
}

void ClientKeys::revoke(const std::string& id, const std::optional<PublicKey>& who, Moment now,
                        Answer<billing::ApiKey> answer) {
  auto revoked = ring_.revoke(id, who, now.unix);
  if (revoked) store_key(*revoked);
  tables_.outbox.effect(
      [answer = std::move(answer), revoked = std::move(revoked)] { answer(revoked); });
}

void ClientKeys::list(const std::optional<PublicKey>& owner,
                      Answer<std::vector<billing::ApiKey>> answer) {
  tables_.outbox.effect([answer = std::move(answer), keys = ring_.list(owner)] { answer(keys); });
}

void ClientKeys::show(const Hash& key, Answer<billing::ApiKey> answer) {
  const billing::ApiKey* const found = ring_.find(key);
  Result<billing::ApiKey> result =
      fail(ErrorCode::unauthenticated, "The API key is not known here, or it was revoked.");
  if (found != nullptr) result = *found;
  tables_.outbox.effect(
      [answer = std::move(answer), result = std::move(result)] { answer(result); });
}

void ClientKeys::admit_job_request(const billing::JobRequest& wanted, Moment now,
                                   Answer<billing::JobAdmission> answer) {
  const auto reply = tables_.outbox.replier(std::move(answer));
  billing::JobAdmission out;
  const billing::ApiKey* const key = ring_.find(wanted.key);
  if (key != nullptr && tables_.accounts.owners().is_revoked(key->owner)) {
    out.refused = {.error = {ErrorCode::unauthenticated,
                             "The device that made the API key was revoked by its owner."}};
    return reply(std::move(out));
  }
  auto admitted = ring_.admit(wanted.key, {.cost_worst = wanted.budget}, now.at);
  out.rates = admitted.rates;
  out.refused = std::move(admitted.refused);
  if (key != nullptr) {
    out.key_id = key->id;
    out.client = key->owner;
  }
  // The key ring's message names tokens; this message names credits.
  if (out.refused && out.refused->error.code == ErrorCode::insufficient_funds)
    out.refused->error.message = weft::format(
        "The API key {} may not spend the {:.6f} credits that are set aside for this request: send "
        "a smaller number in the header Weft-Budget, or use another key.",
        key->name, static_cast<double>(wanted.budget) / 1e6);
  reply(std::move(out));
}

void ClientKeys::job_request_ended(const std::string& key_id, MicroCredits held, MicroCredits spent,
                                   Moment now) {
  settle(key_id, {.cost_worst = held}, {.credits = spent}, now.at);
}

void ClientKeys::settle(const std::string& id, const billing::KeyUse& held,
                        const billing::KeyRing::Used& used, Instant now) {
  if (const auto key = ring_.settle(id, held, used, now)) store_key(*key);
}

bool ClientKeys::has_live_key(const PublicKey& device) const {
  return std::ranges::any_of(ring_.list(device),
                             [](const billing::ApiKey& each) { return each.revoked == 0; });
}

void ClientKeys::forget(const PublicKey& device) {
  for (std::string& id : ring_.remove_of(device))
    tables_.outbox.batch().api_keys_removed.push_back(std::move(id));
}

}  // namespace weft::jobs
