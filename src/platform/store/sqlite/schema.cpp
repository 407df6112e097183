#include "platform/store/sqlite/schema.h"

#include <array>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/base/clock.h"
#include "common/base/format.h"
#include "platform/store/sqlite/old_balances.h"
#include "platform/store/sqlite/old_settings.h"
#include "platform/store/sqlite/rows.h"

namespace weft::store::sqlite {
namespace {

// Rows refer to a job by its `seq`, a small number, instead of by its id. Lists inside a row
// (outputs, agreeing workers) are blobs, because no query selects by their elements; see rows.h.
struct Step {
  const char* sql;
  Result<> (*fill)(Connection&) = nullptr;  // Computes rows after `sql`, if not null.
  const char* finish = "";                  // SQL that runs last.
};

// Makes movements from the entries that transactions had as a blob.
Result<> fill_movements(Connection& connection) {
  struct Account {
    MicroCredits balance = 0;
    std::int64_t last = 0;
  };
  std::unordered_map<std::int64_t, Account> accounts;
  std::int64_t number = 0;
  WEFT_ASSIGN(Statement transactions,
              connection.prepare("SELECT seq, entries FROM transactions ORDER BY seq"));
  WEFT_ASSIGN(Statement insert,
              connection.prepare("INSERT INTO movements VALUES (?, ?, ?, ?, ?, ?)"));
  WEFT_ASSIGN(Statement begin,
              connection.prepare("UPDATE transactions SET movement = ? WHERE seq = ?"));
  WEFT_ASSIGN(Statement last, connection.prepare("UPDATE accounts SET last = ? WHERE id = ?"));
  // All rows are read first, because a statement that walks a table may miss rows that change
  // meanwhile.
  std::vector<std::pair<std::int64_t, std::vector<StoredEntry>>> all;
  transactions.start();
  for (;;) {
    WEFT_ASSIGN(const bool row, transactions.next());
    if (!row) break;
    WEFT_ASSIGN(auto entries, unpack_entries(transactions.blob(1)));
    all.emplace_back(transactions.integer(0), net(entries));
  }
  transactions.finish();
  for (const auto& [seq, entries] : all) {
    WEFT_OK(begin.run(number + 1, seq));
    for (const StoredEntry& entry : entries) {
      Account& account = accounts[entry.account];
      account.balance += entry.amount;
      WEFT_OK(
          insert.run(++number, entry.account, seq, entry.amount, account.balance, account.last));
      account.last = number;
    }
  }
  for (const auto& [id, account] : accounts) WEFT_OK(last.run(account.last, id));
  return {};
}

constexpr std::array steps = {
    Step{R"(
    CREATE TABLE settings (name TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;

    CREATE TABLE jobs (
      seq INTEGER PRIMARY KEY AUTOINCREMENT,
      id BLOB NOT NULL UNIQUE, client BLOB NOT NULL, name TEXT NOT NULL, manifest TEXT NOT NULL, manifest_hash BLOB NOT NULL,
      tasks INTEGER NOT NULL, budget INTEGER NOT NULL, created INTEGER NOT NULL,
      state INTEGER NOT NULL, accepted INTEGER NOT NULL, price INTEGER NOT NULL, units REAL NOT NULL, pace REAL NOT NULL,
      reason TEXT NOT NULL, root BLOB NOT NULL, ended INTEGER NOT NULL, joined BLOB NOT NULL);
    CREATE INDEX jobs_running ON jobs (seq) WHERE state = 0;
    CREATE INDEX jobs_created ON jobs (created);
    CREATE INDEX jobs_client ON jobs (client, created);

    CREATE TABLE nonces (client BLOB, nonce BLOB, job INTEGER NOT NULL, PRIMARY KEY (client, nonce)) WITHOUT ROWID;

    CREATE TABLE receipts (
      digest BLOB PRIMARY KEY, worker BLOB NOT NULL, session_nonce BLOB NOT NULL, signature BLOB NOT NULL, arrived INTEGER NOT NULL) WITHOUT ROWID;

    CREATE TABLE replicas (
      job INTEGER, task INTEGER, worker BLOB, attempt INTEGER NOT NULL, root BLOB NOT NULL, outputs BLOB NOT NULL, receipt BLOB NOT NULL,
      gpu_seconds REAL NOT NULL, wall_seconds REAL NOT NULL, arrived INTEGER NOT NULL,
      PRIMARY KEY (job, task, worker)) WITHOUT ROWID;

    CREATE TABLE tasks (
      job INTEGER, task INTEGER, root BLOB NOT NULL, outputs BLOB NOT NULL, worker BLOB NOT NULL, agreeing BLOB NOT NULL, accepted INTEGER NOT NULL,
      PRIMARY KEY (job, task)) WITHOUT ROWID;

    CREATE TABLE accounts (
      id INTEGER PRIMARY KEY, kind INTEGER NOT NULL, key BLOB NOT NULL, balance INTEGER NOT NULL CHECK (balance >= 0 OR kind = 0),
      UNIQUE (kind, key));

    CREATE TABLE transactions (
      seq INTEGER PRIMARY KEY AUTOINCREMENT,
      key TEXT NOT NULL UNIQUE, job INTEGER, entries BLOB NOT NULL, what TEXT NOT NULL, time INTEGER NOT NULL);
    CREATE INDEX transactions_job ON transactions (job);
    CREATE TABLE account_transactions (account INTEGER, seq INTEGER, PRIMARY KEY (account, seq)) WITHOUT ROWID;

    CREATE TABLE reputations (worker BLOB PRIMARY KEY, accepted INTEGER NOT NULL, refused INTEGER NOT NULL) WITHOUT ROWID;
    )"},
    Step{R"(
    CREATE TABLE movements (
      number INTEGER PRIMARY KEY, account INTEGER NOT NULL, seq INTEGER NOT NULL, amount INTEGER NOT NULL, balance INTEGER NOT NULL,
      previous INTEGER NOT NULL);
    ALTER TABLE accounts ADD COLUMN last INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE transactions ADD COLUMN movement INTEGER NOT NULL DEFAULT 0;
    )",
         fill_movements,
         "DROP TABLE account_transactions; ALTER TABLE transactions DROP COLUMN entries;"},
    // Receipts become numbered in the order of arrival: keyed by digest, each would change a page
    // of its own.
    Step{R"(
    ALTER TABLE receipts RENAME TO receipts_by_digest;
    CREATE TABLE receipts (
      seq INTEGER PRIMARY KEY, digest BLOB NOT NULL, worker BLOB NOT NULL, session_nonce BLOB NOT NULL, signature BLOB NOT NULL,
      arrived INTEGER NOT NULL);
    INSERT INTO receipts (digest, worker, session_nonce, signature, arrived)
      SELECT digest, worker, session_nonce, signature, arrived FROM receipts_by_digest ORDER BY arrived;
    CREATE INDEX receipts_digest ON receipts (digest);
    ALTER TABLE replicas ADD COLUMN receipt_seq INTEGER NOT NULL DEFAULT 0;
    UPDATE replicas SET receipt_seq = coalesce((SELECT seq FROM receipts WHERE digest = receipt), 0);
    DROP INDEX receipts_digest;
    DROP TABLE receipts_by_digest;
    )"},
    // A table for each kind of record that was a prefixed value in `settings`.
    Step{R"(
    CREATE TABLE secrets (name TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;

    CREATE TABLE standings (
      worker BLOB PRIMARY KEY, verified REAL NOT NULL, updated INTEGER NOT NULL, wrong INTEGER NOT NULL,
      suspended_until INTEGER NOT NULL) WITHOUT ROWID;

    CREATE TABLE presences (worker BLOB PRIMARY KEY, hours BLOB NOT NULL) WITHOUT ROWID;

    CREATE TABLE client_weights (client BLOB PRIMARY KEY, weight REAL NOT NULL, set_at INTEGER NOT NULL) WITHOUT ROWID;

    CREATE TABLE api_keys (
      id TEXT PRIMARY KEY, hash BLOB NOT NULL UNIQUE, name TEXT NOT NULL, owner BLOB NOT NULL, created INTEGER NOT NULL,
      revoked INTEGER NOT NULL, requests_per_min INTEGER NOT NULL, tokens_per_min INTEGER NOT NULL, tokens_max INTEGER NOT NULL,
      credits_max INTEGER NOT NULL, requests INTEGER NOT NULL, tokens INTEGER NOT NULL, credits INTEGER NOT NULL) WITHOUT ROWID;

    CREATE TABLE checkpoints (
      job INTEGER, task INTEGER, worker BLOB, blob BLOB NOT NULL, bytes INTEGER NOT NULL, parts_done INTEGER NOT NULL,
      parts INTEGER NOT NULL, PRIMARY KEY (job, task, worker)) WITHOUT ROWID;

    CREATE TABLE models (
      name TEXT PRIMARY KEY, file TEXT NOT NULL, chunks TEXT NOT NULL, bytes INTEGER NOT NULL, header_bytes INTEGER NOT NULL,
      chunk_bytes INTEGER NOT NULL, architecture TEXT NOT NULL, layers INTEGER NOT NULL, embedding INTEGER NOT NULL,
      vocabulary INTEGER NOT NULL, context INTEGER NOT NULL, layer_bytes INTEGER NOT NULL, first_bytes INTEGER NOT NULL,
      last_bytes INTEGER NOT NULL, cache_bytes INTEGER NOT NULL, shards_min INTEGER NOT NULL, price INTEGER NOT NULL,
      wire TEXT NOT NULL, created INTEGER NOT NULL, owner TEXT NOT NULL) WITHOUT ROWID;
    )",
         move_settings, "DROP TABLE settings"},
    // One balance for each owner, with grants apart from credits that can be staked and
    // transferred; and the devices of owners.
    Step{R"(
    CREATE TABLE devices (
      seq INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, owner BLOB NOT NULL, role INTEGER NOT NULL, name TEXT NOT NULL,
      added INTEGER NOT NULL, revoked INTEGER NOT NULL);
    )",
         carry_balances},
    // Held pay by task. Pay that was held before stays on its account, and its tasks are not known.
    Step{R"(
    CREATE TABLE held_pays (
      job INTEGER, task INTEGER, worker BLOB, owner BLOB NOT NULL, free INTEGER NOT NULL, granted INTEGER NOT NULL,
      lost INTEGER NOT NULL, PRIMARY KEY (job, task, worker)) WITHOUT ROWID;
    )"},
    // Corrections of the results for which convicted workers were paid, and the basis of each
    // decision.
    Step{R"(
    ALTER TABLE tasks ADD COLUMN basis INTEGER NOT NULL DEFAULT 0;

    CREATE TABLE rechecks (
      worker BLOB PRIMARY KEY, convicted INTEGER NOT NULL, job BLOB NOT NULL, task INTEGER NOT NULL, tasks INTEGER NOT NULL,
      taken INTEGER NOT NULL) WITHOUT ROWID;

    CREATE TABLE corrections (
      job INTEGER, task INTEGER, worker BLOB NOT NULL, client BLOB NOT NULL, time INTEGER NOT NULL, replaced INTEGER NOT NULL, was BLOB NOT NULL,
      due INTEGER NOT NULL, refunded INTEGER NOT NULL, settled INTEGER NOT NULL, reason TEXT NOT NULL,
      PRIMARY KEY (job, task)) WITHOUT ROWID;
    CREATE INDEX corrections_open ON corrections (job, task) WHERE settled = 0;

    CREATE TABLE checks (
      seq INTEGER PRIMARY KEY, job INTEGER NOT NULL, task INTEGER NOT NULL, time INTEGER NOT NULL, worker BLOB NOT NULL,
      root BLOB NOT NULL, by_worker BLOB NOT NULL, kind INTEGER NOT NULL, outcome INTEGER NOT NULL, ranges BLOB NOT NULL,
      wrong BLOB NOT NULL, reason TEXT NOT NULL);
    CREATE INDEX checks_job ON checks (job, task);
    CREATE INDEX checks_worker ON checks (worker, seq);
    )"},
    // The agreed price of a job before it runs, and the records on which quotes are based.
    Step{R"(
    ALTER TABLE jobs ADD COLUMN per_unit INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE jobs ADD COLUMN price_quoted INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE jobs ADD COLUMN price_max INTEGER NOT NULL DEFAULT 0;

    CREATE TABLE paces (
      work BLOB, worker BLOB, seconds REAL NOT NULL, alone INTEGER NOT NULL, time INTEGER NOT NULL,
      PRIMARY KEY (work, worker)) WITHOUT ROWID;

    CREATE TABLE seasons (hour INTEGER PRIMARY KEY, busy REAL NOT NULL);
    )"},
    // True if a job ends when it costs more than price_max, as all earlier jobs did.
    Step{"ALTER TABLE jobs ADD COLUMN price_max_named INTEGER NOT NULL DEFAULT 1;"},
    // The weight that each client has contributed to a worker's standing; contributions before this
    // version are not known. A corrected job is joined again before its refund is known (`joined`).
    Step{R"(
    ALTER TABLE corrections ADD COLUMN joined INTEGER NOT NULL DEFAULT 0;

    CREATE TABLE client_shares (
      worker BLOB, client BLOB, weight REAL NOT NULL, at INTEGER NOT NULL, PRIMARY KEY (worker, client)) WITHOUT ROWID;
    )"},
    // Receipts of the second format, whose claims are a blob of their own; receipts that contradict
    // each other.
    Step{R"(
    ALTER TABLE receipts ADD COLUMN claims BLOB NOT NULL
      DEFAULT X'0000000000000000000000000000000000000000000000000000000000000000';

    CREATE TABLE evidence (
      seq INTEGER PRIMARY KEY, worker BLOB NOT NULL, owner BLOB NOT NULL, job BLOB NOT NULL, task INTEGER NOT NULL, attempt INTEGER NOT NULL,
      time INTEGER NOT NULL, root BLOB NOT NULL, statement BLOB NOT NULL, claims BLOB NOT NULL, signature BLOB NOT NULL,
      other_root BLOB NOT NULL, other_statement BLOB NOT NULL, other_claims BLOB NOT NULL, other_signature BLOB NOT NULL,
      UNIQUE (worker, job, task, attempt));
    )"},
    // Mismatches that wait for one in another client's job. Files of earlier versions have none.
    Step{R"(
    CREATE TABLE mismatches (
      worker BLOB, client BLOB, job BLOB NOT NULL, task INTEGER NOT NULL, at INTEGER NOT NULL, penalty INTEGER NOT NULL,
      PRIMARY KEY (worker, client)) WITHOUT ROWID;
    )"},
    // Checks that are planned for workers with wrong results, and the workers at fault for wrong
    // results of running jobs. Files of earlier versions have none.
    Step{R"(
    CREATE TABLE watches (worker BLOB PRIMARY KEY, checks INTEGER NOT NULL, mistakes INTEGER NOT NULL) WITHOUT ROWID;

    CREATE TABLE faults (job BLOB PRIMARY KEY, state BLOB NOT NULL) WITHOUT ROWID;
    )"},
    // The number of successive samples that a newcomer has passed. Files of earlier versions have
    // none.
    Step{R"(
    ALTER TABLE watches ADD COLUMN passes INTEGER NOT NULL DEFAULT 0;
    )"},
    // The roots of the steps to which a worker is committed. Replicas of earlier versions have none
    // and are checked whole.
    Step{R"(
    ALTER TABLE replicas ADD COLUMN steps BLOB NOT NULL DEFAULT x'';
    )"},
    // The evidence of smaller weights in the answers of workers, and the width of models' weights,
    // which is unknown for models of earlier versions.
    Step{R"(
    ALTER TABLE models ADD COLUMN weights INTEGER NOT NULL DEFAULT 0;

    CREATE TABLE weight_sums (
      worker BLOB, file BLOB, shared INTEGER, sum REAL NOT NULL, PRIMARY KEY (worker, file, shared)) WITHOUT ROWID;
    )"},
};

Result<int> version_of(Connection& connection) {
  WEFT_OK(
      connection.execute("CREATE TABLE IF NOT EXISTS schema_steps (version INTEGER PRIMARY KEY, "
                         "applied INTEGER NOT NULL)"));
  WEFT_ASSIGN(Statement latest,
              connection.prepare("SELECT coalesce(max(version), 0) FROM schema_steps"));
  latest.start();
  WEFT_ASSIGN(const bool row, latest.next());
  return row ? static_cast<int>(latest.integer(0)) : 0;
}

}  // namespace

int schema_version() { return static_cast<int>(steps.size()); }

Result<> migrate(Connection& connection, int up_to) {
  WEFT_ASSIGN(const int version, version_of(connection));
  if (version > schema_version()) {
    return fail(ErrorCode::unsupported,
                "The database has schema version {} and this Weft knows versions up to {}: start "
                "the newer Weft that wrote it, or choose another folder with --data.",
                version, schema_version());
  }
  for (int number = version; number < up_to; ++number) {
    const Step& step = steps[static_cast<std::size_t>(number)];
    auto done = [&]() -> Result<> {
      WEFT_OK(connection.execute(weft::format("BEGIN IMMEDIATE; {}", step.sql)));
      if (step.fill != nullptr) WEFT_OK(step.fill(connection));
      return connection.execute(weft::format("{}; INSERT INTO schema_steps VALUES ({}, {}); COMMIT",
                                             step.finish, number + 1, unix_now()));
    }();
    if (!done) {
      (void)connection.execute("ROLLBACK");  // SQLite may already have rolled back.
      return pass(std::move(done), "while bringing the database to schema version {}", number + 1);
    }
  }
  // A new index needs no new schema version, because SQLite also keeps it up to date for an older
  // Weft.
  if (up_to < schema_version()) return {};
  return connection.execute(
      "CREATE INDEX IF NOT EXISTS jobs_ended ON jobs (ended) WHERE state <> 0");
}

}  // namespace weft::store::sqlite
