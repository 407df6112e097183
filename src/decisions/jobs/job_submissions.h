// Whether a job may come in at all (room for it, in all and of its client, and money, at a price
// that both sides agree on), and its first row. Asked before anything expensive is done for it, and
// again when it is taken.
//
// Threading: one thread. Bounds: the nonces of the latest nonces_max submissions are remembered.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <utility>

#include "decisions/jobs/core_tables.h"
#include "decisions/jobs/grants.h"
#include "decisions/jobs/job_life.h"
#include "decisions/jobs/job_prices.h"
#include "decisions/jobs/task_payments.h"

namespace weft::jobs {

class JobSubmissions {
 public:
  // More than can be taken between the look into the store and the event: what waits in the loop
  // (65,536 events) and in commits under way (32 of 1,024 events).
  static constexpr std::size_t nonces_max = 131'072;

  JobSubmissions(CoreTables& tables, Grants& grants, JobPrices& prices, TaskPayments& payments,
                 JobLife& life)
      : tables_(tables), grants_(grants), prices_(prices), payments_(payments), life_(life) {}
  JobSubmissions(const JobSubmissions&) = delete;

  // The same nonce of the same client gives the same job again; with another manifest it is
  // already_exists. insufficient_funds if the client does not hold the budget, or its max_price
  // is below what its work is known to cost; invalid_argument if its quote has ended.
  void submit(Submission submission, Moment now, Answer<protocol::api::Submitted> answer);
  // Whether submit() would take it now: insufficient_funds or resource_exhausted if not. True
  // for a nonce of this run's. Answered at once; changes nothing.
  void may_submit(const JobOffer& offer, const Answer<bool>& answer) const;

 private:
  struct Taken {
    protocol::api::Submitted answer;
    Hash manifest_hash;
  };
  using Nonce = std::pair<PublicKey, store::SubmitNonce>;
  // What the nonce's job was answered, where it is known.
  [[nodiscard]] std::optional<Taken> taken_before(const Submission& submission) const;
  // insufficient_funds or invalid_argument if no job of this manifest is so cheap.
  [[nodiscard]] Result<> costs_enough(const Submission& submission) const;
  void remember(const Nonce& nonce, Taken taken);

  CoreTables& tables_;
  Grants& grants_;
  JobPrices& prices_;
  TaskPayments& payments_;
  JobLife& life_;
  // Submissions taken since the start whose nonce may not have been durable yet when another one
  // was looked up for an event that still waits. Older ones are in the store.
  std::map<Nonce, Taken> nonces_;
  std::deque<Nonce> nonces_order_;
};

}  // namespace weft::jobs
