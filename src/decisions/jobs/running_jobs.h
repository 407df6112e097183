// The jobs that run, with what is in memory of each until it ends, and how much room is left: in
// all, and of one client.
//
// Threading: one thread. Bounds: CoreSettings::jobs_running_max and tasks_open_max, and of each
// owner jobs_per_client_max and tasks_per_client_max; room_for() says whether one more fits.
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

// What a worker handed in for a task that is not settled yet.
struct Delivered {
  protocol::TaskResult result;
  UnixMillis arrived = 0;
  bool counted = false;  // Covered by a receipt, and stored.
};

// What is needed of an accepted task until its job is joined; the rest of it is in the store.
struct Settled {
  Hash root;
  std::vector<store::OutputBlob> outputs;
};

struct RunningJob {
  store::Job row;  // Without the manifest's text, which is in the store.
  OwnerId owner;   // Its client's owner when it began to run: whose room it takes.
  Book::Manifest manifest;
  std::vector<std::unique_ptr<const Settled>> accepted;  // By index; null: the task is open.
  std::uint32_t accepted_count = 0;
  std::map<std::uint32_t, std::map<PublicKey, Delivered>> delivered;  // By index of an open task.
  std::map<std::uint32_t, std::set<PublicKey>> leased;                // The same; for views.
  std::map<std::uint32_t, std::map<std::pair<Hash, Hash>, bool>>
      compared;  // Whether two roots of a task agree within the tolerance.
  // Workers that audited an open task and agreed or accused, to be told and paid when it is
  // accepted. Two where established workers second each other; each of them once.
  struct Auditor {
    PublicKey worker;
    double share = 1;  // Share of the task.
    bool accuser = false;
  };
  std::map<std::uint32_t, std::vector<Auditor>> auditors;
  std::set<std::uint32_t>
      verified;           // Open tasks of which the coordinator's verifier found one right.
  bool refereed = false;  // The referee is told of first leases: it decides about replicas, or
                          // audits are wanted.
  bool joining = false;   // All tasks are accepted.
  // For watchers, of open tasks.
  std::map<std::uint32_t, Instant> leased_since;
  std::set<std::uint32_t> refused;  // A result was; they are computed once more.
  std::uint32_t refusals = 0;
  Hash work{};  // work_of() its manifest: what its canaries measure.
};

// The outputs of a result, as rows have them.
[[nodiscard]] std::vector<store::OutputBlob> blobs_of(const protocol::TaskResult& result);

class RunningJobs {
 public:
  RunningJobs(const CoreSettings& settings, Book& book) : settings_(settings), book_(book) {}
  RunningJobs(const RunningJobs&) = delete;

  // Null for a job that does not run.
  [[nodiscard]] RunningJob* find(const JobId& id);
  [[nodiscard]] const RunningJob* find(const JobId& id) const;
  // It runs.
  [[nodiscard]] RunningJob& at(const JobId& id) { return jobs_.at(id); }
  [[nodiscard]] const RunningJob& at(const JobId& id) const { return jobs_.at(id); }
  [[nodiscard]] bool contains(const JobId& id) const { return jobs_.contains(id); }
  [[nodiscard]] std::size_t size() const { return jobs_.size(); }
  [[nodiscard]] const std::unordered_map<JobId, RunningJob>& all() const { return jobs_; }
  [[nodiscard]] bool any_of_client(const PublicKey& client) const;
  // Tasks of running jobs that are not accepted.
  [[nodiscard]] std::size_t tasks_open() const { return tasks_open_; }

  // resource_exhausted unless one more job of this owner fits, with so many tasks.
  [[nodiscard]] Result<> room_for(const OwnerId& owner, std::uint64_t tasks) const;
  void reserve(std::size_t count) { jobs_.reserve(count); }
  // Its id is new.
  void add(RunningJob job);
  void remove(const JobId& id);
  // An open task of a running job is accepted.
  void accept(RunningJob& job, std::uint32_t index, Settled settled);

 private:
  struct Load {
    std::size_t jobs = 0;
    std::uint64_t tasks = 0;
  };

  const CoreSettings& settings_;
  Book& book_;
  std::unordered_map<JobId, RunningJob> jobs_;  // Looked up only.
  std::map<OwnerId, Load> loads_;               // By owner with running jobs.
  std::size_t tasks_open_ = 0;
};

}  // namespace weft::jobs
