// What workers were asked and what they answered, kept until the core has settled it: an answer is
// reported when it has ended, and an audit of it is asked and read with what was kept. Shadow
// requests, which newcomers are asked to be known by, are kept and reported in the same way; no
// client reads their tokens.
//
// Threading: the thread of inference; listen() before it starts. Lifetime: desk and thread outlive
// it. Errors: an audit that cannot be done comes back as one without a verdict. Bounds: those of
// the desk for what is under way, AnswerChecks::open_max for what has ended.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "apps/coordinator/http/answer_accounts.h"
#include "apps/coordinator/http/inference_thread.h"
#include "common/protocol/serving.h"
#include "decisions/billing/answers.h"
#include "decisions/inference/desk.h"

namespace weft::coordinator {

class CompletionRecords {
 public:
  // One answer, from when it is asked on.
  struct Asked {
    billing::AnswerId answer;
    std::string model;
    std::uint32_t embedding = 0;  // Width of the model's hidden states.
    bool rounded = false;         // Activations in int8, whose fingerprints differ by more.
    protocol::serving::Ask ask;
    bool must_audit = false;  // Its client waits for the audit.
    bool shadow = false;
  };

  CompletionRecords(InferenceThread& thread, const inference::Desk& desk)
      : thread_(thread), desk_(desk) {}

  void listen(AnswerListener listener) { listener_ = std::move(listener); }
  [[nodiscard]] bool is_listened_to() const { return listener_.ended != nullptr; }

  // Keeps it under a request's id that no other one has.
  [[nodiscard]] inference::RequestId add(Asked asked);
  // Null once it was reported; valid until add() or report().
  [[nodiscard]] const Asked* find(inference::RequestId request) const;
  // The answer has ended. One that succeeded is asked of newcomers too, if they have room.
  void report(inference::RequestId request, const inference::AnswerEnd& end);
  // An answer that no worker was asked for.
  void report_unasked(const billing::AnswerId& answer, const std::string& reason);
  // Reports as failed what has not ended.
  void fail_all();

  // Comes back as AnswerListener::audited, also where the answer is not known any more.
  void audit(const billing::AnswerAuditOrder& order, inference::Desk& desk, Instant now);
  void audit_failed(const billing::AnswerId& answer);
  void audited(inference::RequestId request, const inference::AuditEnd& end);
  // Comes back as AnswerListener::traced.
  void trace(const billing::AnswerTraceOrder& order, inference::Desk& desk, Instant now);
  void trace_failed(const billing::AnswerId& answer) { listener_.traced({.id = answer}); }
  void traced(inference::RequestId request, const inference::TraceEnd& end);
  // Forgets what an audit would need.
  void settled(const billing::AnswerId& answer) { ended_.erase(answer); }

 private:
  struct Ended {
    Asked asked;               // With the tokens that were drawn.
    std::uint32_t tokens = 0;  // See AnswerEnd::checked_tokens.
    bool whole = false;        // See AnswerEnd::checked_to_its_end.
    bool exact = false;        // As AnswerEnd.
    inference::Prints prints{};
    std::optional<inference::Pipeline> pipeline{};
  };
  void shadow(const Asked& asked);

  InferenceThread& thread_;
  const inference::Desk& desk_;
  AnswerListener listener_;
  inference::RequestId ids_ = 0;
  std::map<inference::RequestId, Asked> asked_;
  std::map<billing::AnswerId, Ended> ended_;
  std::map<inference::RequestId, billing::AnswerId> audits_, traces_;
};

}  // namespace weft::coordinator
