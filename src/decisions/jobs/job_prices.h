// Prices before a job runs: the present price of a unit, the measured cost of equal work, and the
// price on which the client and the coordinator agree.
//
// Threading: one thread. Bounds: UsedQuotes::quotes_max quotes, MeasuredWork's measurements.
#pragma once

#include <optional>
#include <vector>

#include "decisions/jobs/core_tables.h"
#include "decisions/jobs/used_quotes.h"
#include "decisions/scheduler/measured_work.h"
#include "decisions/scheduler/quote.h"
#include "decisions/scheduler/seasons.h"

namespace weft::jobs {

class JobPrices {
 public:
  struct Now {
    scheduler::Quote quote;
    std::optional<scheduler::Estimate> known;  // The estimate, if equal work was measured before.
  };

  explicit JobPrices(CoreTables& tables) : tables_(tables) {}
  JobPrices(const JobPrices&) = delete;

  void restore(const store::Loaded& loaded);

  [[nodiscard]] Now now(const manifest::Manifest& manifest, const Hash& work, Moment now);
  // The present price of a unit, independent of a job.
  [[nodiscard]] MicroCredits per_unit(Moment now) const;
  // Quotes the price of the job if it were submitted now. Changes nothing. The answer is not signed
  // yet.
  void quote(const QuoteWanted& wanted, Moment now, Answer<protocol::api::Quote> answer);

  // The price terms of a submission. Fails with insufficient_funds if the client's maximum is below
  // the cost of the work, and with invalid_argument if its quote has expired.
  [[nodiscard]] Result<scheduler::PriceTerms> agree(const Submission& submission, const Now& made,
                                                    Moment now) const;
  // Fails with already_exists if the quote was used for another job.
  [[nodiscard]] Result<> quote_is_fresh(const Submission& submission, Moment now);
  // Notes that the submission was accepted: its quote is good for no other job.
  void use_quote(const Submission& submission);

  // Notes the measurement of a running job by a worker's canary.
  void note_measured(const scheduler::Measured& measured, Moment now);
  [[nodiscard]] std::vector<double> paces_of(const Hash& work) const {
    return measured_work_.paces_of(work);
  }
  // Observes about once a minute how busy the fleet is; the result is stored at the end of each
  // hour.
  void observe_season(Moment now);

 private:
  [[nodiscard]] scheduler::Estimate known_price(const manifest::Manifest& manifest, double pace,
                                                MicroCredits per_unit) const;

  CoreTables& tables_;
  scheduler::Seasons seasons_;
  UsedQuotes used_quotes_;
  scheduler::MeasuredWork measured_work_;
  std::optional<Instant> season_observed_;
};

}  // namespace weft::jobs
