// The load during which the store is crashed, and the check of the store afterwards. The load is
// jobs whose tasks are accepted and paid, with one batch for each task.
#pragma once

#include <cstdlib>
#include <map>
#include <set>
#include <string>

#include "common/base/format.h"
#include "platform/store/sqlite/test_rows.h"

namespace weft::store {

// A job, or a task of it, that was reported as durable.
struct Acknowledged {
  std::uint32_t job = 0;
  std::int32_t task = -1;  // -1 stands for the job itself.
};
// The acknowledged tasks by the job's number.
using AcknowledgedSet = std::map<std::uint32_t, std::set<std::int32_t>>;

// Makes batches one by one. The key of each transaction is used once.
class CrashLoad {
 public:
  static constexpr MicroCredits price = 1000;
  static constexpr std::uint32_t tasks = 4;

  // Jobs are numbered from `first` on; jobs with lower numbers are stored already.
  CrashLoad(std::uint32_t first, const Loaded& loaded) : job_(first) {
    for (const auto& applied : loaded.keys) keys_.insert(applied.key);
  }

  Batch next(Acknowledged& what) {
    const Job job = row(job_);
    what = {.job = job_, .task = task_};
    Batch batch;
    if (task_ < 0) {
      batch.jobs.push_back(job);
      batch.nonces.push_back({.client = job.client, .nonce = nonce_of(job_), .job = job.id});
      apply(batch, ledger::issue(owner_of(job.client), MicroCredits{1} << 50, 1));
      apply(batch, ledger::open_escrow(job.id, owner_of(job.client), job.budget, {}));
    } else {
      const auto index = static_cast<std::uint32_t>(task_);
      batch.replicas = {replica_row(job, index, 7), replica_row(job, index, 8)};
      batch.tasks = {task_row(job, index)};
      apply(batch, ledger::pay_task({.task = {job.id, index},
                                     .client = owner_of(job.client),
                                     .price = price,
                                     .replicas = 2},
                                    std::vector{owner_of(key_of(7)), owner_of(key_of(8))},
                                    {.free = job.budget - price * index}));
    }
    if (++task_ == static_cast<std::int32_t>(tasks)) {
      task_ = -1;
      ++job_;
    }
    return batch;
  }

  // Returns a description of the error, or an empty text if everything acknowledged is stored,
  // every accepted task is paid once, and the balances add up. Sets `next_job` to the first unused
  // number.
  static std::string judge(Store& store, const AcknowledgedSet& acknowledged,
                           std::uint32_t& next_job) {
    if (const Result<> audit = store.audit(); !audit) return audit.error().message;
    const Result<Loaded> loaded = store.load();
    if (!loaded) return loaded.error().message;
    std::map<ledger::Account, MicroCredits> balances;
    MicroCredits sum = 0;
    for (const auto& [account, amount] : loaded->balances) {
      balances[account] = amount;
      sum += amount;
    }
    std::map<JobId, std::set<std::int32_t>> stored;
    for (const Job& job : loaded->jobs) stored[job.id].insert(-1);
    for (const Task& task : loaded->tasks)
      stored[task.id.job].insert(static_cast<std::int32_t>(task.id.index));
    for (const auto& [job, parts] : acknowledged) {
      for (const std::int32_t part : parts) {
        if (!stored[job_id_of(job)].contains(part))
          return weft::format("Job {}, task {} was acknowledged and is lost.", job, part);
      }
    }
    const auto earned = static_cast<MicroCredits>(loaded->tasks.size()) * price / 2;
    for (const unsigned worker : {7U, 8U}) {
      const MicroCredits has = balances[ledger::Account::owner(owner_of(key_of(worker)))];
      if (has != earned)
        return weft::format("Worker {} has {} for {} accepted tasks.", worker, has,
                            loaded->tasks.size());
    }
    for (const Job& job : loaded->jobs) {
      if (balances[ledger::Account::escrow(job.id)] != job.budget - price * job.accepted)
        return weft::format("The escrow of {} is wrong.", job.id.text());
      const auto number = static_cast<std::uint32_t>(job.id.bytes[0] | job.id.bytes[1] << 8 |
                                                     job.id.bytes[2] << 16);
      next_job = std::max(next_job, number + 1);
    }
    return sum == 0 ? "" : "The balances do not sum to zero.";
  }

 private:
  static Job row(std::uint32_t number) {
    Job job = job_row(number);
    job.client = key_of(1);
    job.tasks = tasks;
    job.budget = price * tasks;
    return job;
  }
  void apply(Batch& batch, ledger::Transaction transaction) {
    if (keys_.insert(transaction.key).second)
      batch.transactions.push_back({.transaction = std::move(transaction), .time = 1});
  }

  std::set<std::string> keys_;
  std::uint32_t job_;
  std::int32_t task_ = -1;
};

}  // namespace weft::store
