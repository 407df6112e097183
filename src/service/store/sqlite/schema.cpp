#include "service/store/sqlite/schema.h"

#include <array>
#include <format>

#include "common/base/clock.h"

namespace weft::store::sqlite {
namespace {

// Rows refer to a job by its `seq`, a small number, rather than by its id. Lists inside a row (outputs, agreeing workers,
// entries) are blobs, since nothing asks for their parts; see rows.h.
constexpr std::array steps = {
    R"(
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
    )",
};

Result<int> version_of(Connection& connection) {
  WEFT_OK(connection.execute("CREATE TABLE IF NOT EXISTS schema_steps (version INTEGER PRIMARY KEY, applied INTEGER NOT NULL)"));
  WEFT_ASSIGN(Statement latest, connection.prepare("SELECT coalesce(max(version), 0) FROM schema_steps"));
  latest.start();
  WEFT_ASSIGN(const bool row, latest.next());
  return row ? static_cast<int>(latest.integer(0)) : 0;
}

}  // namespace

int schema_version() { return static_cast<int>(steps.size()); }

Result<> migrate(Connection& connection) {
  WEFT_ASSIGN(const int version, version_of(connection));
  if (version > schema_version()) {
    return fail(ErrorCode::unsupported, "The database has schema version {}; this Weft knows versions up to {}. Use the newer Weft.", version,
                schema_version());
  }
  for (int step = version; step < schema_version(); ++step) {
    const std::string sql = std::format("BEGIN IMMEDIATE; {}; INSERT INTO schema_steps VALUES ({}, {}); COMMIT",
                                        steps[static_cast<std::size_t>(step)], step + 1, unix_now());
    if (auto done = connection.execute(sql); !done) {
      (void)connection.execute("ROLLBACK");  // May have been done by SQLite itself.
      return pass(std::move(done), "while bringing the database to schema version {}", step + 1);
    }
  }
  return {};
}

}  // namespace weft::store::sqlite
