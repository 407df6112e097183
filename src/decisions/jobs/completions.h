// Answers of language models: the clients that may ask for one, the audits of answers and their
// verdicts, and the workers that are paid or blamed. The desk (decisions/inference) finds the
// workers.
//
// An answer is admitted, ends, may be audited, and its chain may be searched for the stage to
// blame. Then it is settled once: the workers are paid, or the client gets its credits back.
// Threading: one thread. Bounds: AnswerChecks::open_max answers, strikes_max workers with strikes.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "decisions/billing/answers.h"
#include "decisions/jobs/answer_weighing.h"
#include "decisions/jobs/client_keys.h"
#include "decisions/jobs/completion_pay.h"
#include "decisions/jobs/core_tables.h"
#include "decisions/jobs/grants.h"
#include "decisions/jobs/rulings.h"
#include "decisions/jobs/stakes.h"

namespace weft::jobs {

class Completions {
 public:
  // The most workers that have strikes (tokens that roots found wrong). Beyond that the strikes of
  // the worker with the lowest key are forgotten.
  static constexpr std::size_t strikes_max = 4096;

  Completions(CoreTables& tables, AnswerWeighing& weighing, CompletionPay& pay, ClientKeys& keys,
              Grants& grants, Stakes& stakes, Rulings& rulings)
      : tables_(tables),
        weighing_(weighing),
        pay_(pay),
        keys_(keys),
        grants_(grants),
        stakes_(stakes),
        rulings_(rulings) {}
  Completions(const Completions&) = delete;

  // Admits answers and sets aside the most that they can cost. Each of them ends with one
  // answered().
  void admit(const billing::AnswerOrder& order, Moment now,
             Answer<billing::AnswerAdmission> answer);
  void answered(billing::AnswerReport report, Moment now);
  void audited(billing::AnswerAudited audited, Moment now);
  void traced(const billing::AnswerTraced& traced, Moment now);

  [[nodiscard]] const billing::AnswerCounters& counters() const { return counters_; }
  // The number of answers that are under way or being audited.
  [[nodiscard]] std::size_t size() const { return open_.size(); }

 private:
  [[nodiscard]] trust::CheckRates rates_of(const PublicKey& worker, Moment now) const;
  [[nodiscard]] bool audit_is_due(const billing::AnswerId& id, billing::OpenAnswer& open,
                                  Moment now);
  void ask_audit(const billing::AnswerId& id, Moment now);
  void judge(const billing::AnswerId& id, std::int64_t lead, Moment now);
  // True if the answer's chain is now searched for the stage to blame: the answer is judged when
  // the search has ended.
  [[nodiscard]] bool trace(const billing::AnswerId& id, std::int64_t lead, Moment now);
  [[nodiscard]] std::uint32_t strikes(const billing::OpenAnswer& open);
  void conclude(const billing::AnswerId& id, MicroCredits due, billing::AnswerFate fate,
                std::string_view why, Moment now);
  void forget(const billing::AnswerId& id, billing::AnswerFate fate);

  CoreTables& tables_;
  AnswerWeighing& weighing_;
  CompletionPay& pay_;
  ClientKeys& keys_;
  Grants& grants_;
  Stakes& stakes_;
  Rulings& rulings_;
  std::map<billing::AnswerId, billing::OpenAnswer> open_;
  // For each worker, the number of tokens that two roots found to differ from what the request's
  // settings give. The second such token convicts the worker.
  std::map<PublicKey, std::uint32_t> strikes_;
  billing::AnswerCounters counters_;
};

}  // namespace weft::jobs
