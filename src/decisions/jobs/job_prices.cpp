#include "decisions/jobs/job_prices.h"

#include <algorithm>
#include <utility>

#include "common/base/format.h"

namespace weft::jobs {

namespace {

namespace api = protocol::api;

double credits(MicroCredits amount) { return static_cast<double>(amount) / 1e6; }

}  // namespace

JobPrices::Now JobPrices::now(const manifest::Manifest& manifest, const Hash& work, Moment now) {
  const scheduler::Job job = scheduler::job_from({}, manifest);
  Now made;
  made.quote =
      scheduler::quote(tables_.settings.scheduler.pricing,
                       tables_.scheduler.views().market(job, now.at), seasons_.factor(now.unix));
  if (const auto pace = measured_work_.pace_of(work))
    made.known = known_price(manifest, *pace, made.quote.per_unit);
  return made;
}

scheduler::Estimate JobPrices::known_price(const manifest::Manifest& manifest, double pace,
                                           MicroCredits per_unit) const {
  const scheduler::Job job = scheduler::job_from({}, manifest);
  scheduler::Pricing pricing = tables_.settings.scheduler.pricing;
  pricing.per_unit = per_unit;
  return scheduler::estimate(
      {.workgroups = job.workgroups, .tasks = job.tasks, .replicas = job.replicas}, pace, pricing);
}

void JobPrices::quote(const QuoteWanted& wanted, Moment now, Answer<api::Quote> answer) {
  const manifest::Manifest& manifest = *wanted.manifest;
  const Now made = this->now(manifest, wanted.work, now);
  const MicroCredits price = made.known ? made.known->price : 0;
  api::Quote view{.client = wanted.client.text(),
                  .manifest = wanted.manifest_hash.text(),
                  .base = made.quote.base,
                  .demand = made.quote.demand,
                  .capability = made.quote.capability,
                  .season = made.quote.season,
                  .per_unit = made.quote.per_unit,
                  .units = made.known ? made.known->units : 0,
                  .price = price,
                  .price_per_task = price / manifest.split.tasks,
                  .tasks = manifest.split.tasks,
                  .replicas = manifest.verify.replicas,
                  .max_price = scheduler::default_max(price),
                  .budget = manifest.budget,
                  .made = now.unix,
                  .valid_until = now.unix + quote_valid_ms};
  tables_.outbox.effect([answer = std::move(answer), view = std::move(view)] { answer(view); });
}

Result<scheduler::PriceTerms> JobPrices::agree(const Submission& submission, const Now& made,
                                               Moment now) const {
  const MicroCredits budget = submission.manifest->budget;
  scheduler::PriceTerms terms{
      .budget = budget, .quoted = 0, .max = submission.price_max.value_or(0)};
  MicroCredits known = made.known ? made.known->price : 0;
  if (submission.quote) {
    if (submission.quote->until < now.unix) {
      return fail(ErrorCode::invalid_argument,
                  "The quote ended {} s ago: ask for another one (weft quote, POST "
                  "/v1/jobs/quote).",
                  (now.unix - submission.quote->until + 999) / 1000);
    }
    terms.quoted = submission.quote->price;
    known = terms.quoted;
    if (known > budget) {
      return fail(ErrorCode::insufficient_funds,
                  "The job costs {:.6f} credits by its quote; its budget is {:.6f}: raise "
                  "\"budget\" in the manifest.",
                  credits(known), credits(budget));
    }
  }
  if (terms.max > 0 && known > terms.max) {
    return fail(ErrorCode::insufficient_funds,
                "The job costs {:.6f} credits {}; its max_price is {:.6f}: allow more with weft "
                "submit --max-price CREDITS.",
                credits(known),
                submission.quote ? "by its quote" : "as the same work was measured before",
                credits(terms.max));
  }
  if (submission.price_max) return terms;
  if (submission.quote) {
    terms.max = scheduler::default_max(known);
    return terms;
  }
  return scheduler::default_terms(
      budget, known,
      std::uint64_t{submission.manifest->split.tasks} * submission.manifest->verify.replicas);
}

Result<> JobPrices::quote_is_fresh(const Submission& submission, Moment now) {
  if (!submission.quote || !tables_.settings.quotes_count_once) return {};
  const QuotedPrice& quote = *submission.quote;
  if (used_quotes_.was_used(quote.id, quote.until))
    return fail(ErrorCode::already_exists,
                "The quote was used for another job: ask for one for this job (weft quote, POST "
                "/v1/jobs/quote).");
  if (used_quotes_.is_full(now.unix))
    return fail(ErrorCode::unavailable,
                "The job was not accepted: all clients together have used {} quotes within {} "
                "minutes, the most that the coordinator allows. Try again in a few minutes, or "
                "submit the job without its quote.",
                UsedQuotes::quotes_max, quote_valid_ms / 60'000);
  return {};
}

// Notes the measurement of a running job by a worker's canary.
void JobPrices::note_measured(const scheduler::Measured& measured, Moment now) {
  auto* const job = tables_.jobs.find(measured.job);
  if (job == nullptr || job->manifest->verify.anyone) return;
  const scheduler::Pace pace{.work = job->work,
                             .worker = measured.by,
                             .seconds = measured.seconds_per_workgroup,
                             .alone = measured.alone,
                             .time = now.unix};
  if (!(pace.seconds > 0) || pace.work == Hash{}) return;
  tables_.outbox.batch().paces.push_back({.row = pace});
  for (const scheduler::Pace& forgotten : measured_work_.add(pace))
    tables_.outbox.batch().paces.push_back({.row = forgotten, .change = store::Change::remove});
}

void JobPrices::restore(const store::Loaded& loaded) {
  for (const store::Pace& pace : loaded.paces) (void)measured_work_.add(pace);
  std::vector<double> hours(scheduler::Seasons::hours, -1);
  for (const store::Season& season : loaded.seasons) {
    if (season.hour < hours.size()) hours[season.hour] = season.busy;
  }
  seasons_.restore(hours);
}

// Observes about once a minute how busy the fleet is; stored at the end of each hour.
void JobPrices::observe_season(Moment now) {
  constexpr auto observe_every = std::chrono::minutes(1);
  if (season_observed_ && now.at - *season_observed_ < observe_every) return;
  season_observed_ = now.at;
  const auto busy = tables_.scheduler.views().busy();
  if (!busy || !seasons_.observe(now.unix, *busy)) return;
  const auto hours = seasons_.save();
  for (std::uint32_t hour = 0; hour < hours.size(); ++hour) {
    if (hours[hour] >= 0)
      tables_.outbox.batch().seasons.push_back({.hour = hour, .busy = hours[hour]});
  }
}

MicroCredits JobPrices::per_unit(Moment now) const {
  const auto market = tables_.scheduler.views().market(scheduler::Job{}, now.at);
  return scheduler::quote(tables_.settings.scheduler.pricing, market, seasons_.factor(now.unix))
      .per_unit;
}

void JobPrices::use_quote(const Submission& submission) {
  if (submission.quote) used_quotes_.use(submission.quote->id, submission.quote->until);
}

}  // namespace weft::jobs
