#include "decisions/jobs/job_submissions.h"

#include <algorithm>
#include <utility>

#include "common/base/counted.h"
#include "common/base/log.h"

namespace weft::jobs {

void JobSubmissions::may_submit(const JobOffer& offer, const Answer<bool>& answer) const {
  const auto look = [&]() -> Result<bool> {
    if (nonces_.contains(std::pair(offer.client, offer.nonce))) return true;
    const OwnerId owner = tables_.accounts.owner_of(offer.client);
    WEFT_OK(tables_.jobs.room_for(owner, offer.tasks));
    const MicroCredits held = tables_.accounts.ledger().spendable(owner).total();
    if (held + grants_.of_stranger(owner) < offer.budget)
      return std::unexpected(grants_.cannot_spend(owner, offer.budget));
    return true;
  };
  answer(look());
}

void JobSubmissions::submit(Submission submission, Moment now,
                            Answer<protocol::api::Submitted> answer) {
  const auto reply = tables_.outbox.replier(std::move(answer));
  if (const auto before = taken_before(submission)) {
    if (before->manifest_hash != submission.manifest_hash)
      return reply(fail(ErrorCode::already_exists, "This nonce was used for another job, {}.",
                        before->answer.id));
    return reply(before->answer);
  }
  if (auto may = tables_.accounts.may_spend(submission.client); !may)
    return reply(pass(std::move(may)));
  if (auto room = tables_.jobs.room_for(tables_.accounts.owner_of(submission.client),
                                        submission.manifest->split.tasks);
      !room)
    return reply(pass(std::move(room)));
  if (auto enough = costs_enough(submission); !enough) return reply(pass(std::move(enough)));
  const JobPrices::Now price = prices_.now(*submission.manifest, submission.work, now);
  const auto terms = prices_.agree(submission, price, now);
  if (!terms) return reply(std::unexpected(terms.error()));
  if (auto fresh = prices_.quote_is_fresh(submission, now); !fresh)
    return reply(pass(std::move(fresh)));
  RunningJob job;
  job.row.id = submission.id;
  if (auto paid =
          payments_.open_escrow(job.row.id, submission.client, submission.manifest->budget, now);
      !paid) {
    return reply(pass(std::move(paid)));
  }
  prices_.use_quote(submission);
  job.row.client = submission.client;
  job.row.name = submission.manifest->name;
  job.row.manifest = std::move(submission.manifest_text);
  job.row.manifest_hash = submission.manifest_hash;
  job.row.tasks = submission.manifest->split.tasks;
  job.row.budget = submission.manifest->budget;
  job.row.created = now.unix;
  job.row.per_unit = submission.quote ? submission.quote->per_unit : price.quote.per_unit;
  job.row.price_quoted = terms->quoted;
  job.row.price_max = terms->max;
  job.row.price_max_named = !terms->capped;
  job.work = submission.work;
  job.manifest = std::move(submission.manifest);
  job.accepted.resize(job.row.tasks);

  tables_.outbox.batch().jobs.push_back(job.row);
  job.row.manifest = {};
  tables_.outbox.batch().nonces.push_back(
      {.client = submission.client, .nonce = submission.nonce, .job = job.row.id});
  const auto result = submitted_view(job.row);
  remember({submission.client, submission.nonce},
           {.answer = result, .manifest_hash = job.row.manifest_hash});
  ++tables_.counters.jobs_submitted;
  log_debug("Job {} \"{}\" has {} tasks of {} replicas.", job.row.id.text(), job.row.name,
            job.row.tasks, job.manifest->verify.replicas);
  life_.begin(std::move(job), now, {});
  reply(result);
}

// Returns the job of an earlier submission with this nonce: a client that got no answer asks again.
std::optional<JobSubmissions::Taken> JobSubmissions::taken_before(
    const Submission& submission) const {
  if (submission.known) {
    const store::Job& row = *submission.known;
    const RunningJob* const running = tables_.jobs.find(row.id);
    return Taken{.answer = submitted_view(running != nullptr ? running->row : row),
                 .manifest_hash = row.manifest_hash};
  }
  const auto found = nonces_.find({submission.client, submission.nonce});
  return found == nonces_.end() ? std::nullopt : std::optional(found->second);
}

// The canary of a job that costs too little would run for nothing.
Result<> JobSubmissions::costs_enough(const Submission& submission) const {
  const auto& manifest = *submission.manifest;
  const MicroCredits least = tables_.settings.scheduler.pricing.per_replica_min *
                             manifest.verify.replicas * manifest.split.tasks;
  if (manifest.budget < least) {
    return fail(
        ErrorCode::invalid_argument,
        "{} of {} cost {:.6f} credits at least; the budget is {:.6f}: raise \"budget\" in the "
        "manifest.",
        counted(manifest.split.tasks, "task"), counted(manifest.verify.replicas, "replica"),
        static_cast<double>(least) / 1e6, static_cast<double>(manifest.budget) / 1e6);
  }
  if (submission.price_max && *submission.price_max < least) {
    return fail(ErrorCode::insufficient_funds,
                "{} of {} cost {:.6f} credits at least; max_price is {:.6f}: allow more with "
                "weft submit --max-price CREDITS.",
                counted(manifest.split.tasks, "task"), counted(manifest.verify.replicas, "replica"),
                static_cast<double>(least) / 1e6, static_cast<double>(*submission.price_max) / 1e6);
  }
  return {};
}

void JobSubmissions::remember(const Nonce& nonce, Taken taken) {
  nonces_.emplace(nonce, std::move(taken));
  nonces_order_.push_back(nonce);
  if (nonces_order_.size() <= nonces_max) return;
  nonces_.erase(nonces_order_.front());
  nonces_order_.pop_front();
}

}  // namespace weft::jobs
