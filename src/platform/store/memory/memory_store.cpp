#include "platform/store/memory/memory_store.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <mutex>
#include <set>

#include "common/records/transaction.h"

namespace weft::store::memory {
namespace {

class MemoryStore final : public Store {
 public:
  Result<Loaded> load() override;
  Result<> commit_all(std::span<const Batch> batches, const Ready& ready) override;
  Result<Job> job(const JobId& id) override;
  Result<std::vector<Task>> tasks(const JobId& id) override;
  Result<std::vector<Replica>> replicas(const JobId& id) override;
  Result<std::vector<Receipt>> receipts(const JobId& id) override;
  Result<std::vector<Job>> jobs(const JobPage& page) override;
  Result<std::optional<JobId>> job_of_nonce(const PublicKey& client,
                                            const SubmitNonce& nonce) override;
  Result<BlobOwners> blob_owners(UnixMillis ended_since) override;
  Result<History> history(const ledger::Account& account, const HistoryPage& page) override;
  Result<History> history(const JobId& job, const HistoryPage& page) override;
  Result<History> history(const HistoryPage& page) override;
  Result<> audit() override;
  Result<std::vector<Task>> paid_tasks(const PaidPage& page) override;
  Result<std::vector<Correction>> corrections(const JobId& id) override;
  Result<BasisCounts> bases(const JobId& id) override;
  Result<std::vector<Evidence>> evidence(std::size_t from, std::size_t count) override;
  Result<std::vector<Check>> checks(const JobId& id, std::uint32_t count) override;
  Result<std::vector<Check>> checks(const PublicKey& worker, std::uint32_t count) override;

 private:
  struct JobRow {
    Job job;
    std::map<std::uint32_t, Task> tasks;
    std::map<std::uint32_t, std::vector<Replica>> replicas;  // As they arrived.
  };
  Result<> write(const Batch& batch);
  Result<> write(const Transaction& transaction);
  Result<JobRow*> row_of(const JobId& id);
  std::vector<Posted> posted() const;
  Result<> write_records(const Batch& batch);
  Result<> write_verdicts(const Batch& batch);
  template <class Wanted>
  Result<std::vector<Check>> latest_checks(std::uint32_t count, Wanted wanted);
  void load_held(Loaded& loaded) const;
  void forget_oldest_evidence();
  void forget_clients(const Batch& batch);
  void undo_later(std::function<void()> step) { undo_.push_back(std::move(step)); }
  template <class Map, class Key, class Row>
  void put(Map& map, const Key& key, const Row& row) {
    remove(map, key);
    undo_later([&map, key] { map.erase(key); });
    map.emplace(key, row);
  }
  template <class Map, class Key>
  void remove(Map& map, const Key& key) {
    const auto before = map.find(key);
    if (before == map.end()) return;
    undo_later([&map, key, old = before->second] { map.insert_or_assign(key, old); });
    map.erase(before);
  }

  std::mutex mutex_;
  std::map<std::string, Secret> secrets_;
  std::map<JobId, JobRow> jobs_;
  std::vector<JobId> order_;
  std::map<std::pair<PublicKey, SubmitNonce>, JobId> nonces_;
  std::map<Hash, Receipt> receipts_;
  std::vector<Transaction> transactions_;
  std::set<std::string> keys_;
  std::map<ledger::Account, MicroCredits> balances_;
  std::map<PublicKey, Reputation> reputations_;
  std::map<PublicKey, Standing> standings_;
  std::map<std::pair<PublicKey, PublicKey>, ClientShare> client_shares_;
  std::map<std::pair<PublicKey, PublicKey>, Mismatch> mismatches_;
  std::map<PublicKey, Watch> watches_;
  std::map<JobId, Faults> faults_;
  std::map<PublicKey, ClientWeight> client_weights_;
  std::map<PublicKey, Device> devices_;
  std::map<std::string, ApiKey> api_keys_;
  std::map<std::pair<TaskId, PublicKey>, Checkpoint> checkpoints_;
  std::map<PublicKey, Presence> presences_;
  std::map<std::string, Model> models_;
  std::map<std::pair<Hash, PublicKey>, Pace> paces_;
  std::map<std::uint32_t, Season> seasons_;
  std::map<std::pair<TaskId, PublicKey>, HeldPay> held_pays_;
  std::map<PublicKey, Recheck> rechecks_;
  std::map<TaskId, Correction> corrections_;
  std::vector<Check> checks_;
  std::deque<Evidence> evidence_;
  std::map<PublicKey, std::vector<std::pair<TaskId, std::uint32_t>>> evidence_of_;  // By worker.
  std::vector<std::function<void()>>
      undo_;  // Undoes the batch that is being written; run backwards if it is refused.
};

Result<> MemoryStore::commit_all(std::span<const Batch> batches, const Ready& ready) {
  const std::lock_guard lock(mutex_);
  undo_.clear();
  Result<> result;
  for (const Batch& batch : batches) {
    if (result) result = write(batch);
  }
  for (const Batch& batch : batches) {
    if (result) forget_clients(batch);
  }
  if (result && ready) result = ready();
  if (!result) {
    for (auto step = undo_.rbegin(); step != undo_.rend(); ++step) (*step)();
  }
  return result;
}

Result<> MemoryStore::write(const Batch& batch) {
  for (const Secret& secret : batch.secrets) put(secrets_, secret.name, secret);
  for (const Job& job : batch.jobs) {
    if (jobs_.contains(job.id))
      return fail(ErrorCode::already_exists, "The job {} is stored already.", job.id.text());
    jobs_[job.id].job = job;
    order_.push_back(job.id);
    undo_later([this, id = job.id] {
      jobs_.erase(id);
      order_.pop_back();
    });
  }
  for (const Nonce& nonce : batch.nonces) {
    WEFT_OK(row_of(nonce.job));
    if (nonces_.contains({nonce.client, nonce.nonce})) {
      return fail(ErrorCode::already_exists, "The client {} has used this nonce already.",
                  nonce.client.text());
    }
    put(nonces_, std::pair(nonce.client, nonce.nonce), nonce.job);
  }
  for (const Receipt& receipt : batch.receipts) {
    if (!receipts_.contains(receipt.digest)) put(receipts_, receipt.digest, receipt);
  }
  for (const Replica& replica : batch.replicas) {
    WEFT_ASSIGN(JobRow * row, row_of(replica.task.job));
    auto& all = row->replicas[replica.task.index];
    if (std::ranges::contains(all, replica.worker, &Replica::worker)) {
      return fail(ErrorCode::already_exists, "A replica of {} by {} is stored already.",
                  replica.task.text(), replica.worker.text());
    }
    all.push_back(replica);
    undo_later([&all] { all.pop_back(); });
  }
  for (const Task& task : batch.tasks) {
    WEFT_ASSIGN(JobRow * row, row_of(task.id.job));
    if (!row->tasks.try_emplace(task.id.index, task).second)
      return fail(ErrorCode::already_exists, "The task {} is accepted already.", task.id.text());
    ++row->job.accepted;
    undo_later([row, index = task.id.index] {
      row->tasks.erase(index);
      --row->job.accepted;
    });
  }
  for (const JobUpdate& update : batch.job_updates) {
    WEFT_ASSIGN(JobRow * row, row_of(update.id));
    undo_later([row, old = row->job] { row->job = old; });
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
  }
  for (const Transaction& transaction : batch.transactions) WEFT_OK(write(transaction));
  return write_records(batch);
}

Result<> MemoryStore::write_records(const Batch& batch) {
  for (const Reputation& each : batch.reputations) put(reputations_, each.worker, each);
  for (const Standing& each : batch.standings) put(standings_, each.worker, each);
  for (const ClientWeight& each : batch.client_weights) put(client_weights_, each.client, each);
  for (const Device& each : batch.devices) put(devices_, each.key, each);
  for (const ApiKey& each : batch.api_keys) {
    const bool taken = std::ranges::any_of(api_keys_, [&](const auto& other) {
      return other.second.hash == each.hash && other.first != each.id;
    });
    if (taken)
      return fail(ErrorCode::already_exists,
                  "The secret of the API key {} is another key's already.", each.id);
    put(api_keys_, each.id, each);
  }
  const auto change = [&](auto& map, const auto& key, const auto& each) {
    each.change == Change::put ? put(map, key, each.row) : remove(map, key);
  };
  for (const auto& each : batch.checkpoints) {
    WEFT_OK(row_of(each.row.task.job));
    change(checkpoints_, std::pair(each.row.task, each.row.worker), each);
  }
  for (const auto& each : batch.held_pays) {
    WEFT_OK(row_of(each.row.task.job));
    change(held_pays_, std::pair(each.row.task, each.row.worker), each);
  }
  for (const auto& each : batch.client_shares)
    change(client_shares_, std::pair(each.row.worker, each.row.client), each);
  for (const auto& each : batch.mismatches)
    change(mismatches_, std::pair(each.row.worker, each.row.client), each);
  for (const Watch& each : batch.watches) put(watches_, each.worker, each);
  for (const auto& each : batch.faults) change(faults_, each.row.job, each);
  for (const auto& each : batch.presences) change(presences_, each.row.worker, each);
  for (const auto& each : batch.models) change(models_, each.row.name, each);
  for (const auto& each : batch.paces)
    change(paces_, std::pair(each.row.work, each.row.worker), each);
  for (const Season& each : batch.seasons) put(seasons_, each.hour, each);
  for (const std::string& id : batch.api_keys_removed) remove(api_keys_, id);
  return write_verdicts(batch);
}

Result<> MemoryStore::write_verdicts(const Batch& batch) {
  for (const Task& task : batch.corrected_tasks) {
    WEFT_ASSIGN(JobRow * row, row_of(task.id.job));
    const auto found = row->tasks.find(task.id.index);
    if (found == row->tasks.end()) continue;
    undo_later([row, old = found->second] { row->tasks.insert_or_assign(old.id.index, old); });
    found->second.root = task.root;
    found->second.outputs = task.outputs;
    found->second.worker = task.worker;
    found->second.basis = task.basis;
  }
  for (const auto& each : batch.rechecks)
    each.change == Change::put ? put(rechecks_, each.row.worker, each.row)
                               : remove(rechecks_, each.row.worker);
  for (const Correction& each : batch.corrections) {
    WEFT_OK(row_of(each.task.job));
    put(corrections_, each.task, each);
  }
  for (const Check& each : batch.checks) {
    WEFT_OK(row_of(each.task.job));
    checks_.push_back(each);
    undo_later([this] { checks_.pop_back(); });
  }
  for (const Evidence& each : batch.evidence) {
    auto of_worker = evidence_of_[each.worker];
    const std::pair attempt{each.task, each.attempt};
    if (std::ranges::contains(of_worker, attempt) || of_worker.size() >= evidence_of_worker_max)
      continue;
    of_worker.push_back(attempt);
    put(evidence_of_, each.worker, of_worker);
    evidence_.push_back(each);
    undo_later([this] { evidence_.pop_back(); });
    if (evidence_.size() > evidence_max) forget_oldest_evidence();
  }
  for (const UnixMillis since : batch.checks_kept_since) {
    undo_later([this, old = checks_] { checks_ = old; });
    std::erase_if(checks_, [&](const Check& each) { return each.time < since; });
  }
  return {};
}

void MemoryStore::forget_oldest_evidence() {
  const Evidence& oldest = evidence_.front();
  auto of_worker = evidence_of_.at(oldest.worker);
  std::erase(of_worker, std::pair{oldest.task, oldest.attempt});
  put(evidence_of_, oldest.worker, of_worker);
  undo_later([this, oldest] { evidence_.push_front(oldest); });
  evidence_.pop_front();
}

void MemoryStore::forget_clients(const Batch& batch) {
  for (const PublicKey& client : batch.clients_forgotten) {
    for (auto& [id, row] : jobs_) {
      if (row.job.client != client || row.job.state == JobState::running) continue;
      undo_later([&row, old = row.job] { row.job = old; });
      row.job.name.clear();
      row.job.manifest.clear();
      row.job.manifest_hash = {};
      row.job.reason.clear();
      row.job.outputs.clear();
    }
  }
}

Result<> MemoryStore::write(const Transaction& transaction) {
  const ledger::Transaction& what = transaction.transaction;
  MicroCredits total = 0;
  for (const ledger::Entry& entry : what.entries) total += entry.amount;
  if (total != 0)
    return fail(ErrorCode::invalid_argument,
                "The entries of the transaction {} sum to {}, not to 0.", what.key, total);
  if (what.job) WEFT_OK(row_of(*what.job));
  if (!keys_.insert(what.key).second)
    return fail(ErrorCode::already_exists, "The transaction {} is stored already.", what.key);
  undo_later([this, key = what.key] { keys_.erase(key); });
  for (const ledger::Entry& entry : what.entries) {
    balances_[entry.account] += entry.amount;
    undo_later([this, entry] { balances_[entry.account] -= entry.amount; });
  }
  for (const ledger::Entry& entry : what.entries) {
    if (entry.account.kind != ledger::Account::Kind::mint && balances_[entry.account] < 0) {
      return fail(ErrorCode::insufficient_funds,
                  "The account {} holds less than the {} micro-credits that {} takes.",
                  entry.account.text(), -entry.amount, what.key);
    }
  }
  transactions_.push_back(transaction);
  undo_later([this] { transactions_.pop_back(); });
  return {};
}

Result<MemoryStore::JobRow*> MemoryStore::row_of(const JobId& id) {
  const auto found = jobs_.find(id);
  if (found == jobs_.end())
    return fail(ErrorCode::not_found, "The job {} is not stored.", id.text());
  return &found->second;
}

Result<Loaded> MemoryStore::load() {
  const std::lock_guard lock(mutex_);
  Loaded loaded;
  for (const JobId& id : order_) {
    const JobRow& row = jobs_.at(id);
    if (row.job.state != JobState::running) continue;
    loaded.jobs.push_back(row.job);
    for (const auto& [index, task] : row.tasks) loaded.tasks.push_back(task);
    for (const auto& [index, all] : row.replicas) {
      if (!row.tasks.contains(index))
        loaded.replicas.insert(loaded.replicas.end(), all.begin(), all.end());
    }
  }
  for (const auto& [account, amount] : balances_) {
    if (amount != 0) loaded.balances.push_back({.account = account, .amount = amount});
  }
  for (const Transaction& each : transactions_) {
    const auto& what = each.transaction;
    if (!what.job && what.key.starts_with(ledger::answer_key_prefix))
      continue;  // As sqlite/reader.cpp says.
    if (!what.job || jobs_.at(*what.job).job.state == JobState::running)
      loaded.keys.push_back({.key = what.key, .job = what.job});
  }
  const auto copy = [](const auto& map, auto& rows) {
    for (const auto& [key, row] : map) rows.push_back(row);
  };
  copy(secrets_, loaded.secrets);
  copy(reputations_, loaded.reputations);
  copy(standings_, loaded.standings);
  copy(client_shares_, loaded.client_shares);
  copy(mismatches_, loaded.mismatches);
  copy(watches_, loaded.watches);
  copy(faults_, loaded.faults);
  copy(client_weights_, loaded.client_weights);
  copy(devices_, loaded.devices);
  copy(api_keys_, loaded.api_keys);
  copy(checkpoints_, loaded.checkpoints);
  copy(presences_, loaded.presences);
  copy(models_, loaded.models);
  copy(paces_, loaded.paces);
  std::ranges::stable_sort(loaded.paces, {}, &Pace::time);
  copy(seasons_, loaded.seasons);
  load_held(loaded);
  copy(rechecks_, loaded.rechecks);
  for (const JobId& id : order_) {
    for (auto each = corrections_.lower_bound({.job = id, .index = 0});
         each != corrections_.end() && each->first.job == id; ++each)
      if (!each->second.settled) loaded.corrections.push_back(each->second);
  }
  return loaded;
}

void MemoryStore::load_held(Loaded& loaded) const {
  for (const JobId& id : order_) {
    const JobRow& row = jobs_.at(id);
    const auto first = held_pays_.lower_bound({{.job = id, .index = 0}, {}});
    if (first == held_pays_.end() || first->first.first.job != id) continue;
    loaded.held_jobs.push_back(row.job);
    for (auto each = first; each != held_pays_.end() && each->first.first.job == id; ++each) {
      const TaskId& task = each->first.first;
      const bool is_new = loaded.held_pays.empty() || loaded.held_pays.back().task != task;
      loaded.held_pays.push_back(each->second);
      if (const auto found = row.tasks.find(task.index); is_new && found != row.tasks.end())
        loaded.held_tasks.push_back(found->second);
    }
  }
}

Result<std::vector<Task>> MemoryStore::paid_tasks(const PaidPage& page) {
  const std::lock_guard lock(mutex_);
  std::vector<Task> found;
  bool is_after = !page.after;
  for (const JobId& id : order_) {
    const JobRow& row = jobs_.at(id);
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

Result<std::vector<Correction>> MemoryStore::corrections(const JobId& id) {
  const std::lock_guard lock(mutex_);
  WEFT_OK(row_of(id));
  std::vector<Correction> found;
  for (auto each = corrections_.lower_bound({.job = id, .index = 0});
       each != corrections_.end() && each->first.job == id; ++each)
    found.push_back(each->second);
  return found;
}

Result<BasisCounts> MemoryStore::bases(const JobId& id) {
  const std::lock_guard lock(mutex_);
  WEFT_ASSIGN(const JobRow* row, row_of(id));
  BasisCounts counts{};
  for (const auto& [index, task] : row->tasks) ++counts[static_cast<std::size_t>(task.basis)];
  return counts;
}

template <class Wanted>
Result<std::vector<Check>> MemoryStore::latest_checks(std::uint32_t count, Wanted wanted) {
  std::vector<Check> found;
  for (auto each = checks_.rbegin(); each != checks_.rend() && found.size() < count; ++each)
    if (wanted(*each)) found.push_back(*each);
  std::ranges::reverse(found);
  return found;
}

Result<std::vector<Evidence>> MemoryStore::evidence(std::size_t from, std::size_t count) {
  const std::lock_guard lock(mutex_);
  return evidence_ | std::views::drop(from) | std::views::take(count) |
         std::ranges::to<std::vector>();
}

Result<std::vector<Check>> MemoryStore::checks(const JobId& id, std::uint32_t count) {
  const std::lock_guard lock(mutex_);
  WEFT_OK(row_of(id));
  return latest_checks(count, [&](const Check& each) { return each.task.job == id; });
}

Result<std::vector<Check>> MemoryStore::checks(const PublicKey& worker, std::uint32_t count) {
  const std::lock_guard lock(mutex_);
  return latest_checks(count, [&](const Check& each) { return each.worker == worker; });
}

Result<Job> MemoryStore::job(const JobId& id) {
  const std::lock_guard lock(mutex_);
  const auto found = jobs_.find(id);
  if (found == jobs_.end()) return fail(ErrorCode::not_found, "There is no job {}.", id.text());
  return found->second.job;
}

Result<std::vector<Task>> MemoryStore::tasks(const JobId& id) {
  const std::lock_guard lock(mutex_);
  WEFT_ASSIGN(const JobRow* row, row_of(id));
  std::vector<Task> all;
  for (const auto& [index, task] : row->tasks) all.push_back(task);
  return all;
}

Result<std::vector<Replica>> MemoryStore::replicas(const JobId& id) {
  const std::lock_guard lock(mutex_);
  WEFT_ASSIGN(const JobRow* row, row_of(id));
  std::vector<Replica> all;
  for (const auto& [index, each] : row->replicas) all.insert(all.end(), each.begin(), each.end());
  return all;
}

Result<std::vector<Receipt>> MemoryStore::receipts(const JobId& id) {
  const std::lock_guard lock(mutex_);
  WEFT_ASSIGN(const JobRow* row, row_of(id));
  std::set<Hash> named;
  for (const auto& [index, each] : row->replicas) {
    for (const Replica& replica : each) named.insert(replica.receipt);
  }
  std::vector<Receipt> found;
  for (const Hash& digest : named) {
    if (const auto receipt = receipts_.find(digest); receipt != receipts_.end())
      found.push_back(receipt->second);
  }
  return found;
}

Result<std::vector<Job>> MemoryStore::jobs(const JobPage& page) {
  const std::lock_guard lock(mutex_);
  const UnixMillis before = page.before == 0 ? std::numeric_limits<UnixMillis>::max() : page.before;
  std::vector<Job> all;
  for (auto id = order_.rbegin(); id != order_.rend(); ++id) {
    const Job& job = jobs_.at(*id).job;
    if (job.created < before && (!page.client || job.client == *page.client)) all.push_back(job);
  }
  std::ranges::stable_sort(all, std::greater<>(), &Job::created);
  // The last millisecond of a page is whole: the next page begins below it.
  std::size_t size = std::min<std::size_t>(all.size(), page.count);
  while (size > 0 && size < all.size() && all[size].created == all[size - 1].created) ++size;
  all.resize(size);
  return all;
}

Result<std::optional<JobId>> MemoryStore::job_of_nonce(const PublicKey& client,
                                                       const SubmitNonce& nonce) {
  const std::lock_guard lock(mutex_);
  const auto found = nonces_.find({client, nonce});
  if (found == nonces_.end()) return std::optional<JobId>();
  return std::optional(found->second);
}

Result<BlobOwners> MemoryStore::blob_owners(UnixMillis ended_since) {
  const std::lock_guard lock(mutex_);
  BlobOwners owners;
  for (const auto& [id, row] : jobs_) {
    const auto held = held_pays_.lower_bound({{.job = id, .index = 0}, {}});
    const bool is_held = held != held_pays_.end() && held->first.first.job == id;
    const bool is_kept = row.job.ended >= ended_since && !row.job.manifest.empty();
    if (row.job.state == JobState::running || is_kept || is_held) owners.jobs.push_back(id);
  }
  for (const auto& [key, row] : checkpoints_) owners.blobs.push_back(row.blob);
  for (const auto& [name, model] : models_)
    owners.blobs.insert(owners.blobs.end(), {model.file_hash(), model.chunks_hash()});
  return owners;
}

// All transactions, with what each did to its accounts.
std::vector<Posted> MemoryStore::posted() const {
  std::map<ledger::Account, MicroCredits> balances;
  std::vector<Posted> all;
  for (const Transaction& each : transactions_) {
    const ledger::Transaction& from = each.transaction;
    Posted& made = all.emplace_back(Posted{
        .key = from.key, .job = from.job, .what = from.what, .time = each.time, .movements = {}});
    for (const ledger::Entry& entry : from.entries) {
      auto known = std::ranges::find(made.movements, entry.account, &Movement::account);
      if (known == made.movements.end())
        known = made.movements.insert(known, {.account = entry.account, .amount = 0, .balance = 0});
      known->amount += entry.amount;
      known->balance = balances[entry.account] += entry.amount;
    }
  }
  return all;
}

// A page's number is the transaction's place, from 1.
Result<History> MemoryStore::history(const ledger::Account& account, const HistoryPage& page) {
  const std::lock_guard lock(mutex_);
  const std::vector<Posted> all = posted();
  const auto touches = [&](std::size_t place) {
    return std::ranges::contains(all[place - 1].movements, account, &Movement::account);
  };
  if (page.from > all.size() || (page.from != 0 && !touches(page.from)))
    return fail(ErrorCode::invalid_argument, "There is no page of {} that begins at {}.",
                account.text(), page.from);
  History history;
  for (std::size_t place = page.from == 0 ? all.size() : page.from; place > 0; --place) {
    if (!touches(place)) continue;
    if (history.transactions.size() == page.count) {
      history.next = place;
      break;
    }
    history.transactions.push_back(all[place - 1]);
  }
  return history;
}

Result<History> MemoryStore::history(const JobId& job, const HistoryPage& page) {
  const std::lock_guard lock(mutex_);
  WEFT_OK(row_of(job));
  const std::vector<Posted> all = posted();
  History history;
  for (std::size_t place = std::max<std::size_t>(page.from, 1); place <= all.size(); ++place) {
    if (all[place - 1].job != job) continue;
    if (history.transactions.size() == page.count) {
      history.next = place;
      break;
    }
    history.transactions.push_back(all[place - 1]);
  }
  return history;
}

Result<History> MemoryStore::history(const HistoryPage& page) {
  const std::lock_guard lock(mutex_);
  const std::vector<Posted> all = posted();
  History history;
  for (std::size_t place = std::max<std::size_t>(page.from, 1); place <= all.size(); ++place) {
    if (history.transactions.size() == page.count) {
      history.next = place;
      break;
    }
    history.transactions.push_back(all[place - 1]);
  }
  return history;
}

Result<> MemoryStore::audit() {
  const std::lock_guard lock(mutex_);
  std::map<ledger::Account, MicroCredits> added;
  for (const Transaction& each : transactions_) {
    for (const ledger::Entry& entry : each.transaction.entries)
      added[entry.account] += entry.amount;
  }
  for (const auto& [account, amount] : balances_) {
    if (added[account] != amount) {
      return fail(ErrorCode::data_loss, "The account {} holds {}; its transactions sum to {}.",
                  account.text(), amount, added[account]);
    }
  }
  return {};
}

}  // namespace

std::unique_ptr<Store> create() { return std::make_unique<MemoryStore>(); }

}  // namespace weft::store::memory
