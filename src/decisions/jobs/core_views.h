// What pages and commands are shown of the running state. Answers go out after everything that they
// may show is durable.
//
// Threading: one thread.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "decisions/jobs/core_tables.h"

namespace weft::jobs {

// What is shown of a connected worker.
[[nodiscard]] protocol::api::Worker worker_view(const CoreTables& tables, const PublicKey& key,
                                                const ConnectedWorker& worker);

class CoreViews {
 public:
  explicit CoreViews(CoreTables& tables) : tables_(tables) {}
  CoreViews(const CoreViews&) = delete;

  // Fills in what only the running state knows (leases, progress) of jobs that were read from the
  // store.
  void live(std::vector<protocol::api::Job> jobs, Answer<std::vector<protocol::api::Job>> answer);
  // The same of one job, with why its next task waits.
  void show_job(protocol::api::Job job, Moment now, Answer<protocol::api::Job> answer);
  void live_tasks(const JobId& job, std::vector<protocol::api::Task> tasks,
                  Answer<std::vector<protocol::api::Task>> answer);
  void workers(Answer<protocol::api::Workers> answer);
  void ledger(Answer<protocol::api::Ledger> answer);
  // The sum over all of them.
  void balance(std::span<const ledger::Account> accounts, Answer<MicroCredits> answer);
  void settlement(Answer<protocol::api::Settlement> answer);

 private:
  void fill(protocol::api::Job& view) const;

  CoreTables& tables_;
};

}  // namespace weft::jobs
