// Decides whether a job is accepted: there must be room for it, in all and for its client, and
// enough credits, at a price on which client and coordinator agree. Writes the first row of an
// accepted job. These checks are made before any expensive work for the job, and again when it is
// accepted.
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
  // More submissions than can be accepted between the lookup in the store and the event: those that
  // wait in the loop (65,536 events) and in commits under way (32 of 1,024 events).
  static constexpr std::size_t nonces_max = 131'072;

  JobSubmissions(CoreTables& tables, Grants& grants, JobPrices& prices, TaskPayments& payments,
                 JobLife& life)
      : tables_(tables), grants_(grants), prices_(prices), payments_(payments), life_(life) {}
  JobSubmissions(const JobSubmissions&) = delete;

  // Submits a job. A repeated nonce of a client returns the job of its first submission, or fails
  // with already_exists for another manifest. Fails with insufficient_funds if the client does not
  // hold the budget, or its max_price is below the known cost of the work, and with
  // invalid_argument if its quote has expired.
  void submit(Submission submission, Moment now, Answer<protocol::api::Submitted> answer);
  // True if submit() would accept the job now, or if this process has accepted a job with its
  // nonce. Otherwise insufficient_funds or resource_exhausted. Answered at once; changes nothing.
  void may_submit(const JobOffer& offer, const Answer<bool>& answer) const;

 private:
  struct Taken {
    protocol::api::Submitted answer;
    Hash manifest_hash;
  };
  using Nonce = std::pair<PublicKey, store::SubmitNonce>;
  // The answer that the nonce's earlier job got, if there is one.
  [[nodiscard]] std::optional<Taken> taken_before(const Submission& submission) const;
  // Fails with insufficient_funds or invalid_argument if the budget or max_price is below the least
  // that a job with this number of tasks and replicas costs.
  [[nodiscard]] Result<> costs_enough(const Submission& submission) const;
  void remember(const Nonce& nonce, Taken taken);

  CoreTables& tables_;
  Grants& grants_;
  JobPrices& prices_;
  TaskPayments& payments_;
  JobLife& life_;
  // Submissions since the start whose nonce may not have been durable when another submission was
  // looked up for an event that still waits. Older nonces are in the store.
  std::map<Nonce, Taken> nonces_;
  std::deque<Nonce> nonces_order_;
};

}  // namespace weft::jobs
