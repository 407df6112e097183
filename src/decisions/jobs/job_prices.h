// Prices before a job runs: what a unit costs now, what the same work has taken before, and what
// the client and the coordinator agree on.
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
    std::optional<scheduler::Estimate> known;  // Where the same work was measured before.
  };

  explicit JobPrices(CoreTables& tables) : tables_(tables) {}
  JobPrices(const JobPrices&) = delete;

  void restore(const store::Loaded& loaded);

  [[nodiscard]] Now now(const manifest::Manifest& manifest, const Hash& work, Moment now);
  // What a unit costs now, of no job in particular.
  [[nodiscard]] MicroCredits per_unit(Moment now) const;
  // What the job would cost if it were submitted now. Changes nothing. The answer has no signature
  // yet.
  void quote(const QuoteWanted& wanted, Moment now, Answer<protocol::api::Quote> answer);

  // insufficient_funds if the client does not pay what the work costs, invalid_argument if
  // its quote has ended.
  [[nodiscard]] Result<scheduler::PriceTerms> agree(const Submission& submission, const Now& made,
                                                    Moment now) const;
  // already_exists for a quote that counted for another job.
  [[nodiscard]] Result<> quote_is_fresh(const Submission& submission, Moment now);
  // The submission is taken: its quote counts for no other job.
  void use_quote(const Submission& submission);

  // What a worker's canary showed of a running job.
  void note_measured(const scheduler::Measured& measured, Moment now);
  [[nodiscard]] std::vector<double> paces_of(const Hash& work) const {
    return measured_work_.paces_of(work);
  }
  // How busy the fleet is, about once a minute; stored at each hour's end.
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
