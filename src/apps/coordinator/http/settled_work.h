// The compute units of owners that have settled credits, for /v1/settlement: counted out of the
// store's audit trail, of which each call reads what is new since the one before. The first call
// after a start reads all of it.
//
// Threading: any thread; one reads at a time.
#pragma once

#include <mutex>
#include <vector>

#include "common/protocol/api.h"
#include "decisions/jobs/book.h"
#include "decisions/settlement/work_units.h"
#include "platform/store/store.h"

namespace weft::coordinator {

class SettledWork {
 public:
  SettledWork(store::Store& store, const jobs::Book& book) : store_(store), book_(book) {}

  // Sets the units of each. What the store cannot read now is counted by a later call.
  void fill(std::vector<protocol::api::SettledOwner>& owners);

 private:
  Result<> read_new();
  [[nodiscard]] std::optional<settlement::PaidJob> paid_job(const store::Posted& posted);

  store::Store& store_;
  const jobs::Book& book_;
  std::mutex mutex_;
  settlement::WorkUnits units_;
  std::uint64_t from_ = 0;    // The page to read next.
  std::size_t read_ = 0;      // Transactions of it that are counted.
  std::optional<JobId> job_;  // The job that was read last: a job's payments stand together.
  std::optional<settlement::PaidJob> job_paid_;
};

}  // namespace weft::coordinator
