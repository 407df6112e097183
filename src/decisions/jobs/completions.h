// Answers of language models as verdicts: who may ask for one, whether it is audited, what the
// audits say together, and who is paid or blamed for it. The desk (decisions/inference) finds the
// workers.
//
// An answer is admitted, ends, may be audited and searched, and then ends here once: paid, or given
// back. Threading: one thread. Bounds: AnswerChecks::open_max answers, strikes_max workers with
// strikes.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "decisions/billing/answers.h"
#include "decisions/jobs/client_keys.h"
#include "decisions/jobs/completion_pay.h"
#include "decisions/jobs/core_tables.h"
#include "decisions/jobs/grants.h"
#include "decisions/jobs/rulings.h"
#include "decisions/jobs/stakes.h"

namespace weft::jobs {

class Completions {
 public:
  // Workers of which tokens are counted that roots found wrong: those that were named last.
  static constexpr std::size_t strikes_max = 4096;

  Completions(CoreTables& tables, CompletionPay& pay, ClientKeys& keys, Grants& grants,
              Stakes& stakes, Rulings& rulings)
      : tables_(tables),
        pay_(pay),
        keys_(keys),
        grants_(grants),
        stakes_(stakes),
        rulings_(rulings) {}
  Completions(const Completions&) = delete;

  // Sets the most that the answers can cost aside. Each of them ends with one answered().
  void admit(const billing::AnswerOrder& order, Moment now,
             Answer<billing::AnswerAdmission> answer);
  void answered(billing::AnswerReport report, Moment now);
  void audited(const billing::AnswerAudited& audited, Moment now);
  void traced(const billing::AnswerTraced& traced, Moment now);

  [[nodiscard]] const billing::AnswerCounters& counters() const { return counters_; }
  // Answers under way or being audited.
  [[nodiscard]] std::size_t size() const { return open_.size(); }

 private:
  [[nodiscard]] trust::CheckRates rates_of(const PublicKey& worker, Moment now) const;
  [[nodiscard]] bool audit_is_due(const billing::AnswerId& id, billing::OpenAnswer& open,
                                  Moment now);
  void ask_audit(const billing::AnswerId& id, Moment now);
  void judge(const billing::AnswerId& id, std::int64_t lead, Moment now);
  // Whether a stage of its chain is searched now: it is judged when that has ended.
  [[nodiscard]] bool trace(const billing::AnswerId& id, std::int64_t lead, Moment now);
  [[nodiscard]] std::uint32_t strikes(const billing::OpenAnswer& open);
  void conclude(const billing::AnswerId& id, MicroCredits due, billing::AnswerFate fate,
                std::string_view why, Moment now);
  void forget(const billing::AnswerId& id, billing::AnswerFate fate);

  CoreTables& tables_;
  CompletionPay& pay_;
  ClientKeys& keys_;
  Grants& grants_;
  Stakes& stakes_;
  Rulings& rulings_;
  std::map<billing::AnswerId, billing::OpenAnswer> open_;
  // Tokens of each worker that two roots found not to be what their settings give: the second
  // convicts.
  std::map<PublicKey, std::uint32_t> strikes_;
  billing::AnswerCounters counters_;
};

}  // namespace weft::jobs
