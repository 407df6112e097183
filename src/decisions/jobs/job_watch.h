// The view of jobs and workers that watchers get (dashboard/watch_board.h), and the notes of
// changes for it. Nothing is noted from stop() until the next watch().
//
// Threading: one thread.
#pragma once

#include <functional>
#include <vector>

#include "decisions/dashboard/watch_board.h"
#include "decisions/jobs/core_tables.h"
#include "decisions/jobs/job_prices.h"

namespace weft::jobs {

class JobWatch final : private dashboard::WatchSource {
 public:
  JobWatch(CoreTables& tables, JobPrices& prices) : tables_(tables), prices_(prices) {}
  JobWatch(const JobWatch&) = delete;

  void watch(WatchWanted wanted, Moment now, Answer<WatchUpdate> answer);
  void stop() { tables_.board.rest(); }
  void keep_history(Moment now);

  void leased(RunningJob& job, std::uint32_t index, Moment now);
  void refused(const TaskId& task);
  // `paid` is the sum for all workers that agreed.
  void accepted(RunningJob& job, std::uint32_t index, MicroCredits paid, Moment now);
  // Notes the end of a job. Must be called while the job still runs.
  void ended(const JobId& job, const store::JobUpdate::End& end);
  // Shows a job that had ended once more, with its corrected state.
  void corrected(const store::Job& row);

 private:
  [[nodiscard]] std::vector<JobId> watched_jobs(std::size_t count) const override;
  [[nodiscard]] std::size_t jobs_running() const override { return tables_.jobs.size(); }
  [[nodiscard]] protocol::watch::Job watched_head(const JobId& id) const override;
  [[nodiscard]] protocol::watch::TaskState watched_task(const TaskId& task) const override;
  void each_worker(const std::function<void(const WorkerNow&)>& use) const override;
  [[nodiscard]] protocol::watch::Worker watched_worker(const PublicKey& key) const override;

  CoreTables& tables_;
  JobPrices& prices_;
};

}  // namespace weft::jobs
