#include "service/store/sqlite/reader.h"

#include <format>
#include <limits>
#include <map>
#include <unordered_map>

#include "service/store/sqlite/rows.h"

namespace weft::store::sqlite {
namespace {

// Calls `take(statement)` -> Result<> for every row of a statement that has been started.
template <class Take>
Result<> each_row(Statement& statement, Take take) {
  for (;;) {
    WEFT_ASSIGN(const bool row, statement.next());
    if (!row) return {};
    WEFT_OK(take(statement));
  }
}

// Every row of `sql` through `make(statement)` -> Result<Row>.
template <class Row, class Make, class... Values>
Result<std::vector<Row>> rows(Connection& connection, const std::string& sql, Make make, const Values&... values) {
  WEFT_ASSIGN(Statement statement, connection.prepare(sql));
  statement.start(values...);
  std::vector<Row> all;
  WEFT_OK(each_row(statement, [&](const Statement& row) -> Result<> {
    WEFT_ASSIGN(Row made, make(row));
    all.push_back(std::move(made));
    return {};
  }));
  return all;
}

}  // namespace

template <class Use>
auto Reader::snapshot(Use use) -> decltype(use()) {
  WEFT_OK(connection_.execute("BEGIN"));
  auto result = use();
  (void)connection_.execute("COMMIT");  // Nothing was written.
  return result;
}

Result<Loaded> Reader::load() {
  return snapshot([this] { return load_all(); });
}

Result<Loaded> Reader::load_all() {
  Loaded loaded;
  WEFT_ASSIGN(loaded.settings,
              rows<Setting>(connection_, "SELECT name, value FROM settings ORDER BY name", [](const Statement& row) -> Result<Setting> {
                const ByteSpan value = row.blob(1);
                return Setting{.name = row.text(0), .value = {value.begin(), value.end()}};
              }));
  WEFT_OK(load_running(loaded));
  WEFT_OK(load_money(loaded));
  WEFT_ASSIGN(loaded.reputations, rows<Reputation>(connection_, "SELECT worker, accepted, refused FROM reputations ORDER BY worker",
                                                   [](const Statement& row) -> Result<Reputation> {
                                                     WEFT_ASSIGN(const PublicKey worker, row.fixed<PublicKey>(0));
                                                     return Reputation{.worker = worker,
                                                                       .accepted = static_cast<std::uint64_t>(row.integer(1)),
                                                                       .refused = static_cast<std::uint64_t>(row.integer(2))};
                                                   }));
  return loaded;
}

Result<> Reader::load_running(Loaded& loaded) {
  WEFT_ASSIGN(loaded.jobs, rows<Job>(connection_, std::format("SELECT {} FROM jobs WHERE state = 0 ORDER BY seq", job_columns), job_of));
  WEFT_ASSIGN(Statement tasks, connection_.prepare(std::format("SELECT {} FROM tasks WHERE job = ? ORDER BY task", task_columns)));
  WEFT_ASSIGN(Statement replicas,
              connection_.prepare(std::format("SELECT {} FROM replicas r WHERE job = ? AND NOT EXISTS "
                                              "(SELECT 1 FROM tasks t WHERE t.job = r.job AND t.task = r.task) ORDER BY task, arrived, worker",
                                              replica_columns)));
  for (const Job& job : loaded.jobs) {
    WEFT_ASSIGN(const std::int64_t row, job_row(job.id));
    tasks.start(row);
    WEFT_OK(each_row(tasks, [&](const Statement& each) -> Result<> {
      WEFT_ASSIGN(Task task, task_of(each, job.id));
      loaded.tasks.push_back(std::move(task));
      return {};
    }));
    replicas.start(row);
    WEFT_OK(each_row(replicas, [&](const Statement& each) -> Result<> {
      WEFT_ASSIGN(Replica replica, replica_of(each, job.id));
      loaded.replicas.push_back(std::move(replica));
      return {};
    }));
  }
  return {};
}

Result<> Reader::load_money(Loaded& loaded) {
  WEFT_ASSIGN(loaded.balances, rows<ledger::Entry>(connection_, "SELECT kind, key, balance FROM accounts WHERE balance <> 0 ORDER BY kind, key",
                                                   [](const Statement& row) -> Result<ledger::Entry> {
                                                     WEFT_ASSIGN(const ledger::Account account, account_of(row, 0));
                                                     return ledger::Entry{.account = account, .amount = row.integer(2)};
                                                   }));
  using Key = ledger::Ledger::AppliedKey;
  WEFT_ASSIGN(loaded.keys, rows<Key>(connection_, "SELECT key FROM transactions WHERE job IS NULL ORDER BY seq",
                                     [](const Statement& row) -> Result<Key> { return Key{.key = row.text(0), .job = {}}; }));
  WEFT_ASSIGN(const std::vector<Key> of_jobs,
              rows<Key>(connection_, "SELECT t.key, j.id FROM jobs j JOIN transactions t ON t.job = j.seq WHERE j.state = 0 ORDER BY j.seq, t.seq",
                        [](const Statement& row) -> Result<Key> {
                          WEFT_ASSIGN(const JobId job, row.fixed<JobId>(1));
                          return Key{.key = row.text(0), .job = job};
                        }));
  loaded.keys.insert(loaded.keys.end(), of_jobs.begin(), of_jobs.end());
  return {};
}

Result<std::int64_t> Reader::job_row(const JobId& id) {
  WEFT_ASSIGN(const auto found,
              rows<std::int64_t>(
                  connection_, "SELECT seq FROM jobs WHERE id = ?", [](const Statement& row) -> Result<std::int64_t> { return row.integer(0); }, id));
  if (found.empty()) return fail(ErrorCode::not_found, "There is no job {}.", id.text());
  return found.front();
}

Result<Job> Reader::job(const JobId& id) {
  WEFT_ASSIGN(auto found, rows<Job>(connection_, std::format("SELECT {} FROM jobs WHERE id = ?", job_columns), job_of, id));
  if (found.empty()) return fail(ErrorCode::not_found, "There is no job {}.", id.text());
  return std::move(found.front());
}

Result<std::vector<Task>> Reader::tasks(const JobId& id) {
  WEFT_ASSIGN(const std::int64_t row, job_row(id));
  return rows<Task>(
      connection_, std::format("SELECT {} FROM tasks WHERE job = ? ORDER BY task", task_columns),
      [&](const Statement& each) { return task_of(each, id); }, row);
}

Result<std::vector<Replica>> Reader::replicas(const JobId& id) {
  WEFT_ASSIGN(const std::int64_t row, job_row(id));
  return rows<Replica>(
      connection_, std::format("SELECT {} FROM replicas WHERE job = ? ORDER BY task, arrived, worker", replica_columns),
      [&](const Statement& each) { return replica_of(each, id); }, row);
}

Result<Receipt> Reader::receipt(const Hash& digest) {
  WEFT_ASSIGN(const auto found, rows<Receipt>(
                                    connection_, "SELECT worker, session_nonce, signature, arrived FROM receipts WHERE digest = ?",
                                    [&](const Statement& row) -> Result<Receipt> {
                                      Receipt receipt{
                                          .digest = digest, .worker = {}, .session_nonce = {}, .signature = {}, .arrived = row.integer(3)};
                                      WEFT_ASSIGN(receipt.worker, row.fixed<PublicKey>(0));
                                      WEFT_ASSIGN(receipt.session_nonce, row.fixed<Hash>(1));
                                      WEFT_ASSIGN(receipt.signature, row.fixed<Signature>(2));
                                      return receipt;
                                    },
                                    digest));
  if (found.empty()) return fail(ErrorCode::not_found, "There is no receipt {}.", digest.text());
  return found.front();
}

Result<std::vector<Job>> Reader::jobs(const Store::JobPage& page) {
  const UnixMillis before = page.before == 0 ? std::numeric_limits<UnixMillis>::max() : page.before;
  if (page.client) {
    return rows<Job>(connection_,
                     std::format("SELECT {} FROM jobs WHERE client = ? AND created < ? ORDER BY created DESC, seq DESC LIMIT ?", job_columns), job_of,
                     *page.client, before, page.count);
  }
  return rows<Job>(connection_, std::format("SELECT {} FROM jobs WHERE created < ? ORDER BY created DESC, seq DESC LIMIT ?", job_columns), job_of,
                   before, page.count);
}

// Asked for every submission, so that its statement is kept.
Result<std::optional<JobId>> Reader::job_of_nonce(const PublicKey& client, const SubmitNonce& nonce) {
  if (!find_nonce_) {
    WEFT_ASSIGN(find_nonce_, connection_.prepare("SELECT j.id FROM nonces n JOIN jobs j ON j.seq = n.job WHERE n.client = ? AND n.nonce = ?"));
  }
  find_nonce_->start(client, ByteSpan(nonce));
  auto found = [&]() -> Result<std::optional<JobId>> {
    WEFT_ASSIGN(const bool there, find_nonce_->next());
    if (!there) return std::optional<JobId>();
    WEFT_ASSIGN(const JobId id, find_nonce_->fixed<JobId>(0));
    return std::optional(id);
  }();
  find_nonce_->finish();
  return found;
}

Result<std::vector<Transaction>> Reader::transactions(const ledger::Account& account, std::uint32_t count) {
  return snapshot([&]() -> Result<std::vector<Transaction>> {
    std::unordered_map<std::int64_t, ledger::Account> names;
    WEFT_ASSIGN(Statement name, connection_.prepare("SELECT kind, key FROM accounts WHERE id = ?"));
    const auto name_of = [&](std::int64_t row) -> Result<ledger::Account> {
      if (const auto known = names.find(row); known != names.end()) return known->second;
      name.start(row);
      WEFT_ASSIGN(const bool found, name.next());
      if (!found) return fail(ErrorCode::data_loss, "A transaction names the account in row {}, which is missing.", row);
      WEFT_ASSIGN(const ledger::Account read, account_of(name, 0));
      return names[row] = read;
    };
    const auto make = [&](const Statement& row) -> Result<Transaction> {
      Transaction made;
      made.transaction.key = row.text(0);
      if (!row.is_null(1)) {
        WEFT_ASSIGN(made.transaction.job, row.fixed<JobId>(1));
      }
      WEFT_ASSIGN(const auto entries, unpack_entries(row.blob(2)));
      for (const StoredEntry& entry : entries) {
        WEFT_ASSIGN(const ledger::Account of, name_of(entry.account));
        made.transaction.entries.push_back({.account = of, .amount = entry.amount});
      }
      made.transaction.what = row.text(3);
      made.time = row.integer(4);
      return made;
    };
    return rows<Transaction>(
        connection_,
        "SELECT t.key, j.id, t.entries, t.what, t.time FROM accounts a JOIN account_transactions x ON x.account = a.id "
        "JOIN transactions t ON t.seq = x.seq LEFT JOIN jobs j ON j.seq = t.job WHERE a.kind = ? AND a.key = ? ORDER BY x.seq DESC LIMIT ?",
        make, static_cast<int>(account.kind), ByteSpan(account.id), count);
  });
}

Result<> Reader::audit() {
  return snapshot([this] { return audit_all(); });
}

Result<> Reader::audit_all() {
  std::map<std::int64_t, MicroCredits> added;
  WEFT_ASSIGN(Statement transactions, connection_.prepare("SELECT key, entries FROM transactions"));
  transactions.start();
  WEFT_OK(each_row(transactions, [&](const Statement& row) -> Result<> {
    WEFT_ASSIGN(const auto entries, unpack_entries(row.blob(1)));
    MicroCredits total = 0;
    for (const StoredEntry& entry : entries) {
      added[entry.account] += entry.amount;
      total += entry.amount;
    }
    if (total != 0) return fail(ErrorCode::data_loss, "The entries of the transaction {} sum to {}, not to 0.", row.text(0), total);
    return {};
  }));
  WEFT_ASSIGN(Statement accounts, connection_.prepare("SELECT kind, key, id, balance FROM accounts"));
  accounts.start();
  WEFT_OK(each_row(accounts, [&](const Statement& row) -> Result<> {
    WEFT_ASSIGN(const ledger::Account account, account_of(row, 0));
    const MicroCredits expected = added[row.integer(2)];
    if (row.integer(3) == expected) return {};
    return fail(ErrorCode::data_loss, "The account {} holds {}; its transactions sum to {}.", account.text(), row.integer(3), expected);
  }));
  return {};
}

}  // namespace weft::store::sqlite
