// The running jobs, with their data in memory, and the room that is left for more: in all, and for
// one client.
//
// Threading: one thread. Bounds: CoreSettings::jobs_running_max and tasks_open_max in all;
// jobs_per_client_max and tasks_per_client_max for each owner. room_for() tells whether one more
// job fits.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/base/clock.h"
#include "common/base/ids.h"
#include "common/protocol/results.h"
#include "common/records/records.h"
#include "decisions/jobs/book.h"
#include "decisions/jobs/core_settings.h"

namespace weft::jobs {

// A result that a worker delivered for a task that is not settled yet.
struct Delivered {
  protocol::TaskResult result;
  UnixMillis arrived = 0;
  bool counted = false;  // The result is covered by a receipt and stored.
};

// The data of an accepted task that are needed until its job is joined; all other data are in the
// store.
struct Settled {
  Hash root;
  std::vector<store::OutputBlob> outputs;
};

struct RunningJob {
  store::Job row;  // The stored row, without the manifest's text.
  OwnerId owner;   // The client's owner at the job's start, whose room the job takes.
  Book::Manifest manifest;
  // Accepted tasks by index; null: the task is open.
  std::vector<std::unique_ptr<const Settled>> accepted;
  std::uint32_t accepted_count = 0;
  // Delivered results by index of an open task.
  std::map<std::uint32_t, std::map<PublicKey, Delivered>> delivered;
  // Workers with a lease, by index of an open task; for views.
  std::map<std::uint32_t, std::set<PublicKey>> leased;
  std::map<std::uint32_t, std::map<std::pair<Hash, Hash>, bool>>
      compared;  // True if two roots of a task agree within the tolerance.
  // Workers that audited an open task and agreed or accused. They are told and paid when the task
  // is accepted. A task has two auditors if established workers second each other; each is listed
  // once.
  struct Auditor {
    PublicKey worker;
    double share = 1;  // The share of the task that it audited.
    bool accuser = false;
  };
  std::map<std::uint32_t, std::vector<Auditor>> auditors;
  // By index of an open task: the attempts whose leases ask for roots of steps. Roots of other
  // attempts do not count. Not stored: after a restart, results are checked whole.
  std::map<std::uint32_t, std::map<PublicKey, std::uint32_t>> roots_asked;
  std::set<std::uint32_t> verified;  // Open tasks with a result that the verifier found right.
  // The referee is told of the job's first leases, because it decides about replicas or wants
  // audits.
  bool refereed = false;
  bool joining = false;  // All tasks are accepted.
  // The times at which open tasks were leased, for watchers.
  std::map<std::uint32_t, Instant> leased_since;
  std::set<std::uint32_t> refused;  // Tasks with a refused result, which are computed again.
  std::uint32_t refusals = 0;
  Hash work{};  // work_of() the manifest: the work that the job's canaries measure.
};

// True if the lease of this attempt asks for roots of steps.
[[nodiscard]] bool asks_for_roots(const RunningJob& job, std::uint32_t index,
                                  const PublicKey& worker, std::uint32_t attempt);

// The outputs of a result, in the form that rows have.
[[nodiscard]] std::vector<store::OutputBlob> blobs_of(const protocol::TaskResult& result);

class RunningJobs {
 public:
  RunningJobs(const CoreSettings& settings, Book& book) : settings_(settings), book_(book) {}
  RunningJobs(const RunningJobs&) = delete;

  // Null if the job does not run.
  [[nodiscard]] RunningJob* find(const JobId& id);
  [[nodiscard]] const RunningJob* find(const JobId& id) const;
  // The job must be running.
  [[nodiscard]] RunningJob& at(const JobId& id) { return jobs_.at(id); }
  [[nodiscard]] const RunningJob& at(const JobId& id) const { return jobs_.at(id); }
  [[nodiscard]] bool contains(const JobId& id) const { return jobs_.contains(id); }
  [[nodiscard]] std::size_t size() const { return jobs_.size(); }
  [[nodiscard]] const std::unordered_map<JobId, RunningJob>& all() const { return jobs_; }
  [[nodiscard]] bool any_of_client(const PublicKey& client) const;
  // The number of tasks of running jobs that are not accepted.
  [[nodiscard]] std::size_t tasks_open() const { return tasks_open_; }

  // Fails with resource_exhausted unless one more job of this owner, with this number of tasks,
  // fits.
  [[nodiscard]] Result<> room_for(const OwnerId& owner, std::uint64_t tasks) const;
  void reserve(std::size_t count) { jobs_.reserve(count); }
  // Adds a job with a new id.
  void add(RunningJob job);
  void remove(const JobId& id);
  // Notes that an open task of a running job is accepted.
  void accept(RunningJob& job, std::uint32_t index, Settled settled);

 private:
  struct Load {
    std::size_t jobs = 0;
    std::uint64_t tasks = 0;
  };

  const CoreSettings& settings_;
  Book& book_;
  std::unordered_map<JobId, RunningJob> jobs_;  // Nothing depends on the order of this map.
  std::map<OwnerId, Load> loads_;  // Loads by owner; owners without running jobs are not listed.
  std::size_t tasks_open_ = 0;
};

}  // namespace weft::jobs
