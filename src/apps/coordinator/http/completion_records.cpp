#include "apps/coordinator/http/completion_records.h"

#include <utility>

#include "common/base/log.h"
#include "common/crypto/keys.h"

namespace weft::coordinator {

inference::RequestId CompletionRecords::add(Asked asked) {
  const inference::RequestId id = ++ids_;
  asked_[id] = std::move(asked);
  return id;
}

const CompletionRecords::Asked* CompletionRecords::find(inference::RequestId request) const {
  const auto found = asked_.find(request);
  return found == asked_.end() ? nullptr : &found->second;
}

void CompletionRecords::report(inference::RequestId request, const inference::AnswerEnd& end) {
  auto node = asked_.extract(request);
  if (node.empty() || !listener_.ended) return;
  Asked& asked = node.mapped();
  asked.ask.answered = end.answered;
  const billing::AnswerId id = asked.answer;
  const bool must_audit = asked.must_audit;
  if (end.reason != "failed" && end.reason != "cancelled" && !asked.shadow) shadow(asked);
  ended_[id] = {.asked = std::move(asked),
                .tokens = end.checked_tokens(),
                .whole = end.checked_to_its_end(),
                .exact = end.exact,
                .prints = end.prints,
                .pipeline = end.pipeline};
  listener_.ended({.id = id, .end = end, .must_audit = must_audit});
}

void CompletionRecords::report_unasked(const billing::AnswerId& answer, const std::string& reason) {
  listener_.ended({.id = answer, .end = {.reason = reason}});
}

void CompletionRecords::fail_all() {
  while (!asked_.empty()) report(asked_.begin()->first, {.reason = "failed"});
}

// Asks newcomers as well, in a later event, because this function may run inside a call of the
// desk.
void CompletionRecords::shadow(const Asked& asked) {
  if (!desk_.has_room_for_shadow(asked.model)) return;
  Asked own{.answer = {},
            .model = asked.model,
            .file = asked.file,
            .embedding = asked.embedding,
            .rounded = asked.rounded,
            .ask = asked.ask,
            .shadow = true};
  own.ask.answered.clear();
  crypto::random_bytes(own.answer.bytes);
  const inference::RequestId id = add(own);
  const bool queued = thread_.post([this, id, model = std::move(own.model),
                                    ask = std::move(own.ask)](inference::Desk& desk, Instant time) {
    const auto begun = desk.ask({.id = id,
                                 .model = model,
                                 .conversation = id,
                                 .ask = ask,
                                 .for_newcomers = false,
                                 .shadow = true},
                                time);
    if (!begun) asked_.erase(id);
  });
  if (!queued) asked_.erase(id);
}

void CompletionRecords::audit(const billing::AnswerAuditOrder& order, inference::Desk& desk,
                              Instant now) {
  const auto found = ended_.find(order.id);
  if (found == ended_.end()) return audit_failed(order.id);
  const Ended& ended = found->second;
  inference::AuditRequest request{.id = ++ids_,
                                  .model = ended.asked.model,
                                  .ask = ended.asked.ask,
                                  .except = order.except,
                                  .draw = order.draw};
  // An audit draws the tokens of an answer again; an embedding has no tokens to draw.
  if (!request.ask.answered.empty())
    request.ask.redraw = billing::audit_tolerance(ended.asked.rounded, false).error_max;
  audits_[request.id] = order.id;
  desk.audit(std::move(request), now);
}

void CompletionRecords::audit_failed(const billing::AnswerId& answer) {
  listener_.audited({.id = answer});
}

void CompletionRecords::audited(inference::RequestId request, const inference::AuditEnd& end) {
  const auto node = audits_.extract(request);
  if (node.empty()) return;
  billing::AnswerAudited out{.id = node.mapped(), .auditors = end.auditors};
  const auto found = ended_.find(out.id);
  if (end.error || found == ended_.end()) {
    log_info("An answer could not be audited: {}",
             end.error ? end.error->message : "it is not known any more.");
    if (found != ended_.end() && !end.auditors.empty())
      out.verdict = billing::AnswerVerdict::unheard;
    return listener_.audited(std::move(out));
  }
  const Ended& ended = found->second;
  const billing::AuditReading reading =
      billing::read_audit(ended.prints, end,
                          {.tokens = ended.tokens,
                           .drawn = static_cast<std::uint32_t>(ended.asked.ask.answered.size()),
                           .complete = ended.whole},
                          ended.asked.embedding,
                          billing::audit_tolerance(ended.asked.rounded, ended.exact && end.exact));
  out.verdict = reading.verdict;
  out.reason = reading.reason;
  out.doubtful = reading.doubtful;
  out.ratios = reading.ratios;
  out.file = ended.asked.file;
  log_debug("An answer's audit: {:.2g} off, {:.2g} others. {}", reading.error, reading.missing,
            reading.reason);
  listener_.audited(std::move(out));
}

void CompletionRecords::trace(const billing::AnswerTraceOrder& order, inference::Desk& desk,
                              Instant now) {
  const auto found = ended_.find(order.id);
  if (found == ended_.end() || !found->second.pipeline) return trace_failed(order.id);
  const Ended& ended = found->second;
  const inference::RequestId id = ++ids_;
  traces_[id] = order.id;
  desk.trace({.id = id,
              .model = ended.asked.model,
              .ask = ended.asked.ask,
              .pipeline = *ended.pipeline,
              .prints = ended.prints,
              .error_max = billing::audit_tolerance(ended.asked.rounded, false).error_max,
              .except = order.except,
              .draw = order.draw},
             now);
}

void CompletionRecords::trace_failed(const billing::AnswerId& answer) {
  listener_.traced({.id = answer});
}

void CompletionRecords::traced(inference::RequestId request, const inference::TraceEnd& end) {
  const auto node = traces_.extract(request);
  if (!node.empty()) listener_.traced({.id = node.mapped(), .findings = end.findings});
}

}  // namespace weft::coordinator
