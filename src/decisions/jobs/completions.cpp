#include "decisions/jobs/completions.h"

#include <algorithm>
#include <utility>

#include "common/base/check.h"
#include "common/base/format.h"
#include "common/base/log.h"

namespace weft::jobs {

namespace {

// An answer is a task of index 0 to the referee.
constexpr std::uint32_t stage_task = 0;
constexpr std::uint32_t unheard_max = 4;  // Silent auditors of one answer.

}  // namespace

void Completions::admit(const billing::AnswerOrder& asked, Moment now,
                        Answer<billing::AnswerAdmission> answer) {
  billing::AnswerAdmission out;
  const auto reply = [&] {
    tables_.outbox.effect([answer = std::move(answer), out = std::move(out)] { answer(out); });
  };
  billing::AnswerOrder order = asked;
  check(!order.ids.empty(), "a request has an answer");
  const std::size_t answers = order.ids.size();
  const billing::ApiKey* const key = keys_.ring().find(order.key);
  if (key != nullptr && order.fits_budget) {
    // If the client named no bound, the bound is the number of tokens that the budget covers.
    if (const auto left = keys_.ring().tokens_left(*key, order.price);
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
  if (key != nullptr && tables_.accounts.owners().is_revoked(key->owner))
    return refuse(ErrorCode::unauthenticated,
                  "The device that made the API key was revoked by its owner.", {});
  if (key != nullptr && each > 0) {
    const OwnerId owner = tables_.accounts.owner_of(key->owner);
    if (auto funded = grants_.fund(owner, now); !funded)
      return refuse(funded.error().code, funded.error().message, {});
    const MicroCredits balance = tables_.accounts.ledger().spendable(owner).total();
    if (balance < use.cost_worst) {
      return refuse(ErrorCode::insufficient_funds,
                    weft::format("The account of the API key holds {:.6f} credits; the request "
                                 "could cost {:.6f}. A smaller max_tokens costs less.",
                                 static_cast<double>(balance) / 1e6,
                                 static_cast<double>(use.cost_worst) / 1e6),
                    std::chrono::hours(24));
    }
  }
  if (open_.size() + answers > tables_.settings.answers.open_max)
    return refuse(ErrorCode::unavailable, "Too many answers are under way.",
                  std::chrono::seconds(1));
  auto admitted = keys_.admit(order.key, use, now.at);
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
    if (each > 0 && !pay_.open(id, key->owner, each, order.model, now)) open.held = 0;
    open_.emplace(id, std::move(open));
    out.answers.push_back(id);
  }
  reply();
}

void Completions::answered(billing::AnswerReport report, Moment now) {
  const inference::AnswerEnd& end = report.end;
  auto found = open_.find(report.id);
  if (found == open_.end()) {
    if (open_.size() >= tables_.settings.answers.open_max)
      return forget(report.id, billing::AnswerFate::unaudited);
    // An answer that was not admitted is free.
    found = open_.emplace(report.id, billing::OpenAnswer{}).first;
  }
  billing::OpenAnswer& open = found->second;
  open.work = end.work;
  for (const inference::WorkShare& share : end.work) open.workers.push_back(share.worker);
  if (end.reason == "failed" || end.checked_tokens() == 0 || open.workers.empty())
    return conclude(report.id, 0, billing::AnswerFate::nothing, "nothing was answered", now);
  // The worker's number of prompt tokens is believed up to the largest number possible.
  open.tokens = std::min<std::uint64_t>(end.prompt_tokens, open.prompt_max) + end.answered.size();
  open.due = std::min(ledger::price_of_tokens(open.tokens, open.price), open.held);
  if (!billing::prints_complete(end.prints, end.checked_tokens(), end.checked_to_its_end()))
    return conclude(report.id, 0, billing::AnswerFate::refuted,
                    "it came without the fingerprints that it could be verified by", now);
  if (!audit_is_due(report.id, open, now) && !report.must_audit)
    return conclude(report.id, open.due, billing::AnswerFate::believed, "believed by reputation",
                    now);
  ask_audit(report.id, now);
}

trust::CheckRates Completions::rates_of(const PublicKey& worker, Moment now) const {
  const double doubt = 1 - tables_.trust.book().reputation(worker, now.unix);
  const double floor = tables_.settings.answers.floor;
  return {.replica = tables_.trust.book().established(worker, now.unix)
                         ? floor + (1 - floor) * doubt * doubt
                         : 1,
          .audit = 0,
          .trap = 0,
          .parts = 1};
}

// Draws if an answer is audited. The draw is made after the answer has ended, once for all workers
// that gave it, at the rate of the least trusted one. Every answer of a worker is audited if the
// worker could gain more by cheating than it would lose when found out.
bool Completions::audit_is_due(const billing::AnswerId& id, billing::OpenAnswer& open, Moment now) {
  double rate = 0;
  for (const PublicKey& worker : open.workers) {
    trust::CheckRates rates = rates_of(worker, now);
    const MicroCredits stake =
        trust::stake_for(open.due, rates, tables_.settings.referee.checks.collusion);
    const MicroCredits held = tables_.accounts.slashable_stake(tables_.accounts.owner_of(worker)) -
                              stakes_.at_risk(worker);
    if (stake > held) rates.replica = 1;
    open.stake = std::max(open.stake, std::min(stake, std::max<MicroCredits>(held, 0)));
    rate = std::max(rate, rates.replica);
  }
  return trust::draw(tables_.settings.secret, trust::Purpose::audit,
                     {.job = id, .index = stage_task}, open.workers.front()) < rate;
}

void Completions::ask_audit(const billing::AnswerId& id, Moment now) {
  billing::OpenAnswer& open = open_.at(id);
  if (!std::exchange(open.audited, true)) {
    for (const PublicKey& worker : open.workers) stakes_.risk(worker, open.stake);
  }
  billing::AnswerAuditOrder order{.id = id, .except = open.workers};
  order.except.insert(order.except.end(), open.asked.begin(), open.asked.end());
  // The results of newcomers decide nothing; roots are asked first.
  const auto least = open.without_roots || !tables_.settings.referee.defences.only_roots_convict
                         ? trust::Level::established
                         : trust::Level::root;
  for (const auto& [key, worker] : tables_.workers.all()) {
    if (tables_.counted_level(key, now.unix) < least) order.except.push_back(key);
  }
  order.draw =
      trust::draw_bits(tables_.settings.secret, trust::Purpose::auditor,
                       {.job = id, .index = stage_task}, open.workers.front(), open.asked.size());
  ++counters_.audits;
  tables_.outbox.effect([this, order = std::move(order)] { tables_.world.audit_answer(order); });
}

// Counts votes: one for all workers that gave the answer, and one of each auditor. A lead of two
// votes decides. If no worker is left to ask, any lead decides, but convicts no worker.
void Completions::audited(billing::AnswerAudited audited, Moment now) {
  const auto found = open_.find(audited.id);
  if (found == open_.end() || found->second.workers.empty() || found->second.lead) return;
  billing::OpenAnswer& open = found->second;
  weighing_.read(open, audited, now);
  const bool unasked =
      audited.verdict == billing::AnswerVerdict::undecided || audited.auditors.empty();
  if (unasked && !std::exchange(open.without_roots, true) &&
      tables_.settings.referee.defences.only_roots_convict)
    return ask_audit(audited.id, now);
  const bool decides = std::ranges::none_of(audited.auditors, [&](const PublicKey& auditor) {
    return tables_.counted_level(auditor, now.unix) == trust::Level::newcomer;
  });
  const bool unheard = !unasked && (audited.verdict == billing::AnswerVerdict::unheard || !decides);
  if (!unasked)
    open.asked.insert(open.asked.end(), audited.auditors.begin(), audited.auditors.end());
  if (unheard && ++open.unheard < unheard_max) return ask_audit(audited.id, now);
  if (!unasked && !unheard) {
    const bool agrees = audited.verdict == billing::AnswerVerdict::agrees;
    (agrees ? open.agreeing : open.differing).push_back(audited.auditors.front());
    if (!agrees) {
      ++counters_.mismatches;
      if (tables_.trust.level(audited.auditors.front(), now.unix) == trust::Level::root) {
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
      sum += tables_.counted_level(each, now.unix) == trust::Level::established ? 1 : 2;
    return sum;
  };
  const bool newcomers = std::ranges::any_of(open.workers, [&](const PublicKey& worker) {
    return tables_.counted_level(worker, now.unix) == trust::Level::newcomer;
  });
  const std::int64_t lead = (newcomers ? 0 : 1) + weight(open.agreeing) - weight(open.differing);
  constexpr std::int64_t enough = 2;
  if (!unasked && !unheard && lead < enough && lead > -enough) return ask_audit(audited.id, now);
  if (open.agreeing.empty() && open.differing.empty()) {
    ++counters_.unaudited;
    return conclude(audited.id, 0, billing::AnswerFate::unaudited,
                    "no other worker could verify it", now);
  }
  judge(audited.id, lead, now);
}

void Completions::judge(const billing::AnswerId& id, std::int64_t lead, Moment now) {
  billing::OpenAnswer& open = open_.at(id);
  // Only roots convict, and two of them must agree.
  const auto roots = [&](const std::vector<PublicKey>& those) {
    return std::ranges::count_if(those, [&](const PublicKey& each) {
      return tables_.trust.level(each, now.unix) == trust::Level::root;
    });
  };
  const bool levels = tables_.settings.referee.defences.only_roots_convict;
  const bool convicts =
      levels ? roots(lead > 0 ? open.agreeing : open.differing) >= 2 : lead >= 2 || lead <= -2;
  if (lead < 0 && convicts && trace(id, lead, now)) return;
  const auto confirm = [&](const std::vector<PublicKey>& those, const std::vector<PublicKey>& by) {
    if (levels && roots(by) == 0) return;
    // A newcomer's vote counts a tenth of an established worker's.
    const bool believed = levels || std::ranges::any_of(by, [&](const PublicKey& each) {
                            return tables_.trust.book().established(each, now.unix);
                          });
    for (const PublicKey& each : those) {
      tables_.trust.standing().book().confirm(each, believed ? 1.0 : 0.1, now.unix);
      tables_.book.set_known(each, tables_.trust.level(each, now.unix) != trust::Level::newcomer);
    }
  };
  const auto blame = [&](const PublicKey& worker, MicroCredits penalty, bool for_certain,
                         const std::string& why) {
    if (!for_certain && levels) return;
    if (!for_certain) return tables_.trust.standing().book().doubt(worker, now.unix);
    rulings_.carry_out(tables_.trust.convicted({.job = id, .index = stage_task}, worker, penalty,
                                               open.due, why, now.unix),
                       now);
    tables_.bar_server(worker);
  };
  if (lead > 0) {
    weighing_.settle(open, AnswerWeighing::Verdict::confirmed);
    confirm(open.workers, open.agreeing);
    for (const PublicKey& auditor : open.agreeing) {
      auto by = open.workers;
      std::ranges::copy_if(open.agreeing, std::back_inserter(by),
                           [&](const PublicKey& each) { return each != auditor; });
      confirm({auditor}, by);
    }
    for (const PublicKey& auditor : open.differing)
      blame(auditor, open.stake, convicts,
            "The worker reported an audit of an answer that is refuted.");
    return conclude(id, open.due, billing::AnswerFate::verified, "verified by another worker", now);
  }
  for (const PublicKey& auditor : open.differing) {
    auto by = open.differing;
    std::erase(by, auditor);
    if (!by.empty() && lead < 0) confirm({auditor}, by);
  }
  if (lead == 0 && !levels) {
    for (const PublicKey& auditor : open.differing)
      tables_.trust.standing().book().doubt(auditor, now.unix);
  }
  for (const PublicKey& auditor : open.agreeing)
    blame(auditor, open.stake, convicts && lead < 0,
          "The worker confirmed an answer that other workers refute.");
  // In a chain only the stage that two roots found is convicted; all other members lose only their
  // pay.
  const bool alone = convicts && open.workers.size() == 1 && strikes(open) >= 2;
  weighing_.settle(open,
                   alone ? AnswerWeighing::Verdict::convicted : AnswerWeighing::Verdict::refuted);
  for (const PublicKey& worker : std::vector(open.workers))
    blame(worker, open.stake, alone || worker == open.guilty,
          open.guilty
              ? "The worker handed on values that its layers do not compute from their input."
              : "The worker's answer is not the model's answer.");
  conclude(id, 0, billing::AnswerFate::refuted, "it is not what the model says", now);
}

// Wrong hidden states are traced through the stages. A token that does not follow from the settings
// is not traced, because either end of a chain may have chosen it. If workers count by heads, no
// roots could search.
bool Completions::trace(const billing::AnswerId& id, std::int64_t lead, Moment now) {
  billing::OpenAnswer& open = open_.at(id);
  if (!tables_.world.traces() || open.workers.size() < 2 || open.lead || !open.prints_differ ||
      !tables_.settings.referee.defences.only_roots_convict)
    return false;
  billing::AnswerTraceOrder order{.id = id, .except = open.workers};
  for (const auto& [key, worker] : tables_.workers.all()) {
    if (tables_.counted_level(key, now.unix) != trust::Level::root) order.except.push_back(key);
  }
  order.draw = trust::draw_bits(tables_.settings.secret, trust::Purpose::auditor,
                                {.job = id, .index = 1}, open.workers.front(), open.asked.size());
  open.lead = lead;
  tables_.outbox.effect([this, order = std::move(order)] { tables_.world.trace_answer(order); });
  return true;
}

void Completions::traced(const billing::AnswerTraced& traced, Moment now) {
  const auto found = open_.find(traced.id);
  if (found == open_.end() || !found->second.lead) return;
  billing::OpenAnswer& open = found->second;
  open.guilty = billing::found_by_two(traced.findings);
  // True if the stage took part in the answer and the workers that found it are still roots.
  const bool by_roots =
      std::ranges::all_of(traced.findings, [&](const inference::TraceFinding& finding) {
        return tables_.trust.level(finding.auditor, now.unix) == trust::Level::root;
      });
  if (!by_roots || (open.guilty && !std::ranges::contains(open.workers, *open.guilty)))
    open.guilty.reset();
  judge(traced.id, *open.lead, now);
}

// Counts the findings of roots against the worker that answered, including those about this answer.
// Wrong fingerprints alone are enough for a conviction; of tokens that do not follow from the
// answer's settings, two are needed.
std::uint32_t Completions::strikes(const billing::OpenAnswer& open) {
  constexpr std::uint32_t enough = 2;
  const bool by_tokens = tables_.settings.referee.defences.only_roots_convict &&
                         !open.prints_differ && open.doubtful.has_value();
  if (!by_tokens) return enough;
  const PublicKey& worker = open.workers.front();
  const auto known = strikes_.find(worker);
  const std::uint32_t all = (known == strikes_.end() ? 0 : known->second) + *open.doubtful;
  if (all >= enough) strikes_.erase(worker);
  // Workers without strikes take no room in the table.
  if (all == 0 || all >= enough) return std::min(all, enough);
  if (strikes_.size() >= strikes_max && known == strikes_.end()) strikes_.erase(strikes_.begin());
  strikes_[worker] = all;
  return all;
}

void Completions::conclude(const billing::AnswerId& id, MicroCredits due, billing::AnswerFate fate,
                           std::string_view why, Moment now) {
  auto node = open_.extract(id);
  if (node.empty()) return;
  const billing::OpenAnswer& open = node.mapped();
  if (open.audited) {
    for (const PublicKey& worker : open.workers) stakes_.release(worker, open.stake);
  }
  if (!open.key.empty()) {
    const MicroCredits paid = pay_.end(id, open, due, why, now);
    paid > 0 ? ++counters_.paid : ++counters_.refunded;
    // Tokens count if the client received them, paid or not.
    keys_.settle(open.key, open.use,
                 {.tokens = open.tokens, .credits = paid, .counts = open.counts}, now.at);
  }
  forget(id, fate);
}

void Completions::forget(const billing::AnswerId& id, billing::AnswerFate fate) {
  tables_.outbox.effect([this, id, fate] { tables_.world.answer_settled(id, fate); });
}

}  // namespace weft::jobs
