// Keeps the questions to workers and their answers until the core has settled each answer. An
// answer is reported to the core when it ends, and its audit uses the kept record. Shadow requests,
// which test newcomers, are kept and reported in the same way; no client reads their tokens.
//
// Threading: the thread of inference; listen() before it starts. Lifetime: desk and thread outlive
// the records. Errors: an audit that cannot be done is reported without a verdict. Bounds: the
// desk's bounds for running answers, AnswerChecks::open_max for ended answers.
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
  // A request for one answer that was handed to the desk.
  struct Asked {
    billing::AnswerId answer;
    std::string model;
    Hash file{};                  // SHA-256 of the model's file.
    std::uint32_t embedding = 0;  // Width of the model's hidden states.
    bool rounded = false;         // True for int8 activations, whose fingerprints differ by more.
    protocol::serving::Ask ask;
    bool must_audit = false;  // The client gets the answer only after its audit.
    bool shadow = false;
  };

  CompletionRecords(InferenceThread& thread, const inference::Desk& desk)
      : thread_(thread), desk_(desk) {}

  void listen(AnswerListener listener) { listener_ = std::move(listener); }
  [[nodiscard]] bool is_listened_to() const { return listener_.ended != nullptr; }

  // Keeps the record under a new request id, which it returns.
  [[nodiscard]] inference::RequestId add(Asked asked);
  // The record of a request, valid until add() or report(); null once the request was reported.
  [[nodiscard]] const Asked* find(inference::RequestId request) const;
  // Reports an ended answer to the core. A successful answer is also asked of newcomers as a shadow
  // request if they have room.
  void report(inference::RequestId request, const inference::AnswerEnd& end);
  // Reports an answer that was asked of no worker.
  void report_unasked(const billing::AnswerId& answer, const std::string& reason);
  // Reports all running answers to the core as failed.
  void fail_all();

  // Audits an answer. The result is reported with AnswerListener::audited, even if no record of the
  // answer exists any more.
  void audit(const billing::AnswerAuditOrder& order, inference::Desk& desk, Instant now);
  void audit_failed(const billing::AnswerId& answer);
  void audited(inference::RequestId request, const inference::AuditEnd& end);
  // Searches the guilty stage of a refuted answer that a chain gave. The result is reported with
  // AnswerListener::traced.
  void trace(const billing::AnswerTraceOrder& order, inference::Desk& desk, Instant now);
  void trace_failed(const billing::AnswerId& answer);
  void traced(inference::RequestId request, const inference::TraceEnd& end);
  // Forgets the record that an audit would need.
  void settled(const billing::AnswerId& answer) { ended_.erase(answer); }

 private:
  struct Ended {
    Asked asked;               // The request and its drawn tokens.
    std::uint32_t tokens = 0;  // See AnswerEnd::checked_tokens.
    bool whole = false;        // See AnswerEnd::checked_to_its_end.
    bool exact = false;        // See AnswerEnd::exact.
    inference::Prints prints{};
    std::optional<inference::Pipeline> pipeline{};  // The chain that answered, if any.
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
