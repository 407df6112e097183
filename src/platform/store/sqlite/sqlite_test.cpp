// The store's file: it survives a restart, belongs to one process, errors in it are reported, and
// files of older versions are migrated.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>

#include "common/base/format.h"
#include "platform/store/sqlite/rows.h"
#include "platform/store/sqlite/schema.h"
#include "platform/store/sqlite/sqlite_store.h"
#include "platform/store/sqlite/test_rows.h"

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
  EXPECT_TRUE(second.error().message.starts_with("Another process has the database"))
      << second.error().message;
}

TEST_F(SqliteFile, CallsAFileThatIsNoDatabaseDamaged) {
  fs::create_directories(path.parent_path());
  std::ofstream(path) << std::string(8192, 'n');

  const auto opened = open(path);

  ASSERT_FALSE(opened.has_value());
  EXPECT_EQ(opened.error().code, ErrorCode::data_loss);
  EXPECT_EQ(opened.error().message,
            "The database is damaged (file is not a database); restore it from a copy. - while "
            "opening the database " +
                path.string());
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
  ASSERT_TRUE(
      other.execute("UPDATE accounts SET balance = balance + 1 WHERE kind = 1").has_value());

  EXPECT_EQ(store->audit().error().code, ErrorCode::data_loss);
}

TEST_F(SqliteFile, NoticesMovementsThatWereChangedBehindItsBack) {
  for (const char* change :
       {"UPDATE movements SET amount = amount + 1 WHERE number = 3",
        "UPDATE movements SET balance = balance + 1 WHERE number = 2",
        "UPDATE movements SET previous = 1 WHERE number = 4",
        "DELETE FROM movements WHERE number = 4", "DELETE FROM transactions WHERE seq = 2",
        "UPDATE transactions SET movement = 1 WHERE seq = 2",
        "UPDATE accounts SET last = 1 WHERE kind = 1"}) {
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

// Version 1 had a transaction's entries as a blob, and an index by account, instead of movements.
TEST_F(SqliteFile, MakesMovementsOfTheEntriesOfAnOlderFile) {
  fs::create_directories(path.parent_path());
  const PublicKey client = key_of(1);
  const ledger::Account worker_account{.kind = ledger::Account::Kind::worker,
                                       .id = key_of(2).bytes};
  const Job job = job_row(1);
  {
    Connection old = Connection::open(path.string(), "").value();
    ASSERT_TRUE(migrate(old, 1).has_value());
    const auto run = [&](const char* sql, const auto&... values) {
      ASSERT_TRUE(old.prepare(sql)->run(values...).has_value()) << sql;
    };
    const auto account = [&](int id, const ledger::Account& name, MicroCredits balance) {
      run("INSERT INTO accounts VALUES (?, ?, ?, ?)", id, static_cast<int>(name.kind),
          ByteSpan(name.id), balance);
    };
    account(1, ledger::Account::mint(), -100);
    account(2, ledger::Account::owner(OwnerId::of_first(client)), 45);
    account(3, worker_account, 55);
    const auto transaction = [&](int seq, const char* key, std::vector<StoredEntry> entries) {
      run("INSERT INTO transactions VALUES (?, ?, NULL, ?, 'moves', 7)", seq, std::string(key),
          pack(entries));
    };
    transaction(4, "grant", {{1, -100}, {2, 100}});
    transaction(9, "twice", {{2, -50}, {3, 50}, {2, -10}, {3, 10}});
    transaction(10, "nothing", {});
    transaction(11, "back", {{3, -5}, {2, 5}});
  }

  const auto store = open(path).value();

  const auto audit = store->audit();
  EXPECT_TRUE(audit.has_value()) << audit.error().message;
  const History history =
      store->history(ledger::Account::owner(OwnerId::of_first(client)), {}).value();
  ASSERT_EQ(history.transactions.size(), 3U);
  EXPECT_EQ(history.transactions[0].movements,
            (std::vector<Movement>{{worker_account, -5, 55},
                                   {ledger::Account::owner(OwnerId::of_first(client)), 5, 45}}));
  EXPECT_EQ(history.transactions[1].movements,
            (std::vector<Movement>{{ledger::Account::owner(OwnerId::of_first(client)), -60, 40},
                                   {worker_account, 60, 60}}));
  ASSERT_TRUE(store->commit(submit_batch(job)).has_value());
  EXPECT_TRUE(store->audit().has_value()) << "and goes on";
}

// A file from before version 5 is made with today's store, which accepts any accounts.
class OldBalances : public SqliteFile {
 protected:
  static ledger::Account earned(unsigned worker) {
    return {.kind = ledger::Account::Kind::worker, .id = key_of(worker).bytes};
  }
  static ledger::Account account(ledger::Account::Kind kind, unsigned owner) {
    return {.kind = kind, .id = key_of(owner).bytes};
  }
  void write(Store& store, const std::string& key, std::vector<ledger::Entry> entries,
             std::optional<JobId> job = {}) {
    Batch batch;
    batch.transactions.push_back(
        {.transaction = {.key = key, .job = job, .entries = std::move(entries), .what = "old"},
         .time = 1});
    const auto done = store.commit(batch);
    ASSERT_TRUE(done.has_value()) << done.error().message;
  }
  inline static const std::string without_version_7 =
      "DROP TABLE faults; DROP TABLE watches; DROP TABLE mismatches; DROP TABLE client_shares; "
      "DROP TABLE paces; DROP TABLE seasons; "
      "ALTER TABLE jobs DROP "
      "COLUMN per_unit; ALTER TABLE "
      "jobs DROP COLUMN price_quoted; ALTER TABLE jobs DROP COLUMN price_max; "
      "ALTER TABLE jobs DROP COLUMN price_max_named; "
      "DROP TABLE rechecks; DROP TABLE corrections; DROP TABLE checks; ALTER TABLE tasks DROP "
      "COLUMN basis; DROP TABLE evidence; ALTER TABLE receipts DROP COLUMN claims; "
      "ALTER TABLE replicas DROP COLUMN steps; "
      "DROP TABLE weight_sums; ALTER TABLE models DROP COLUMN weights; ";
  // Makes the file as the program of version 4 left it.
  void become_old() {
    Connection old = Connection::open(path.string(), "").value();
    ASSERT_TRUE(old.execute(without_version_7 +
                            "DROP TABLE devices; DROP TABLE held_pays; DELETE FROM "
                            "schema_steps WHERE version > 4")
                    .has_value());
  }
  static std::map<ledger::Account, MicroCredits> balances(Store& store) {
    std::map<ledger::Account, MicroCredits> all;
    for (const auto& entry : store.load()->balances)
      if (entry.amount != 0) all[entry.account] = entry.amount;
    return all;
  }
};

// Version 5 did not store the tasks of held pay, so the pay stays on its account, without a task.
TEST_F(OldBalances, KeepHeldPayWhoseTasksAreNotKnown) {
  const auto held = ledger::Account::held(owner_of(key_of(3)));
  {
    const auto store = open(path).value();
    write(*store, "held", {{ledger::Account::mint(), -7}, {held, 7}});
  }
  {
    Connection old = Connection::open(path.string(), "").value();
    ASSERT_TRUE(old.execute(without_version_7 +
                            "DROP TABLE held_pays; DELETE FROM schema_steps WHERE version > 5")
                    .has_value());
  }

  const auto store = open(path).value();

  EXPECT_EQ(balances(*store)[held], 7);
  EXPECT_TRUE(store->load()->held_pays.empty());
  EXPECT_TRUE(store->audit().has_value());
}

TEST_F(OldBalances, AreCarriedOverToOneBalanceAnOwnerWithGrantsApart) {
  using ledger::Account;
  using Kind = Account::Kind;
  const Job job = job_row(1);
  const auto client = Account::owner(owner_of(key_of(1)));
  {
    const auto store = open(path).value();
    Batch jobs;
    jobs.jobs.push_back(job);
    ASSERT_TRUE(store->commit(jobs).has_value());
    // Two clients with 1,000 granted credits each; the second also buys 500, which no program of
    // that version allowed.
    write(*store, "grant:1", {{Account::mint(), -1000}, {client, 1000}});
    write(*store, "grant:2", {{Account::mint(), -1000}, {account(Kind::owner, 2), 1000}});
    write(*store, "bought", {{Account::mint(), -500}, {account(Kind::owner, 2), 500}});
    // 700 of the first client's credits go to escrow; 300 are paid, of which 10 are a fee, and 90
    // return.
    write(*store, "open", {{client, -700}, {Account::escrow(job.id), 700}}, job.id);
    write(*store, "pay",
          {{Account::escrow(job.id), -300},
           {earned(7), 100},
           {earned(2), 100},
           {Account::platform(), 10},
           {client, 90}},
          job.id);
    // A worker stakes 40 of its earnings, and the second client 1,200, of which 1,000 are granted.
    write(*store, "stake:7", {{earned(7), -40}, {account(Kind::stake, 7), 40}});
    write(*store, "stake:2", {{account(Kind::owner, 2), -1200}, {account(Kind::stake, 2), 1200}});
  }
  become_old();

  const auto store = open(path).value();

  EXPECT_EQ(balances(*store),
            (std::map<Account, MicroCredits>{
                {Account::mint(), -2500},
                {Account::granted(owner_of(key_of(1))), 390},
                {Account::escrow_granted(job.id), 400},
                {Account::platform_granted(), 10},
                {Account::granted(owner_of(key_of(7))), 100},  // 60 earned and 40 staked.
                {Account::owner(owner_of(key_of(2))), 300},
                {Account::granted(owner_of(key_of(2))), 1100},
                {Account::stake(owner_of(key_of(2))), 200}}));
  const auto audit = store->audit();
  EXPECT_TRUE(audit.has_value()) << audit.error().message;
  const History history = store->history(job.id, {}).value();
  EXPECT_EQ(history.transactions.back().key, "carry:" + Account::escrow(job.id).text());
}

// Random old histories: no owner's total changes, exactly the granted credits are granted, no stake
// is granted, and the file passes its audit.
TEST_F(OldBalances, OfRandomHistoriesKeepEveryTotal) {
  using ledger::Account;
  using Kind = Account::Kind;
  std::mt19937_64 random(17);
  MicroCredits granted = 0;
  std::map<Account, MicroCredits> before;
  {
    const auto store = open(path).value();
    std::map<Account, MicroCredits> now;
    for (int number = 0; number < 400; ++number) {
      std::vector<ledger::Entry> entries;
      std::string key = "t:" + std::to_string(number);
      const auto some = [&] {
        constexpr std::array kinds{Kind::owner, Kind::worker, Kind::stake};
        if (random() % 6 == 0)
          return Account::escrow(job_id_of(static_cast<unsigned>(random() % 3)));
        if (random() % 9 == 0) return Account::platform();
        return account(kinds[random() % kinds.size()], static_cast<unsigned>(random() % 5));
      };
      if (random() % 5 == 0) {
        const auto amount = static_cast<MicroCredits>(random() % 1000);
        if (random() % 2 == 0) {
          key.insert(0, "grant:");
          granted += amount;
        }
        entries = {{Account::mint(), -amount}, {some(), amount}};
      } else {
        const Account from = some();
        const MicroCredits all = now[from] == 0 ? 0 : static_cast<MicroCredits>(random()) & 0xffff;
        MicroCredits left = std::min(all, now[from]);
        entries.push_back({from, -left});
        for (int i = 0; i < 3; ++i) {
          const MicroCredits part =
              i == 2 ? left : left / static_cast<MicroCredits>(1 + random() % 4);
          entries.push_back({some(), part});
          left -= part;
        }
      }
      for (const auto& entry : entries) now[entry.account] += entry.amount;
      write(*store, key, entries);
    }
    before = balances(*store);
  }
  become_old();

  const auto store = open(path).value();

  const auto after = balances(*store);
  std::map<std::array<std::uint8_t, 32>, MicroCredits> owned_before, owned_after;
  MicroCredits granted_after = 0, sum = 0;
  for (const auto& [name, amount] : before) owned_before[name.id] += amount;
  for (const auto& [name, amount] : after) {
    owned_after[name.id] += amount;
    sum += amount;
    if (is_granted(name.kind)) granted_after += amount;
    EXPECT_NE(name.kind, Kind::worker) << name.text();
  }
  std::erase_if(owned_before, [](const auto& each) { return each.second == 0; });
  std::erase_if(owned_after, [](const auto& each) { return each.second == 0; });
  EXPECT_EQ(owned_after, owned_before);
  EXPECT_EQ(granted_after, granted);
  EXPECT_GT(granted, 0);
  EXPECT_EQ(sum, 0);
  EXPECT_TRUE(store->audit().has_value());
}

// Version 2 had receipts keyed by their digests.
TEST_F(SqliteFile, FindsTheReceiptsOfAnOlderFile) {
  fs::create_directories(path.parent_path());
  const Job job = job_row(1);
  {
    Connection old = Connection::open(path.string(), "").value();
    ASSERT_TRUE(migrate(old, 2).has_value());
    const auto run = [&](const char* sql, const auto&... values) {
      ASSERT_TRUE(old.prepare(sql)->run(values...).has_value()) << sql;
    };
    run("INSERT INTO jobs VALUES (5, ?, ?, 'job', '{}', ?, 3, 1, 1, 0, 0, 0, 0, 0, '', ?, 0, x'')",
        job.id, job.client, hash_of(1), hash_of(0));
    for (const unsigned worker : {9U, 7U, 8U}) {
      const Receipt receipt = receipt_row(worker);
      run("INSERT INTO receipts VALUES (?, ?, ?, ?, ?)", receipt.digest, receipt.worker,
          receipt.session_nonce, receipt.signature, receipt.arrived);
    }
    for (const unsigned worker : {7U, 8U}) {
      run("INSERT INTO replicas VALUES (5, 0, ?, 1, ?, x'', ?, 0.5, 0.5, 3)", key_of(worker),
          hash_of(3), receipt_row(worker).digest);
    }
    run("INSERT INTO replicas VALUES (5, 1, ?, 1, ?, x'', ?, 0.5, 0.5, 3)", key_of(7), hash_of(3),
        Hash{});
  }

  const auto store = open(path).value();

  // Receipts of the first format have no separate claims.
  const auto old_row = [](unsigned worker) {
    Receipt receipt = receipt_row(worker);
    receipt.claims = {};
    return receipt;
  };
  EXPECT_THAT(store->receipts(job.id).value(),
              testing::UnorderedElementsAre(old_row(7), old_row(8)));
  for (const Replica& replica : store->replicas(job.id).value())
    EXPECT_TRUE(replica.steps.empty()) << "their results are checked whole";
  Batch batch;
  batch.receipts = {receipt_row(10)};
  batch.replicas = {replica_row(job, 2, 10)};
  ASSERT_TRUE(store->commit(batch).has_value());
  EXPECT_EQ(store->receipts(job.id)->size(), 3U);
}

// Version 3 had records of several kinds in one table, as values whose names begin with a prefix.
TEST_F(SqliteFile, MovesTheSettingsOfAnOlderFileIntoTheTablesOfTheirKinds) {
  fs::create_directories(path.parent_path());
  const Job job = job_row(1);
  const TaskId task{.job = job.id, .index = 2};
  const Checkpoint checkpoint = checkpoint_row(task, 4, 40);
  ApiKey key = api_key_row("0123456789abcdef", 9);
  key.name = "a \"name\"\n";
  {
    Connection old = Connection::open(path.string(), "").value();
    ASSERT_TRUE(migrate(old, 3).has_value());
    Statement insert = old.prepare("INSERT INTO settings VALUES (?, ?)").value();
    const auto setting = [&](const std::string& name, const ByteVector& value) {
      ASSERT_TRUE(insert.run(name, value).has_value()) << name;
    };
    ASSERT_TRUE(
        old.prepare("INSERT INTO jobs VALUES (5, ?, ?, 'job', '{}', ?, 3, 1, 1, 0, 0, 0, 0, "
                    "0, '', ?, 0, x'')")
            ->run(job.id, job.client, hash_of(1), hash_of(0))
            .has_value());
    ByteVector standing;
    append_le(standing, std::bit_cast<std::uint64_t>(2.5));
    append_le(standing, std::uint64_t{7});
    append_le(standing, std::uint64_t{1'800'000'000'000});
    append_le(standing, std::uint32_t{3});
    ByteVector weight;
    append_le(weight, std::bit_cast<std::uint64_t>(0.5));
    append_le(weight, std::uint64_t{11});
    ByteVector state(checkpoint.blob.bytes.begin(), checkpoint.blob.bytes.end());
    append_le(state, checkpoint.bytes);
    append_le(state, checkpoint.done);
    append_le(state, checkpoint.of);
    const std::string stored = weft::format(
        R"({{"hash":"{}","id":"{}","name":"a \"name\"\n","owner":"{}","created":{},"revoked":1,)"
        R"("requests_per_min":2,"tokens_per_min":3,"tokens_max":{},"credits_max":5,"requests":6,)"
        R"("tokens":7,"credits":8}})",
        key.hash.text(), key.id, key.owner.text(), key.created, key.tokens_max);
    setting("trust-secret", ByteVector(32, 6));
    setting("standing:" + key_of(1).text(), standing);
    setting("presence:" + key_of(2).text(), pack(presence_row(2).hours));
    setting("weight:" + key_of(3).text(), weight);
    setting("apikey:" + key.id, ByteVector(stored.begin(), stored.end()));
    setting("checkpoint:" + task.text() + "/" + key_of(4).text(), state);
    // Rows that no version can read, and rows of a job that is not stored.
    setting("standing:unknown", standing);
    setting("presence:" + key_of(5).text(), {1, 2, 3});
    setting("checkpoint:" + job_id_of(77).text() + "/0/" + key_of(4).text(), state);
    setting("other", {1});
  }

  const auto store = open(path).value();
  const Loaded loaded = store->load().value();

  FixedBytes<32> secret;
  secret.bytes.fill(6);
  EXPECT_EQ(loaded.secrets, (std::vector<Secret>{{.name = "trust-secret", .value = secret}}));
  EXPECT_EQ(loaded.standings, (std::vector<Standing>{{.worker = key_of(1),
                                                      .verified = 2.5,
                                                      .updated = 7,
                                                      .wrong = 3,
                                                      .suspended_until = 1'800'000'000'000}}));
  EXPECT_EQ(loaded.presences, std::vector{presence_row(2)});
  EXPECT_EQ(loaded.client_weights,
            (std::vector<ClientWeight>{{.client = key_of(3), .weight = 0.5, .at = 11}}));
  EXPECT_EQ(loaded.api_keys, std::vector{key});
  EXPECT_EQ(loaded.checkpoints, std::vector{checkpoint});
}

TEST_F(SqliteFile, LeavesAnOlderFileAsItIsIfItsKeysCannotBeRead) {
  fs::create_directories(path.parent_path());
  {
    Connection old = Connection::open(path.string(), "").value();
    ASSERT_TRUE(migrate(old, 3).has_value());
    ASSERT_TRUE(old.execute("INSERT INTO settings VALUES ('apikey:a', x'7b7d')").has_value());
  }

  const auto opened = open(path);

  ASSERT_FALSE(opened.has_value());
  EXPECT_EQ(opened.error().code, ErrorCode::data_loss);
  Connection after = Connection::open(path.string(), "").value();
  EXPECT_TRUE(after.execute("INSERT INTO settings VALUES ('b', x'')").has_value());
  EXPECT_FALSE(after.prepare("SELECT * FROM api_keys").has_value());
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
  EXPECT_EQ(opened.error().message,
            weft::format("The database has schema version 1000 and this Weft knows versions up to "
                         "{}: start the newer Weft that wrote it, or choose another folder with "
                         "--data. - while opening the database {}",
                         schema_version(), path.string()));
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

TEST_F(SqliteFile, TakesNothingOfWhatAFullDiskHasNoRoomForAndGoesOn) {
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

  // No part of the batch is stored, the same rows may be tried again, and a batch that fits is
  // written.
  Batch again;
  again.jobs.push_back(job_row(2001));
  again.jobs.back().manifest = std::string(400'000, 'x');
  EXPECT_EQ(store->commit(again).error().code, ErrorCode::resource_exhausted);
  EXPECT_EQ(store->load()->jobs.size(), stored);
  Batch change;
  JobUpdate& update = change.job_updates.emplace_back();
  update.id = job_row(0).id;
  update.price = JobUpdate::Price{.price = 1, .units = 1, .reference_seconds_per_workgroup = 1};
  EXPECT_TRUE(store->commit(change).has_value());
  EXPECT_TRUE(store->audit().has_value());
}

}  // namespace
}  // namespace weft::store::sqlite
