#include "platform/store/memory/memory_store.h"

#include <mutex>

#include "platform/store/memory/job_rows.h"
#include "platform/store/memory/money_rows.h"
#include "platform/store/memory/record_rows.h"
#include "platform/store/memory/undo_log.h"
#include "platform/store/memory/verdict_rows.h"

namespace weft::store::memory {
namespace {

// Locked for one caller at a time. If a batch is refused, all its changes are undone.
class MemoryStore final : public Store {
 public:
  Result<Loaded> load() override {
    const std::lock_guard lock(mutex_);
    Loaded loaded;
    jobs_.load(loaded);
    money_.load(loaded);
    records_.load(loaded);
    verdicts_.load(loaded);
    return loaded;
  }
  Result<> commit_all(std::span<const Batch> batches, const Ready& ready) override;

  Result<Job> job(const JobId& id) override {
    const std::lock_guard lock(mutex_);
    return jobs_.job(id);
  }
  Result<std::vector<Task>> tasks(const JobId& id) override;
  Result<std::vector<Replica>> replicas(const JobId& id) override;
  Result<std::vector<Receipt>> receipts(const JobId& id) override {
    const std::lock_guard lock(mutex_);
    WEFT_ASSIGN(const JobRow* row, jobs_.row_of(id));
    return jobs_.receipts(*row);
  }
  Result<std::vector<Job>> jobs(const JobPage& page) override {
    const std::lock_guard lock(mutex_);
    return jobs_.jobs(page);
  }
  Result<std::optional<JobId>> job_of_nonce(const PublicKey& client,
                                            const SubmitNonce& nonce) override {
    const std::lock_guard lock(mutex_);
    return jobs_.job_of_nonce(client, nonce);
  }
  Result<BlobOwners> blob_owners(UnixMillis ended_since) override {
    const std::lock_guard lock(mutex_);
    return records_.blob_owners(ended_since);
  }
  Result<History> history(const ledger::Account& account, const HistoryPage& page) override {
    const std::lock_guard lock(mutex_);
    return money_.history(account, page);
  }
  Result<History> history(const JobId& job, const HistoryPage& page) override {
    const std::lock_guard lock(mutex_);
    WEFT_OK(jobs_.row_of(job));
    return money_.history(job, page);
  }
  Result<History> history(const HistoryPage& page) override {
    const std::lock_guard lock(mutex_);
    return money_.history(page);
  }
  Result<> audit() override {
    const std::lock_guard lock(mutex_);
    return money_.audit();
  }
  Result<std::vector<Task>> paid_tasks(const PaidPage& page) override {
    const std::lock_guard lock(mutex_);
    return jobs_.paid_tasks(page);
  }
  Result<std::vector<Correction>> corrections(const JobId& id) override {
    const std::lock_guard lock(mutex_);
    WEFT_OK(jobs_.row_of(id));
    return verdicts_.corrections(id);
  }
  Result<BasisCounts> bases(const JobId& id) override;
  Result<std::vector<Evidence>> evidence(std::size_t from, std::size_t count) override {
    const std::lock_guard lock(mutex_);
    return verdicts_.evidence(from, count);
  }
  Result<std::vector<Check>> checks(const JobId& id, std::uint32_t count) override {
    const std::lock_guard lock(mutex_);
    WEFT_OK(jobs_.row_of(id));
    return verdicts_.checks(id, count);
  }
  Result<std::vector<Check>> checks(const PublicKey& worker, std::uint32_t count) override {
    const std::lock_guard lock(mutex_);
    return verdicts_.checks(worker, count);
  }

 private:
  Result<> write(const Batch& batch);

  std::mutex mutex_;
  UndoLog undo_;
  JobRows jobs_{undo_};
  MoneyRows money_{undo_, jobs_};
  RecordRows records_{undo_, jobs_};
  VerdictRows verdicts_{undo_, jobs_};
};

Result<> MemoryStore::commit_all(std::span<const Batch> batches, const Ready& ready) {
  const std::lock_guard lock(mutex_);
  undo_.clear();
  Result<> result;
  for (const Batch& batch : batches) {
    if (result) result = write(batch);
  }
  for (const Batch& batch : batches) {
    if (result) jobs_.forget_clients(batch);
  }
  if (result && ready) result = ready();
  if (!result) undo_.undo();
  return result;
}

Result<> MemoryStore::write(const Batch& batch) {
  WEFT_OK(jobs_.write(batch));
  for (const Transaction& transaction : batch.transactions) WEFT_OK(money_.write(transaction));
  WEFT_OK(records_.write(batch));
  return verdicts_.write(batch);
}

Result<std::vector<Task>> MemoryStore::tasks(const JobId& id) {
  const std::lock_guard lock(mutex_);
  WEFT_ASSIGN(const JobRow* row, jobs_.row_of(id));
  std::vector<Task> all;
  for (const auto& [index, task] : row->tasks) all.push_back(task);
  return all;
}

Result<std::vector<Replica>> MemoryStore::replicas(const JobId& id) {
  const std::lock_guard lock(mutex_);
  WEFT_ASSIGN(const JobRow* row, jobs_.row_of(id));
  std::vector<Replica> all;
  for (const auto& [index, each] : row->replicas) all.insert(all.end(), each.begin(), each.end());
  return all;
}

Result<BasisCounts> MemoryStore::bases(const JobId& id) {
  const std::lock_guard lock(mutex_);
  WEFT_ASSIGN(const JobRow* row, jobs_.row_of(id));
  BasisCounts counts{};
  for (const auto& [index, task] : row->tasks) ++counts[static_cast<std::size_t>(task.basis)];
  return counts;
}

}  // namespace

std::unique_ptr<Store> create() { return std::make_unique<MemoryStore>(); }

}  // namespace weft::store::memory
