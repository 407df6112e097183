// Answers of language models: API keys, escrow, audits and pay (answers.h).
#include <algorithm>
#include <limits>
#include <utility>

#include "common/base/check.h"
#include "common/base/format.h"
#include "common/base/log.h"
#include "decisions/jobs/core_state.h"

namespace weft::jobs {

namespace {

constexpr std::uint32_t stage_task = 0;   // An answer as the referee's task.
constexpr std::uint32_t unheard_max = 4;  // Auditors of one answer that say nothing.

}  // namespace

void Core::State::store_key(const billing::ApiKey& key) { batch.api_keys.push_back(key); }

Result<> Core::State::restore_answers(const Restored& restored, Moment now) {
  for (const auto& key : restored.rows.api_keys) WEFT_OK(answers.keys.add(key));
  // What was set aside for answers that a crash broke off goes back.
  for (const auto& [id, client] : restored.answers) {
    move_answer_money(
        ledger::end_answer({.answer = id, .client = client, .held = ledger.escrow(id)}, {},
                           "the coordinator stopped in the middle of an answer"),
        now);
    ledger.close(id);
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

void Core::add_key(billing::ApiKey key, billing::KeyMaker maker, MicroCredits give, Moment now,
                   Answer<billing::ApiKey> answer) {
  State& state = *state_;
  const auto reply = [&state, &answer](Result<billing::ApiKey> result) {
    state.effect([answer = std::move(answer), result = std::move(result)] { answer(result); });
  };
  const bool is_operator = maker == billing::KeyMaker::the_operator;
  if (give > 0 && !is_operator)
    return reply(fail(ErrorCode::permission_denied, "Only the operator gives credits with a key."));
  if (auto may = state.owners.may_act(key.owner, ledger::Owners::Wants::spending); !may)
    return reply(pass(std::move(may)));
  const OwnerId owner = state.owner_of(key.owner);
  if (auto funded = state.fund(owner, now); !funded) return reply(pass(std::move(funded)));
  if (!is_operator && state.ledger.spendable(owner).total() <= 0)
    return reply(fail(ErrorCode::insufficient_funds,
                      "The client {} holds no credits here, which a key would spend.",
                      key.owner.text()));
  if (!is_operator) {
    if (auto may = state.answers.keys.may_add(key.owner); !may) return reply(pass(std::move(may)));
  }
  key.created = now.unix;
  if (auto added = state.answers.keys.add(key); !added) return reply(pass(std::move(added)));
  if (give > 0) {
    if (auto moved = state.move_money(ledger::grant_with_key(key.id, owner, give), now); !moved)
      return reply(pass(std::move(moved)));
  }
  state.store_key(key);
  reply(std::move(key));
}

void Core::revoke_key(const std::string& id, const std::optional<PublicKey>& who, Moment now,
                      Answer<billing::ApiKey> answer) {
  State& state = *state_;
  auto revoked = state.answers.keys.revoke(id, who, now.unix);
  if (revoked) state.store_key(*revoked);
  state.effect([answer = std::move(answer), revoked = std::move(revoked)] { answer(revoked); });
}

void Core::list_keys(const std::optional<PublicKey>& owner,
                     Answer<std::vector<billing::ApiKey>> answer) {
  State& state = *state_;
  state.effect(
      [answer = std::move(answer), keys = state.answers.keys.list(owner)] { answer(keys); });
}

void Core::show_key(const Hash& key, Answer<billing::ApiKey> answer) {
  State& state = *state_;
  const billing::ApiKey* const found = state.answers.keys.find(key);
  Result<billing::ApiKey> result =
      fail(ErrorCode::unauthenticated, "The API key is not known here, or it was revoked.");
  if (found != nullptr) result = *found;
  state.effect([answer = std::move(answer), result = std::move(result)] { answer(result); });
}

void Core::admit_answers(const billing::AnswerOrder& asked, Moment now,
                         Answer<billing::AnswerAdmission> answer) {
  State& state = *state_;
  billing::AnswerAdmission out;
  const auto reply = [&] {
    state.effect([answer = std::move(answer), out = std::move(out)] { answer(out); });
  };
  billing::AnswerOrder order = asked;
  check(!order.ids.empty(), "a request has an answer");
  const std::size_t answers = order.ids.size();
  const billing::ApiKey* const key = state.answers.keys.find(order.key);
  if (key != nullptr && order.fits_budget) {
    // As many tokens as the budget takes, where the client named no bound.
    if (const auto left = state.answers.keys.tokens_left(*key, order.price);
        left && *left / answers > order.tokens_least)
      order.tokens_worst = std::min(order.tokens_worst, *left / answers);
  }
  const MicroCredits each = ledger::price_of_tokens(order.tokens_worst, order.price);
  const billing::KeyUse use{
      .tokens_likely = std::min(order.tokens_likely, order.tokens_worst) * answers,
      .tokens_worst = order.tokens_worst * answers,
      .cost_worst = each * static_cast<MicroCredits>(answers)};
  const auto refuse = [&](ErrorCode code, std::string message, Duration retry) {
    out.refused = {.error = {code, std::move(message)}, .retry = retry};
    reply();
  };
  if (key != nullptr && state.owners.is_revoked(key->owner))
    return refuse(ErrorCode::unauthenticated,
                  "The device that made the API key was revoked by its owner.", {});
  if (key != nullptr && each > 0) {
    const OwnerId owner = state.owner_of(key->owner);
    if (auto funded = state.fund(owner, now); !funded)
      return refuse(funded.error().code, funded.error().message, {});
    const MicroCredits balance = state.ledger.spendable(owner).total();
    if (balance < use.cost_worst) {
      return refuse(ErrorCode::insufficient_funds,
                    weft::format("The account of the API key holds {:.6f} credits; the request "
                                 "could cost {:.6f}. A smaller max_tokens costs less.",
                                 static_cast<double>(balance) / 1e6,
                                 static_cast<double>(use.cost_worst) / 1e6),
                    std::chrono::hours(24));
    }
  }
  if (state.answers.open.size() + answers > state.settings.answers.open_max)
    return refuse(ErrorCode::unavailable, "Too many answers are under way.",
                  std::chrono::seconds(1));
  auto admitted = state.answers.keys.admit(order.key, use, now.at);
  out.rates = admitted.rates;
  out.refused = std::move(admitted.refused);
  if (out.refused) return reply();
  out.tokens_worst = order.tokens_worst;
  for (const billing::AnswerId& id : order.ids) {
    billing::OpenAnswer open{.key = key->id,
                             .client = key->owner,
                             .price = order.price,
                             .held = each,
                             .counts = id == order.ids.front(),
                             .prompt_max = order.tokens_least};
    open.use = {.tokens_likely = order.tokens_likely,
                .tokens_worst = order.tokens_worst,
                .cost_worst = each};
    if (each > 0 && !state.move_answer_money(
                        ledger::open_answer(id, state.owner_of(key->owner), each, order.model,
                                            state.ledger.spendable(state.owner_of(key->owner))),
                        now))
      open.held = 0;
    state.answers.open.emplace(id, std::move(open));
    out.answers.push_back(id);
  }
  reply();
}

// --- An answer has ended.

void Core::answered(billing::AnswerReport report, Moment now) {
  State& state = *state_;
  const inference::AnswerEnd& end = report.end;
  auto found = state.answers.open.find(report.id);
  if (found == state.answers.open.end()) {
    if (state.answers.open.size() >= state.settings.answers.open_max)
      return state.forget_answer(report.id, billing::AnswerFate::unaudited);
    found = state.answers.open.emplace(report.id, billing::OpenAnswer{}).first;  // It is free.
  }
  billing::OpenAnswer& open = found->second;
  open.work = end.work;
  for (const inference::WorkShare& share : end.work) open.workers.push_back(share.worker);
  if (end.reason == "failed" || end.checked_tokens() == 0 || open.workers.empty())
    return state.end_answer(report.id, 0, billing::AnswerFate::nothing, "nothing was answered",
                            now);
  // The worker says how long the prompt was, and is believed within what it can have been.
  open.tokens = std::min<std::uint64_t>(end.prompt_tokens, open.prompt_max) + end.answered.size();
  open.due = std::min(ledger::price_of_tokens(open.tokens, open.price), open.held);
  if (!billing::prints_complete(end.prints, end.checked_tokens(), end.checked_to_its_end()))
    return state.end_answer(report.id, 0, billing::AnswerFate::refuted,
                            "it came without the fingerprints that it could be verified by", now);
  if (!state.audit_is_due(report.id, open, now) && !report.must_audit)
    return state.end_answer(report.id, open.due, billing::AnswerFate::believed,
                            "believed by reputation", now);
  state.ask_audit(report.id, now);
}

trust::CheckRates Core::State::answer_rates(const PublicKey& worker, Moment now) const {
  const double doubt = 1 - trust.book().reputation(worker, now.unix);
  const double floor = settings.answers.floor;
  return {.replica =
              trust.book().established(worker, now.unix) ? floor + (1 - floor) * doubt * doubt : 1,
          .audit = 0,
          .trap = 0,
          .parts = 1};
}

// Drawn after the answer is there, once for all who gave it, at the rate of the least believed of
// them. What a worker could lose by being found out must be more than it could gain, otherwise
// every answer of it is audited.
bool Core::State::audit_is_due(const billing::AnswerId& id, billing::OpenAnswer& open, Moment now) {
  double rate = 0;
  for (const PublicKey& worker : open.workers) {
    trust::CheckRates rates = answer_rates(worker, now);
    const MicroCredits stake = trust::stake_for(open.due, rates, settings.referee.checks.collusion);
    const MicroCredits held = slashable_stake_of(owner_of(worker)) - stake_at_risk(worker);
    if (stake > held) rates.replica = 1;
    open.stake = std::max(open.stake, std::min(stake, std::max<MicroCredits>(held, 0)));
    rate = std::max(rate, rates.replica);
  }
  return trust::draw(settings.secret, trust::Purpose::audit, {.job = id, .index = stage_task},
                     open.workers.front()) < rate;
}

void Core::State::ask_audit(const billing::AnswerId& id, Moment now) {
  billing::OpenAnswer& open = answers.open.at(id);
  if (!std::exchange(open.audited, true)) {
    for (const PublicKey& worker : open.workers) answers.at_risk[worker] += open.stake;
  }
  billing::AnswerAuditOrder order{.id = id, .except = open.workers};
  order.except.insert(order.except.end(), open.asked.begin(), open.asked.end());
  // What a newcomer says decides nothing; a root's word comes first.
  const auto least = open.without_roots || !settings.referee.defences.only_roots_convict
                         ? trust::Level::established
                         : trust::Level::root;
  for (const auto& [key, worker] : workers) {
    if (answer_level(key, now.unix) < least) order.except.push_back(key);
  }
  order.draw =
      trust::draw_bits(settings.secret, trust::Purpose::auditor, {.job = id, .index = stage_task},
                       open.workers.front(), open.asked.size());
  ++answers.counters.audits;
  effect([this, order = std::move(order)] { parts.world.audit_answer(order); });
}

// Votes, one of those who answered together and one of each auditor: a lead of two decides; if no
// worker is left to ask, any lead does, and convicts no worker.
void Core::answer_audited(const billing::AnswerAudited& audited, Moment now) {
  State& state = *state_;
  const auto found = state.answers.open.find(audited.id);
  if (found == state.answers.open.end() || found->second.workers.empty() || found->second.lead)
    return;
  billing::OpenAnswer& open = found->second;
  const bool unasked =
      audited.verdict == billing::AnswerVerdict::undecided || audited.auditors.empty();
  if (unasked && !std::exchange(open.without_roots, true) &&
      state.settings.referee.defences.only_roots_convict)
    return state.ask_audit(audited.id, now);
  const bool decides = std::ranges::none_of(audited.auditors, [&](const PublicKey& auditor) {
    return state.answer_level(auditor, now.unix) == trust::Level::newcomer;
  });
  const bool unheard = !unasked && (audited.verdict == billing::AnswerVerdict::unheard || !decides);
  if (!unasked)
    open.asked.insert(open.asked.end(), audited.auditors.begin(), audited.auditors.end());
  if (unheard && ++open.unheard < unheard_max) return state.ask_audit(audited.id, now);
  if (!unasked && !unheard) {
    const bool agrees = audited.verdict == billing::AnswerVerdict::agrees;
    (agrees ? open.agreeing : open.differing).push_back(audited.auditors.front());
    if (!agrees) {
      ++state.answers.counters.mismatches;
      if (state.trust.level(audited.auditors.front(), now.unix) == trust::Level::root) {
        if (audited.doubtful == 0) open.prints_differ = true;
        open.doubtful = std::min(open.doubtful.value_or(audited.doubtful), audited.doubtful);
      }
      log_warning("The audit of an answer of {} by {} differs: {}", open.workers.front().text(),
                  audited.auditors.front().text(), audited.reason);
    }
  }
  // The operator's own workers count twice; a newcomer's answer has no vote for itself.
  const auto weight = [&](const std::vector<PublicKey>& those) {
    std::int64_t sum = 0;
    for (const PublicKey& each : those)
      sum += state.answer_level(each, now.unix) == trust::Level::established ? 1 : 2;
    return sum;
  };
  const bool newcomers = std::ranges::any_of(open.workers, [&](const PublicKey& worker) {
    return state.answer_level(worker, now.unix) == trust::Level::newcomer;
  });
  const std::int64_t lead = (newcomers ? 0 : 1) + weight(open.agreeing) - weight(open.differing);
  constexpr std::int64_t enough = 2;
  if (!unasked && !unheard && lead < enough && lead > -enough)
    return state.ask_audit(audited.id, now);
  if (open.agreeing.empty() && open.differing.empty()) {
    ++state.answers.counters.unaudited;
    return state.end_answer(audited.id, 0, billing::AnswerFate::unaudited,
                            "no other worker could verify it", now);
  }
  state.judge_answer(audited.id, lead, now);
}

// Where levels do not count, all workers are alike.
trust::Level Core::State::answer_level(const PublicKey& worker, UnixMillis now) const {
  return settings.referee.defences.newcomers_decide_nothing ? trust.level(worker, now)
                                                            : trust::Level::established;
}

void Core::State::judge_answer(const billing::AnswerId& id, std::int64_t lead, Moment now) {
  billing::OpenAnswer& open = answers.open.at(id);
  // Only roots convict, and two of them have to say the same.
  const auto roots = [&](const std::vector<PublicKey>& those) {
    return std::ranges::count_if(those, [&](const PublicKey& each) {
      return trust.level(each, now.unix) == trust::Level::root;
    });
  };
  const bool levels = settings.referee.defences.only_roots_convict;
  const bool convicts =
      levels ? roots(lead > 0 ? open.agreeing : open.differing) >= 2 : lead >= 2 || lead <= -2;
  if (lead < 0 && convicts && trace_answer(id, lead, now)) return;
  const auto confirm = [&](const std::vector<PublicKey>& those, const std::vector<PublicKey>& by) {
    if (levels && roots(by) == 0) return;
    // A newcomer's vote is worth a tenth of an established worker's.
    const bool believed = levels || std::ranges::any_of(by, [&](const PublicKey& each) {
                            return trust.book().established(each, now.unix);
                          });
    for (const PublicKey& each : those) {
      trust.standing().book().confirm(each, believed ? 1.0 : 0.1, now.unix);
      parts.book.set_known(each, trust.level(each, now.unix) != trust::Level::newcomer);
    }
  };
  const auto blame = [&](const PublicKey& worker, MicroCredits penalty, bool for_certain,
                         const std::string& why) {
    if (!for_certain && levels) return;
    if (!for_certain) return trust.standing().book().doubt(worker, now.unix);
    act(trust.convicted({.job = id, .index = stage_task}, worker, penalty, open.due, why, now.unix),
        now);
    bar_server(worker, now);
  };
  if (lead > 0) {
    confirm(open.workers, open.agreeing);
    for (const PublicKey& auditor : open.agreeing) {
      auto by = open.workers;
      std::ranges::copy_if(open.agreeing, std::back_inserter(by),
                           [&](const PublicKey& each) { return each != auditor; });
      confirm({auditor}, by);
    }
    for (const PublicKey& auditor : open.differing)
      blame(auditor, open.stake, convicts, "The audit of an answer that it reported is refuted.");
    return end_answer(id, open.due, billing::AnswerFate::verified, "verified by another worker",
                      now);
  }
  for (const PublicKey& auditor : open.differing) {
    auto by = open.differing;
    std::erase(by, auditor);
    if (!by.empty() && lead < 0) confirm({auditor}, by);
  }
  if (lead == 0 && !levels) {
    for (const PublicKey& auditor : open.differing)
      trust.standing().book().doubt(auditor, now.unix);
  }
  for (const PublicKey& auditor : open.agreeing)
    blame(auditor, open.stake, convicts && lead < 0, "It confirmed an answer that others refute.");
  // In a chain the stage that two roots found; no other member loses anything but its pay.
  const bool alone = convicts && open.workers.size() == 1 && strikes(open) >= 2;
  for (const PublicKey& worker : std::vector(open.workers))
    blame(worker, open.stake, alone || worker == open.guilty,
          open.guilty ? "What it handed on is not what its layers make of what it was given."
                      : "Its answer is not the model's.");
  end_answer(id, 0, billing::AnswerFate::refuted, "it is not what the model says", now);
}

// What roots found of the worker that answered, this answer's findings among them: wrong
// fingerprints are enough, of tokens that are not what their settings give it takes two.
std::uint32_t Core::State::strikes(const billing::OpenAnswer& open) {
  constexpr std::uint32_t enough = 2;
  const bool by_tokens = settings.referee.defences.only_roots_convict && !open.prints_differ &&
                         open.doubtful.has_value();
  if (!by_tokens) return enough;
  if (answers.strikes.size() >= billing::Answers::strikes_max &&
      !answers.strikes.contains(open.workers.front()))
    answers.strikes.erase(answers.strikes.begin());
  std::uint32_t& all = answers.strikes[open.workers.front()];
  all += *open.doubtful;
  if (all < enough) return all;
  answers.strikes.erase(open.workers.front());
  return enough;
}

// A tenth of the pay is for the auditors who confirmed the answer: who audits for nothing audits
// nothing, and without audits newcomers' answers are not paid.
std::vector<ledger::AnswerWork> Core::State::paid_work(const billing::OpenAnswer& open) const {
  const std::size_t auditors = open.agreeing.size();
  const std::uint64_t scale = auditors == 0 ? 1 : 9 * auditors;
  std::vector<ledger::AnswerWork> work;
  std::uint64_t all = 0;
  for (const inference::WorkShare& share : open.work) {
    const std::uint64_t bounded =
        std::min(share.work, std::numeric_limits<std::uint64_t>::max() >> 16);
    work.push_back({.worker = owner_of(share.worker), .work = bounded * scale});
    all += bounded;
  }
  for (const PublicKey& auditor : open.agreeing)
    work.push_back({.worker = owner_of(auditor), .work = all});
  return work;
}

void Core::State::end_answer(const billing::AnswerId& id, MicroCredits due,
                             billing::AnswerFate fate, std::string_view why, Moment now) {
  auto node = answers.open.extract(id);
  if (node.empty()) return;
  const billing::OpenAnswer& open = node.mapped();
  if (open.audited) {
    for (const PublicKey& worker : open.workers) {
      MicroCredits& risk = answers.at_risk[worker];
      risk -= open.stake;
      if (risk <= 0) answers.at_risk.erase(worker);
    }
  }
  if (!open.key.empty()) {
    MicroCredits paid = 0;
    const std::vector<ledger::AnswerWork> work = paid_work(open);
    if (open.held > 0) {
      const ledger::AnswerPay pay{.answer = id,
                                  .client = owner_of(open.client),
                                  .held = ledger.escrow(id),
                                  .due = due,
                                  .tokens = open.tokens};
      paid = ledger::paid_for_answer(pay, work);
      move_answer_money(ledger::end_answer(pay, work, why), now);
      ledger.close(id);
    }
    paid > 0 ? ++answers.counters.paid : ++answers.counters.refunded;
    // Tokens count where the client had them, paid or not.
    const auto key = answers.keys.settle(
        open.key, open.use, {.tokens = open.tokens, .credits = paid, .counts = open.counts},
        now.at);
    if (key) store_key(*key);
  }
  forget_answer(id, fate);
}

void Core::State::forget_answer(const billing::AnswerId& id, billing::AnswerFate fate) {
  effect([this, id, fate] { parts.world.answer_settled(id, fate); });
}

void Core::State::bar_server(const PublicKey& worker, Moment) {
  const UnixMillis until = trust.book().record(worker).suspended_until;
  parts.book.bar(worker, until);
  effect([this, worker] { parts.world.bar_server(worker); });
}

}  // namespace weft::jobs
