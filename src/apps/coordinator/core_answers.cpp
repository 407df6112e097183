// Answers of language models: API keys, escrow, audits and pay (answers.h).
#include <algorithm>
#include <set>
#include <utility>

#include "apps/coordinator/core_state.h"
#include "common/base/log.h"
#include "service/ledger/answer_pay.h"

namespace weft::coordinator {

namespace {

constexpr std::string_view key_prefix = "apikey:";
constexpr std::uint32_t stage_task = 0;   // An answer as the referee's task.
constexpr std::uint32_t unheard_max = 4;  // Auditors of one answer that say nothing.

}  // namespace

void Core::State::store_key(const ApiKey& key) {
  const std::string text = to_stored(key);
  const ByteSpan bytes = as_bytes(text);
  batch.settings.push_back({.name = std::string(key_prefix) + key.id, .value = {bytes.begin(), bytes.end()}});
}

Result<> Core::State::restore_answers(const store::Loaded& loaded, Moment now) {
  for (const auto& row : loaded.settings) {
    if (!row.name.starts_with(key_prefix)) continue;
    auto key = read_stored_key(as_text(row.value));
    if (!key) return fail(ErrorCode::data_loss, "The stored API key {} is none: {}", row.name, key.error().message);
    WEFT_OK(answers.keys.add(std::move(*key)));
  }
  // What was set aside for answers that a crash broke off goes back.
  std::set<ledger::Account> of_jobs;
  for (const auto& job : loaded.jobs) of_jobs.insert(ledger::Account::escrow(job.id));
  for (const auto& entry : loaded.balances) {
    if (entry.account.kind != ledger::Account::Kind::escrow || entry.amount <= 0 || of_jobs.contains(entry.account)) continue;
    WEFT_ASSIGN(const auto history, parts.store.history(entry.account, {.from = 0, .count = 16}));
    AnswerId id;
    std::ranges::copy_n(entry.account.id.begin(), static_cast<std::ptrdiff_t>(id.bytes.size()), id.bytes.begin());
    for (const auto& posted : history.transactions) {
      if (posted.key != "answer-open:" + id.text()) continue;
      for (const auto& movement : posted.movements) {
        if (movement.account.kind != ledger::Account::Kind::client) continue;
        move_answer_money(ledger::end_answer({.answer = id, .client = PublicKey{{movement.account.id}}, .held = entry.amount}, {},
                                             "the coordinator stopped in the middle of an answer"),
                          now);
        ledger.close(id);
      }
    }
  }
  return {};
}

bool Core::State::move_answer_money(ledger::Transaction transaction, Moment now) {
  const std::string key = transaction.key;
  const auto moved = move_money(std::move(transaction), now);
  if (!moved) {
    log_error("{} cannot be posted: {}", key, moved.error().message);
    return false;
  }
  // No job's row stands for an answer.
  if (*moved == ledger::Applied::now) batch.transactions.back().transaction.job.reset();
  return true;
}

Result<> Core::State::fund(const PublicKey& client, Moment now) {
  if (settings.grant > 0 && !granted.contains(client)) {
    if (auto moved = move_money(ledger::grant(client, settings.grant), now); !moved) return pass(std::move(moved));
    granted.insert(client);
  }
  return {};
}

void Core::add_key(ApiKey key, KeyMaker maker, MicroCredits give, Moment now, Answer<ApiKey> answer) {
  State& state = *state_;
  const auto reply = [&state, &answer](Result<ApiKey> result) {
    state.effect([answer = std::move(answer), result = std::move(result)] { answer(result); });
  };
  const bool is_operator = maker == KeyMaker::the_operator;
  if (give > 0 && !is_operator) return reply(fail(ErrorCode::permission_denied, "Only the operator gives credits with a key."));
  if (auto funded = state.fund(key.owner, now); !funded) return reply(pass(std::move(funded)));
  if (!is_operator && state.ledger.balance(ledger::Account::client(key.owner)) <= 0)
    return reply(fail(ErrorCode::insufficient_funds, "The client {} holds no credits here, which a key would spend.", key.owner.text()));
  if (!is_operator) {
    if (auto may = state.answers.keys.may_add(key.owner); !may) return reply(pass(std::move(may)));
  }
  key.created = now.unix;
  if (auto added = state.answers.keys.add(key); !added) return reply(pass(std::move(added)));
  if (give > 0) {
    if (auto moved = state.move_money(ledger::grant_with_key(key.id, key.owner, give), now); !moved) return reply(pass(std::move(moved)));
  }
  state.store_key(key);
  reply(std::move(key));
}

void Core::revoke_key(const std::string& id, const std::optional<PublicKey>& who, Moment now, Answer<ApiKey> answer) {
  State& state = *state_;
  auto revoked = state.answers.keys.revoke(id, who, now.unix);
  if (revoked) state.store_key(*revoked);
  state.effect([answer = std::move(answer), revoked = std::move(revoked)] { answer(revoked); });
}

void Core::list_keys(const std::optional<PublicKey>& owner, Answer<std::vector<ApiKey>> answer) {
  State& state = *state_;
  state.effect([answer = std::move(answer), keys = state.answers.keys.list(owner)] { answer(keys); });
}

void Core::show_key(const Hash& key, Answer<ApiKey> answer) {
  State& state = *state_;
  const ApiKey* const found = state.answers.keys.find(key);
  Result<ApiKey> result = fail(ErrorCode::unauthenticated, "The API key is none that is known here, or it was revoked.");
  if (found != nullptr) result = *found;
  state.effect([answer = std::move(answer), result = std::move(result)] { answer(result); });
}

void Core::admit_answers(const AnswerOrder& asked, Moment now, Answer<AnswerAdmission> answer) {
  State& state = *state_;
  AnswerAdmission out;
  const auto reply = [&] { state.effect([answer = std::move(answer), out = std::move(out)] { answer(out); }); };
  AnswerOrder order = asked;
  const ApiKey* const key = state.answers.keys.find(order.key);
  if (key != nullptr && order.fits_budget) {
    // As many tokens as the budget takes, where the client named no bound.
    if (const auto left = state.answers.keys.tokens_left(*key, order.price); left && *left / order.answers > order.tokens_least)
      order.tokens_worst = std::min(order.tokens_worst, *left / order.answers);
  }
  const MicroCredits each = ledger::price_of_tokens(order.tokens_worst, order.price);
  const KeyUse use{.tokens_likely = std::min(order.tokens_likely, order.tokens_worst) * order.answers,
                   .tokens_worst = order.tokens_worst * order.answers,
                   .cost_worst = each * order.answers};
  const auto refuse = [&](ErrorCode code, std::string message, Duration retry) {
    out.refused = {.error = {code, std::move(message)}, .retry = retry};
    reply();
  };
  if (key != nullptr && each > 0) {
    if (auto funded = state.fund(key->owner, now); !funded) return refuse(funded.error().code, funded.error().message, {});
    const MicroCredits balance = state.ledger.balance(ledger::Account::client(key->owner));
    if (balance < use.cost_worst) {
      return refuse(
          ErrorCode::insufficient_funds,
          std::format("The account behind the API key holds {:.6f} credits; the request could cost {:.6f}. A smaller max_tokens costs less.",
                      static_cast<double>(balance) / 1e6, static_cast<double>(use.cost_worst) / 1e6),
          std::chrono::hours(24));
    }
  }
  if (state.answers.open.size() + order.answers > state.settings.answers.open_max)
    return refuse(ErrorCode::unavailable, "Too many answers are under way.", std::chrono::seconds(1));
  auto admitted = state.answers.keys.admit(order.key, use, now.at);
  out.rates = admitted.rates;
  out.refused = std::move(admitted.refused);
  if (out.refused) return reply();
  out.tokens_worst = order.tokens_worst;
  for (std::uint32_t i = 0; i < order.answers; ++i) {
    const AnswerId id = state.parts.world.new_job_id();
    OpenAnswer open{.key = key->id, .client = key->owner, .price = order.price, .held = each, .counts = i == 0, .prompt_max = order.tokens_least};
    open.use = {.tokens_likely = order.tokens_likely, .tokens_worst = order.tokens_worst, .cost_worst = each};
    if (each > 0 && !state.move_answer_money(ledger::open_answer(id, key->owner, each, order.model), now)) open.held = 0;
    state.answers.open.emplace(id, std::move(open));
    out.answers.push_back(id);
  }
  reply();
}

// --- An answer has ended.

void Core::answered(AnswerReport report, Moment now) {
  State& state = *state_;
  const AnswerEnd& end = report.end;
  auto found = state.answers.open.find(report.id);
  if (found == state.answers.open.end()) {
    if (state.answers.open.size() >= state.settings.answers.open_max) return state.forget_answer(report.id);
    found = state.answers.open.emplace(report.id, OpenAnswer{}).first;  // Nobody pays for it.
  }
  OpenAnswer& open = found->second;
  open.work = end.work;
  for (const WorkShare& share : end.work) open.workers.push_back(share.worker);
  const bool whole = end.reason != "cancelled";
  if (end.reason == "failed" || end.answered.empty() || open.workers.empty()) return state.end_answer(report.id, 0, "nothing was answered", now);
  // Who answers says how long the prompt was, and is believed within what it can have been.
  open.tokens = std::min<std::uint64_t>(end.prompt_tokens, open.prompt_max) + end.answered.size();
  open.due = std::min(ledger::price_of_tokens(open.tokens, open.price), open.held);
  if (!prints_complete(end.prints, static_cast<std::uint32_t>(end.answered.size()), whole))
    return state.end_answer(report.id, 0, "it came without the fingerprints that it could be verified by", now);
  if (!state.audit_is_due(report.id, open, now)) return state.end_answer(report.id, open.due, "believed by reputation", now);
  state.ask_audit(report.id, now);
}

trust::CheckRates Core::State::answer_rates(const PublicKey& worker, Moment now) const {
  const double doubt = 1 - trust.book().reputation(worker, now.unix);
  const double floor = settings.answers.floor;
  return {.replica = trust.established(worker, now.unix) ? floor + (1 - floor) * doubt * doubt : 1, .audit = 0, .trap = 0, .parts = 1};
}

// Drawn after the answer is there, once for all who gave it, at the rate of the least believed of them. What a worker could lose by
// being found out must be more than it could gain, otherwise every answer of it is audited.
bool Core::State::audit_is_due(const AnswerId& id, OpenAnswer& open, Moment now) {
  double rate = 0;
  for (const PublicKey& worker : open.workers) {
    trust::CheckRates rates = answer_rates(worker, now);
    const MicroCredits stake = trust::stake_for(open.due, rates, settings.referee.checks.collusion);
    const auto at_risk = answers.at_risk.find(worker);
    const MicroCredits held =
        ledger.balance(ledger::Account::stake(worker)) - trust.stakes().locked(worker) - (at_risk == answers.at_risk.end() ? 0 : at_risk->second);
    if (stake > held) rates.replica = 1;
    open.stake = std::max(open.stake, std::min(stake, std::max<MicroCredits>(held, 0)));
    rate = std::max(rate, rates.replica);
  }
  return trust::draw(settings.secret, trust::Purpose::audit, {.job = id, .index = stage_task}, open.workers.front()) < rate;
}

void Core::State::ask_audit(const AnswerId& id, Moment) {
  OpenAnswer& open = answers.open.at(id);
  if (!std::exchange(open.audited, true)) {
    for (const PublicKey& worker : open.workers) answers.at_risk[worker] += open.stake;
  }
  AnswerAuditOrder order{.id = id, .except = open.workers};
  order.except.insert(order.except.end(), open.asked.begin(), open.asked.end());
  order.draw = trust::draw_bits(settings.secret, trust::Purpose::auditor, {.job = id, .index = stage_task}, open.workers.front(), open.asked.size());
  ++answers.counters.audits;
  effect([this, order = std::move(order)] { parts.world.audit_answer(order); });
}

// Votes, of those who answered together one and of each auditor one: a lead of two decides; where nobody is left to ask, any lead does,
// and convicts nobody.
void Core::answer_audited(const AnswerAudited& audited, Moment now) {
  State& state = *state_;
  const auto found = state.answers.open.find(audited.id);
  if (found == state.answers.open.end() || found->second.workers.empty()) return;
  OpenAnswer& open = found->second;
  const bool nobody = audited.verdict == AnswerVerdict::nobody || audited.auditors.empty();
  const bool unheard = !nobody && audited.verdict == AnswerVerdict::unheard;
  if (!nobody) open.asked.insert(open.asked.end(), audited.auditors.begin(), audited.auditors.end());
  if (unheard && ++open.unheard < unheard_max) return state.ask_audit(audited.id, now);
  if (!nobody && !unheard) {
    const bool agrees = audited.verdict == AnswerVerdict::agrees;
    (agrees ? open.agreeing : open.differing).push_back(audited.auditors.front());
    if (!agrees) {
      ++state.answers.counters.mismatches;
      log_warning("The audit of an answer of {} by {} differs: {}", open.workers.front().text(), audited.auditors.front().text(), audited.reason);
    }
  }
  const auto lead = static_cast<std::int64_t>(1 + open.agreeing.size()) - static_cast<std::int64_t>(open.differing.size());
  constexpr std::int64_t enough = 2;
  if (!nobody && !unheard && lead < enough && lead > -enough) return state.ask_audit(audited.id, now);
  if (open.agreeing.empty() && open.differing.empty()) {
    ++state.answers.counters.unaudited;
    return state.end_answer(audited.id, 0, "nobody else could verify it", now);
  }
  state.judge_answer(audited.id, lead, now);
}

void Core::State::judge_answer(const AnswerId& id, std::int64_t lead, Moment now) {
  OpenAnswer& open = answers.open.at(id);
  const bool convicts = lead >= 2 || lead <= -2;
  const auto confirm = [&](const std::vector<PublicKey>& those, const std::vector<PublicKey>& by) {
    const bool believed = std::ranges::any_of(by, [&](const PublicKey& each) { return trust.established(each, now.unix); });
    for (const PublicKey& each : those) trust.vouch(each, believed ? 1.0 : trust.newcomer_weight(), now.unix);
  };
  const auto blame = [&](const PublicKey& worker, MicroCredits penalty, bool for_certain, const std::string& why) {
    if (!for_certain) return trust.doubt(worker, now.unix);
    act(trust.convicted({.job = id, .index = stage_task}, worker, penalty, open.due, why, now.unix), now);
    bar_server(worker, now);
  };
  if (lead > 0) {
    confirm(open.workers, open.agreeing);
    for (const PublicKey& auditor : open.agreeing) {
      auto by = open.workers;
      std::ranges::copy_if(open.agreeing, std::back_inserter(by), [&](const PublicKey& each) { return each != auditor; });
      confirm({auditor}, by);
    }
    for (const PublicKey& auditor : open.differing) blame(auditor, open.stake, convicts, "The audit of an answer that it reported is refuted.");
    return end_answer(id, open.due, "verified by another worker", now);
  }
  for (const PublicKey& auditor : open.differing) {
    auto by = open.differing;
    std::erase(by, auditor);
    if (!by.empty() && lead < 0) confirm({auditor}, by);
  }
  if (lead == 0) {
    for (const PublicKey& auditor : open.differing) trust.doubt(auditor, now.unix);
  }
  for (const PublicKey& auditor : open.agreeing) blame(auditor, open.stake, convicts && lead < 0, "It confirmed an answer that others refute.");
  // Which member of a chain it was cannot be told: all start anew, and none is convicted.
  const bool certain = convicts && open.workers.size() == 1;
  for (const PublicKey& worker : std::vector(open.workers)) blame(worker, open.stake, certain, "Its answer is not the model's.");
  end_answer(id, 0, "its fingerprints are not the model's", now);
}

void Core::State::end_answer(const AnswerId& id, MicroCredits due, std::string_view why, Moment now) {
  auto node = answers.open.extract(id);
  if (node.empty()) return;
  const OpenAnswer& open = node.mapped();
  if (open.audited) {
    for (const PublicKey& worker : open.workers) {
      MicroCredits& risk = answers.at_risk[worker];
      risk -= open.stake;
      if (risk <= 0) answers.at_risk.erase(worker);
    }
  }
  if (!open.key.empty()) {
    MicroCredits paid = 0;
    std::vector<ledger::AnswerWork> work;
    for (const WorkShare& share : open.work) work.push_back({.worker = share.worker, .work = share.work});
    if (open.held > 0) {
      auto transaction = ledger::end_answer({.answer = id, .client = open.client, .held = open.held, .due = due, .tokens = open.tokens}, work, why);
      for (const auto& entry : transaction.entries) paid += entry.account.kind == ledger::Account::Kind::worker ? entry.amount : 0;
      move_answer_money(std::move(transaction), now);
      ledger.close(id);
    }
    paid > 0 ? ++answers.counters.paid : ++answers.counters.refunded;
    // Tokens count where the client had them, paid or not.
    const auto key = answers.keys.settle(open.key, open.use, {.tokens = open.tokens, .credits = paid, .counts = open.counts}, now.at);
    if (key) store_key(*key);
  }
  forget_answer(id);
}

void Core::State::forget_answer(const AnswerId& id) {
  effect([this, id] { parts.world.answer_settled(id); });
}

void Core::State::bar_server(const PublicKey& worker, Moment) {
  const UnixMillis until = trust.book().record(worker).suspended_until;
  parts.book.bar(worker, until);
  effect([this, worker] { parts.world.bar_server(worker); });
}

}  // namespace weft::coordinator
