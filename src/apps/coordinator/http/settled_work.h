// The compute units of owners that have settled credits, for /v1/settlement: counted out of the
// store's audit trail. After a start there is all of it to read; it is read in parts, so that no
// reader of anything else waits for the whole.
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
  struct Options {
    std::uint32_t page = 1000;  // Transactions that are read together.
    std::size_t pages = 8;      // How many one read_on() reads. 0: all there are.
  };
  SettledWork(store::Store& store, const jobs::Book& book, Options options)
      : store_(store), book_(book), options_(options) {}

  // Reads a part of what is new; false if there is more. What the store cannot read now is left to
  // a later call.
  [[nodiscard]] bool read_on();
  // Sets the units of each, by what was read.
  void fill(std::vector<protocol::api::SettledOwner>& owners);

 private:
  Result<bool> read_pages();
  [[nodiscard]] std::optional<settlement::PaidJob> paid_job(const store::Posted& posted);

  store::Store& store_;
  const jobs::Book& book_;
  const Options options_;
  std::mutex mutex_;
  settlement::WorkUnits units_;
  std::uint64_t from_ = 0;    // The page to read next.
  std::size_t read_ = 0;      // Transactions of it that are counted.
  std::optional<JobId> job_;  // The job that was read last: a job's payments stand together.
  std::optional<settlement::PaidJob> job_paid_;
};

}  // namespace weft::coordinator
