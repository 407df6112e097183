#include "platform/store/memory/job_rows.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <set>

namespace weft::store::memory {

Result<> JobRows::write(const Batch& batch) {
  for (const Job& job : batch.jobs) WEFT_OK(write(job));
  for (const Nonce& nonce : batch.nonces) WEFT_OK(write(nonce));
  for (const Receipt& receipt : batch.receipts) {
    if (!receipts_.contains(receipt.digest)) undo_.put(receipts_, receipt.digest, receipt);
  }
  for (const Replica& replica : batch.replicas) WEFT_OK(write(replica));
  for (const Task& task : batch.tasks) WEFT_OK(write(task));
  for (const JobUpdate& update : batch.job_updates) WEFT_OK(write(update));
  return {};
}

Result<> JobRows::write(const Job& job) {
  if (rows_.contains(job.id))
    return fail(ErrorCode::already_exists, "The job {} is stored already.", job.id.text());
  rows_[job.id].job = job;
  order_.push_back(job.id);
  undo_.later([this, id = job.id] {
    rows_.erase(id);
    order_.pop_back();
  });
  return {};
}

Result<> JobRows::write(const Nonce& nonce) {
  WEFT_OK(row_of(nonce.job));
  if (nonces_.contains({nonce.client, nonce.nonce})) {
    return fail(ErrorCode::already_exists, "The client {} has used this nonce already.",
                nonce.client.text());
  }
  undo_.put(nonces_, std::pair(nonce.client, nonce.nonce), nonce.job);
  return {};
}

Result<> JobRows::write(const Replica& replica) {
  WEFT_ASSIGN(JobRow * row, row_of(replica.task.job));
  auto& all = row->replicas[replica.task.index];
  if (std::ranges::contains(all, replica.worker, &Replica::worker)) {
    return fail(ErrorCode::already_exists, "A replica of {} by {} is stored already.",
                replica.task.text(), replica.worker.text());
  }
  all.push_back(replica);
  undo_.later([&all] { all.pop_back(); });
  return {};
}

Result<> JobRows::write(const Task& task) {
  WEFT_ASSIGN(JobRow * row, row_of(task.id.job));
  if (!row->tasks.try_emplace(task.id.index, task).second)
    return fail(ErrorCode::already_exists, "The task {} is accepted already.", task.id.text());
  ++row->job.accepted;
  undo_.later([row, index = task.id.index] {
    row->tasks.erase(index);
    --row->job.accepted;
  });
  return {};
}

Result<> JobRows::write(const JobUpdate& update) {
  WEFT_ASSIGN(JobRow * row, row_of(update.id));
  undo_.later([row, old = row->job] { row->job = old; });
  if (update.price) {
    row->job.price = update.price->price;
    row->job.units = update.price->units;
    row->job.reference_seconds_per_workgroup = update.price->reference_seconds_per_workgroup;
  }
  if (update.end) {
    row->job.state = update.end->state;
    row->job.reason = update.end->reason;
    row->job.root = update.end->root;
    row->job.outputs = update.end->outputs;
    row->job.ended = update.end->ended;
  }
  return {};
}

Result<> JobRows::correct(const Task& task) {
  WEFT_ASSIGN(JobRow * row, row_of(task.id.job));
  const auto found = row->tasks.find(task.id.index);
  if (found == row->tasks.end()) return {};
  undo_.later([row, old = found->second] { row->tasks.insert_or_assign(old.id.index, old); });
  found->second.root = task.root;
  found->second.outputs = task.outputs;
  found->second.worker = task.worker;
  found->second.basis = task.basis;
  return {};
}

void JobRows::forget_clients(const Batch& batch) {
  for (const PublicKey& client : batch.clients_forgotten) {
    for (auto& [id, row] : rows_) {
      if (row.job.client != client || row.job.state == JobState::running) continue;
      undo_.later([&row, old = row.job] { row.job = old; });
      row.job.name.clear();
      row.job.manifest.clear();
      row.job.manifest_hash = {};
      row.job.reason.clear();
      row.job.outputs.clear();
    }
  }
}

Result<JobRow*> JobRows::row_of(const JobId& id) {
  const auto found = rows_.find(id);
  if (found == rows_.end())
    return fail(ErrorCode::not_found, "The job {} is not stored.", id.text());
  return &found->second;
}

void JobRows::load(Loaded& loaded) const {
  for (const JobId& id : order_) {
    const JobRow& row = rows_.at(id);
    if (row.job.state != JobState::running) continue;
    loaded.jobs.push_back(row.job);
    for (const auto& [index, task] : row.tasks) loaded.tasks.push_back(task);
    for (const auto& [index, all] : row.replicas) {
      if (!row.tasks.contains(index))
        loaded.replicas.insert(loaded.replicas.end(), all.begin(), all.end());
    }
  }
}

Result<Job> JobRows::job(const JobId& id) const {
  const auto found = rows_.find(id);
  if (found == rows_.end()) return fail(ErrorCode::not_found, "There is no job {}.", id.text());
  return found->second.job;
}

std::vector<Receipt> JobRows::receipts(const JobRow& row) const {
  std::set<Hash> named;
  for (const auto& [index, each] : row.replicas) {
    for (const Replica& replica : each) named.insert(replica.receipt);
  }
  std::vector<Receipt> found;
  for (const Hash& digest : named) {
    if (const auto receipt = receipts_.find(digest); receipt != receipts_.end())
      found.push_back(receipt->second);
  }
  return found;
}

std::vector<Job> JobRows::jobs(const Store::JobPage& page) const {
  const UnixMillis before = page.before == 0 ? std::numeric_limits<UnixMillis>::max() : page.before;
  std::vector<Job> all;
  for (auto id = order_.rbegin(); id != order_.rend(); ++id) {
    const Job& job = rows_.at(*id).job;
    if (job.created < before && (!page.client || job.client == *page.client)) all.push_back(job);
  }
  std::ranges::stable_sort(all, std::greater<>(), &Job::created);
  // A page includes all jobs of its last millisecond, because the next page begins before it.
  std::size_t size = std::min<std::size_t>(all.size(), page.count);
  while (size > 0 && size < all.size() && all[size].created == all[size - 1].created) ++size;
  all.resize(size);
  return all;
}

std::optional<JobId> JobRows::job_of_nonce(const PublicKey& client,
                                           const SubmitNonce& nonce) const {
  const auto found = nonces_.find({client, nonce});
  return found == nonces_.end() ? std::nullopt : std::optional(found->second);
}

std::vector<Task> JobRows::paid_tasks(const Store::PaidPage& page) const {
  std::vector<Task> found;
  bool is_after = !page.after;
  for (const JobId& id : order_) {
    const JobRow& row = rows_.at(id);
    const bool is_after_all = is_after;
    if (page.after && id == page.after->job) is_after = true;
    if (!is_after || (row.job.state != JobState::running && row.job.ended < page.since)) continue;
    for (const auto& [index, task] : row.tasks) {
      if (!is_after_all && index <= page.after->index) continue;
      if (task.accepted < page.since || task.accepted > page.until ||
          !std::ranges::contains(task.agreeing, page.worker))
        continue;
      if (found.size() == page.count) return found;
      found.push_back(task);
    }
  }
  return found;
}

}  // namespace weft::store::memory
