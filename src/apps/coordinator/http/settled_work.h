// The compute units of owners that have settled credits, for /v1/settlement. They are counted from
// the store's audit trail, all of which must be read after a start. It is read in parts, so that
// other reads need not wait for all of it.
//
// Threading: any thread; one thread reads at a time.
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
    std::uint32_t page = 1000;  // Number of transactions on a page.
    std::size_t pages = 8;      // Pages of one read_on(); 0 reads all.
  };
  SettledWork(store::Store& store, const jobs::Book& book, Options options)
      : store_(store), book_(book), options_(options) {}

  // Reads some new pages of the trail. Returns false if more remain. Pages that the store cannot
  // read now are left to a later call.
  [[nodiscard]] bool read_on();
  // Sets the units of each owner from what has been read so far.
  void fill(std::vector<protocol::api::SettledOwner>& owners);

 private:
  Result<bool> read_pages();
  [[nodiscard]] std::optional<settlement::PaidJob> paid_job(const store::Posted& posted);

  store::Store& store_;
  const jobs::Book& book_;
  const Options options_;
  std::mutex mutex_;
  settlement::WorkUnits units_;
  std::uint64_t from_ = 0;    // Beginning of the page to read next.
  std::size_t read_ = 0;      // Transactions of the page at from_ already counted.
  std::optional<JobId> job_;  // The last job read; kept because payments of a job are adjacent.
  std::optional<settlement::PaidJob> job_paid_;
};

}  // namespace weft::coordinator
