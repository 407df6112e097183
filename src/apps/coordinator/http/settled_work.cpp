#include "apps/coordinator/http/settled_work.h"

#include "common/base/log.h"

namespace weft::coordinator {

std::optional<settlement::PaidJob> SettledWork::paid_job(const store::Posted& posted) {
  if (!posted.job || !settlement::counts_work_of_job(posted.key)) return std::nullopt;
  if (job_ == posted.job) return job_paid_;
  job_ = posted.job;
  job_paid_.reset();
  if (const auto job = store_.job(*posted.job))
    job_paid_ = {.client = book_.owner_of(job->client), .price = job->price, .units = job->units};
  return job_paid_;
}

Result<bool> SettledWork::read_pages() {
  job_.reset();  // The job's price may have changed.
  for (std::size_t pages = 0; options_.pages == 0 || pages < options_.pages; ++pages) {
    WEFT_ASSIGN(const store::History page,
                store_.history(store::Store::HistoryPage{.from = from_, .count = options_.page}));
    for (; read_ < page.transactions.size(); ++read_) {
      const store::Posted& posted = page.transactions[read_];
      std::vector<ledger::Entry> entries;
      for (const store::Movement& movement : posted.movements)
        entries.push_back({.account = movement.account, .amount = movement.amount});
      units_.add(posted.key, entries, paid_job(posted));
    }
    if (page.next == 0) return true;  // The last page may still grow, so it is read again.
    from_ = page.next;
    read_ = 0;
  }
  return false;
}

bool SettledWork::read_on() {
  const std::lock_guard lock(mutex_);
  const auto all = read_pages();
  if (!all) log_warning("The units of settled owners are not up to date: {}", all.error().message);
  return !all || *all;
}

void SettledWork::fill(std::vector<protocol::api::SettledOwner>& owners) {
  const std::lock_guard lock(mutex_);
  for (protocol::api::SettledOwner& owner : owners) {
    if (const auto key = PublicKey::parse(owner.owner))
      owner.units = static_cast<std::int64_t>(units_.of(OwnerId::of_first(*key)));
  }
}

}  // namespace weft::coordinator
