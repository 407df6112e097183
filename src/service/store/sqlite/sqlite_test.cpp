// The file: it survives being closed, belongs to one process, says what is wrong with it, and grows from older versions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "service/store/sqlite/rows.h"
#include "service/store/sqlite/schema.h"
#include "service/store/sqlite/sqlite_store.h"
#include "service/store/sqlite/test_rows.h"

namespace weft::store::sqlite {
namespace {

namespace fs = std::filesystem;

class SqliteFile : public testing::Test {
 protected:
  SqliteFile() {
    std::string name = (fs::temp_directory_path() / "weft-sqlite-XXXXXX").string();
    directory = ::mkdtemp(name.data());
    path = directory / "deep" / "weft.db";
  }
  ~SqliteFile() override { fs::remove_all(directory); }

  fs::path directory;
  fs::path path;
};

TEST_F(SqliteFile, KeepsEverythingOverAReopening) {
  Job job = job_row(1);
  job.manifest = std::string("{\"a\": \"") + std::string(100'000, 'x') + "\"}";
  {
    const auto store = open(path).value();
    ASSERT_TRUE(store->commit(submit_batch(job)).has_value());
  }

  const auto store = open(path).value();

  EXPECT_EQ(store->load()->jobs, std::vector{job});
  EXPECT_EQ(store->commit(submit_batch(job)).error().code, ErrorCode::already_exists);
  EXPECT_TRUE(store->audit().has_value());
}

TEST_F(SqliteFile, BelongsToOneAtATime) {
  const auto store = open(path).value();

  const auto second = open(path);

  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().code, ErrorCode::unavailable);
  EXPECT_TRUE(second.error().message.starts_with("Another process has the database")) << second.error().message;
}

TEST_F(SqliteFile, CallsAFileThatIsNoDatabaseDamaged) {
  fs::create_directories(path.parent_path());
  std::ofstream(path) << std::string(8192, 'n');

  const auto opened = open(path);

  ASSERT_FALSE(opened.has_value());
  EXPECT_EQ(opened.error().code, ErrorCode::data_loss);
  EXPECT_EQ(opened.error().message,
            "The database is damaged (file is not a database); restore it from a copy. - while opening the database " + path.string());
}

TEST_F(SqliteFile, FindsDamageInsideTheFile) {
  {
    const auto store = open(path).value();
    for (unsigned i = 0; i < 300; ++i) {
      Batch batch;
      batch.jobs.push_back(job_row(i));
      ASSERT_TRUE(store->commit(batch).has_value());
    }
  }
  {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(4096 * 3);
    file << std::string(static_cast<std::size_t>(fs::file_size(path)) - 4096 * 3, '\xff');
  }

  const auto opened = open(path);
  const ErrorCode code = opened ? opened.value()->load().error().code : opened.error().code;

  EXPECT_EQ(code, ErrorCode::data_loss);
}

TEST_F(SqliteFile, NoticesMoneyThatWasChangedBehindItsBack) {
  const auto store = open(path).value();
  ASSERT_TRUE(store->commit(submit_batch(job_row(1))).has_value());
  ASSERT_TRUE(store->audit().has_value());
  Connection other = Connection::open(path.string(), "").value();
  ASSERT_TRUE(other.execute("UPDATE accounts SET balance = balance + 1 WHERE kind = 1").has_value());

  EXPECT_EQ(store->audit().error().code, ErrorCode::data_loss);
}

TEST_F(SqliteFile, NoticesMovementsThatWereChangedBehindItsBack) {
  for (const char* change :
       {"UPDATE movements SET amount = amount + 1 WHERE number = 3", "UPDATE movements SET balance = balance + 1 WHERE number = 2",
        "UPDATE movements SET previous = 1 WHERE number = 4", "DELETE FROM movements WHERE number = 4", "DELETE FROM transactions WHERE seq = 2",
        "UPDATE transactions SET movement = 1 WHERE seq = 2", "UPDATE accounts SET last = 1 WHERE kind = 1"}) {
    fs::remove_all(path.parent_path());
    const auto store = open(path).value();
    ASSERT_TRUE(store->commit(submit_batch(job_row(1))).has_value());
    ASSERT_TRUE(store->audit().has_value());
    Connection other = Connection::open(path.string(), "").value();
    ASSERT_TRUE(other.execute(change).has_value()) << change;
    ASSERT_EQ(other.changes(), 1) << change;

    EXPECT_EQ(store->audit().error().code, ErrorCode::data_loss) << change;
  }
}

// Version 1 had a transaction's entries as a blob and an index by account instead of movements.
TEST_F(SqliteFile, MakesMovementsOfTheEntriesOfAnOlderFile) {
  fs::create_directories(path.parent_path());
  const PublicKey client = key_of(1);
  const PublicKey worker = key_of(2);
  const Job job = job_row(1);
  {
    Connection old = Connection::open(path.string(), "").value();
    ASSERT_TRUE(migrate(old, 1).has_value());
    const auto run = [&](const char* sql, const auto&... values) { ASSERT_TRUE(old.prepare(sql)->run(values...).has_value()) << sql; };
    const auto account = [&](int id, const ledger::Account& name, MicroCredits balance) {
      run("INSERT INTO accounts VALUES (?, ?, ?, ?)", id, static_cast<int>(name.kind), ByteSpan(name.id), balance);
    };
    account(1, ledger::Account::mint(), -100);
    account(2, ledger::Account::client(client), 45);
    account(3, ledger::Account::worker(worker), 55);
    const auto transaction = [&](int seq, const char* key, std::vector<StoredEntry> entries) {
      run("INSERT INTO transactions VALUES (?, ?, NULL, ?, 'moves', 7)", seq, std::string(key), pack(entries));
    };
    transaction(4, "grant", {{1, -100}, {2, 100}});
    transaction(9, "twice", {{2, -50}, {3, 50}, {2, -10}, {3, 10}});
    transaction(10, "nothing", {});
    transaction(11, "back", {{3, -5}, {2, 5}});
  }

  const auto store = open(path).value();

  const auto audit = store->audit();
  EXPECT_TRUE(audit.has_value()) << audit.error().message;
  const History history = store->history(ledger::Account::client(client), {}).value();
  ASSERT_EQ(history.transactions.size(), 3U);
  EXPECT_EQ(history.transactions[0].movements,
            (std::vector<Movement>{{ledger::Account::worker(worker), -5, 55}, {ledger::Account::client(client), 5, 45}}));
  EXPECT_EQ(history.transactions[1].movements,
            (std::vector<Movement>{{ledger::Account::client(client), -60, 40}, {ledger::Account::worker(worker), 60, 60}}));
  ASSERT_TRUE(store->commit(submit_batch(job)).has_value());
  EXPECT_TRUE(store->audit().has_value()) << "and goes on";
}

// Version 2 had receipts by their digests.
TEST_F(SqliteFile, FindsTheReceiptsOfAnOlderFile) {
  fs::create_directories(path.parent_path());
  const Job job = job_row(1);
  {
    Connection old = Connection::open(path.string(), "").value();
    ASSERT_TRUE(migrate(old, 2).has_value());
    const auto run = [&](const char* sql, const auto&... values) { ASSERT_TRUE(old.prepare(sql)->run(values...).has_value()) << sql; };
    run("INSERT INTO jobs VALUES (5, ?, ?, 'job', '{}', ?, 3, 1, 1, 0, 0, 0, 0, 0, '', ?, 0, x'')", job.id, job.client, hash_of(1), hash_of(0));
    for (const unsigned worker : {9U, 7U, 8U}) {
      const Receipt receipt = receipt_row(worker);
      run("INSERT INTO receipts VALUES (?, ?, ?, ?, ?)", receipt.digest, receipt.worker, receipt.session_nonce, receipt.signature, receipt.arrived);
    }
    for (const unsigned worker : {7U, 8U}) {
      run("INSERT INTO replicas VALUES (5, 0, ?, 1, ?, x'', ?, 0.5, 0.5, 3)", key_of(worker), hash_of(3), receipt_row(worker).digest);
    }
    run("INSERT INTO replicas VALUES (5, 1, ?, 1, ?, x'', ?, 0.5, 0.5, 3)", key_of(7), hash_of(3), Hash{});
  }

  const auto store = open(path).value();

  EXPECT_THAT(store->receipts(job.id).value(), testing::UnorderedElementsAre(receipt_row(7), receipt_row(8)));
  Batch batch;
  batch.receipts = {receipt_row(10)};
  batch.replicas = {replica_row(job, 2, 10)};
  ASSERT_TRUE(store->commit(batch).has_value());
  EXPECT_EQ(store->receipts(job.id)->size(), 3U);
}

TEST_F(SqliteFile, FindsTheReceiptOfAReplicaThatCameAfterARestart) {
  const Job job = job_row(1);
  Batch batch = submit_batch(job);
  batch.receipts = {receipt_row(7)};
  ASSERT_TRUE(open(path).value()->commit(batch).has_value());

  const auto store = open(path).value();
  Batch later;
  later.replicas = {replica_row(job, 0, 7)};
  ASSERT_TRUE(store->commit(later).has_value());

  EXPECT_EQ(store->receipts(job.id).value(), std::vector{receipt_row(7)});
}

TEST_F(SqliteFile, RefusesAFileOfANewerWeft) {
  {
    ASSERT_TRUE(open(path).has_value());
  }
  {
    Connection other = Connection::open(path.string(), "").value();
    ASSERT_TRUE(other.execute("INSERT INTO schema_steps VALUES (1000, 0)").has_value());
  }

  const auto opened = open(path);

  ASSERT_FALSE(opened.has_value());
  EXPECT_EQ(opened.error().code, ErrorCode::unsupported);
}

TEST_F(SqliteFile, SyncsEveryCommit) {
  const auto store = open(path).value();
  ASSERT_TRUE(store->commit(submit_batch(job_row(1))).has_value());
  Connection other = Connection::open(path.string(), "").value();
  Statement mode = other.prepare("PRAGMA journal_mode").value();
  mode.start();
  ASSERT_TRUE(mode.next().value());
  EXPECT_EQ(mode.text(0), "wal");
}

TEST_F(SqliteFile, WritesNothingMoreAfterTheDiskIsFull) {
  const auto store = open(path, {.synchronous = true, .vfs = "", .pages_max = 64}).value();
  Result<> result;
  unsigned stored = 0;
  for (unsigned i = 0; i < 2000 && result; ++i) {
    Batch batch;
    Job job = job_row(i);
    job.manifest = std::string(4000, 'x');
    batch.jobs.push_back(job);
    result = store->commit(batch);
    stored += result ? 1 : 0;
  }
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, ErrorCode::resource_exhausted);

  Batch small;
  small.settings.push_back({.name = "a", .value = {}});
  EXPECT_EQ(store->commit(small).error().code, ErrorCode::resource_exhausted);
  EXPECT_EQ(store->load()->jobs.size(), stored);
}

}  // namespace
}  // namespace weft::store::sqlite
