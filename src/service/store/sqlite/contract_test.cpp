// What every store promises: a batch is there whole or not at all, whatever contradicts it is refused, and what was
// committed is read back as it was. The same for memory and for SQLite.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <functional>

#include "service/store/memory/memory_store.h"
#include "service/store/sqlite/sqlite_store.h"
#include "service/store/sqlite/test_rows.h"

namespace weft::store {
namespace {

namespace fs = std::filesystem;

class StoreContract : public testing::TestWithParam<std::string> {
 protected:
  StoreContract() {
    std::string name = (fs::temp_directory_path() / "weft-store-XXXXXX").string();
    directory = ::mkdtemp(name.data());
    store = GetParam() == "memory" ? memory::create() : sqlite::open(directory / "weft.db").value();
  }
  ~StoreContract() override {
    store.reset();
    fs::remove_all(directory);
  }

  void commit(const Batch& batch) { ASSERT_TRUE(store->commit(batch).has_value()); }

  fs::path directory;
  std::unique_ptr<Store> store;
};

INSTANTIATE_TEST_SUITE_P(Stores, StoreContract, testing::Values("memory", "sqlite"), [](const auto& row) { return row.param; });

TEST_P(StoreContract, LoadsNothingAtFirst) {
  const Loaded loaded = store->load().value();
  EXPECT_TRUE(loaded.jobs.empty() && loaded.tasks.empty() && loaded.replicas.empty() && loaded.balances.empty() && loaded.keys.empty());
  EXPECT_TRUE(store->audit().has_value());
}

TEST_P(StoreContract, ReadsBackEverythingThatWasCommitted) {
  const Job job = job_row(1);
  Batch batch = submit_batch(job);
  batch.settings.push_back({.name = "identity", .value = {1, 2, 0, 3}});
  batch.settings.push_back({.name = "empty", .value = {}});
  batch.replicas = {replica_row(job, 0, 7), replica_row(job, 0, 8), replica_row(job, 2, 7)};
  batch.receipts = {receipt_row(7), receipt_row(7)};
  batch.tasks = {task_row(job, 0)};
  batch.reputations = {{.worker = key_of(7), .accepted = 3, .refused = 1}};
  commit(batch);

  const Loaded loaded = store->load().value();

  EXPECT_EQ(loaded.settings, (std::vector<Setting>{{"empty", {}}, {"identity", {1, 2, 0, 3}}}));
  Job counted = job;
  counted.accepted = 1;
  EXPECT_EQ(loaded.jobs, std::vector{counted});
  EXPECT_EQ(loaded.tasks, batch.tasks);
  EXPECT_EQ(loaded.replicas, std::vector{batch.replicas[2]}) << "only of open tasks";
  EXPECT_EQ(loaded.reputations, batch.reputations);
  EXPECT_EQ(store->job(job.id).value(), counted);
  EXPECT_EQ(store->tasks(job.id).value(), batch.tasks);
  EXPECT_EQ(store->replicas(job.id).value(), batch.replicas);
  EXPECT_EQ(store->receipt(batch.receipts[0].digest).value(), batch.receipts[0]);
  EXPECT_EQ(store->receipt(hash_of(250)).error().code, ErrorCode::not_found);
  EXPECT_EQ(store->job_of_nonce(job.client, nonce_of(1)).value(), job.id);
  EXPECT_EQ(store->job_of_nonce(key_of(99), nonce_of(1)).value(), std::nullopt);
}

TEST_P(StoreContract, KeepsBalancesAndKeysForTheLedger) {
  const Job job = job_row(1);
  commit(submit_batch(job));

  const Loaded loaded = store->load().value();
  ledger::Ledger ledger;
  ASSERT_TRUE(ledger.restore(loaded.balances, loaded.keys).has_value());

  EXPECT_EQ(ledger.balance(ledger::Account::escrow(job.id)), job.budget);
  EXPECT_EQ(ledger.balance(ledger::Account::mint()), -2 * job.budget);
  EXPECT_EQ(ledger.apply(ledger::open_escrow(job.id, job.client, job.budget)), ledger::Applied::before);
  EXPECT_EQ(ledger.apply(ledger::grant(job.client, 1)), ledger::Applied::before);
  EXPECT_TRUE(store->audit().has_value());
}

TEST_P(StoreContract, LeavesEndedJobsOutOfWhatIsLoaded) {
  const Job job = job_row(1);
  commit(submit_batch(job));
  Batch end;
  end.tasks = {task_row(job, 0)};
  end.job_updates.push_back({.id = job.id, .price = JobUpdate::Price{.price = 77, .units = 1.5, .reference_seconds_per_workgroup = 0.25}, .end = {}});
  end.job_updates.push_back(
      {.id = job.id,
       .price = {},
       .end = JobUpdate::End{.state = JobState::failed, .reason = "replicas differ", .root = hash_of(4), .outputs = {{hash_of(5), 7}}, .ended = 99}});
  end.transactions.push_back({.transaction = ledger::close_escrow(job.id, job.client, job.budget), .time = 99});
  commit(end);

  const Loaded loaded = store->load().value();

  EXPECT_TRUE(loaded.jobs.empty());
  EXPECT_TRUE(loaded.tasks.empty());
  EXPECT_EQ(loaded.keys.size(), 1U) << "the grant";
  const Job ended = store->job(job.id).value();
  EXPECT_EQ(ended.state, JobState::failed);
  EXPECT_EQ(ended.reason, "replicas differ");
  EXPECT_EQ(ended.price, 77);
  EXPECT_DOUBLE_EQ(ended.units, 1.5);
  EXPECT_DOUBLE_EQ(ended.reference_seconds_per_workgroup, 0.25);
  EXPECT_EQ(ended.root, hash_of(4));
  EXPECT_EQ(ended.outputs, (std::vector<OutputBlob>{{hash_of(5), 7}}));
  EXPECT_EQ(ended.ended, 99);
  EXPECT_EQ(store->tasks(job.id).value().size(), 1U);
}

// One row for each contradiction: refused with its code, and nothing of the batch is stored.
TEST_P(StoreContract, RefusesWhatContradictsItAndStoresNothingOfIt) {
  const Job job = job_row(1);
  Batch first = submit_batch(job);
  first.replicas = {replica_row(job, 0, 7)};
  first.tasks = {task_row(job, 0)};
  commit(first);

  struct Row {
    std::string_view why;
    std::function<void(Batch&)> add;
    ErrorCode code;
  };
  const Job stranger = job_row(50);
  const std::vector<Row> rows = {
      {"the same job", [&](Batch& batch) { batch.jobs.push_back(job); }, ErrorCode::already_exists},
      {"the same nonce", [&](Batch& batch) { batch.nonces.push_back({job.client, nonce_of(1), job.id}); }, ErrorCode::already_exists},
      {"the same task", [&](Batch& batch) { batch.tasks.push_back(task_row(job, 0)); }, ErrorCode::already_exists},
      {"the same worker's second replica", [&](Batch& batch) { batch.replicas.push_back(replica_row(job, 0, 7)); }, ErrorCode::already_exists},
      {"the same payment", [&](Batch& batch) { batch.transactions.push_back({ledger::grant(job.client, 1), 1}); }, ErrorCode::already_exists},
      {"a task of an unknown job", [&](Batch& batch) { batch.tasks.push_back(task_row(stranger, 0)); }, ErrorCode::not_found},
      {"a replica of an unknown job", [&](Batch& batch) { batch.replicas.push_back(replica_row(stranger, 0, 7)); }, ErrorCode::not_found},
      {"an unknown job's end", [&](Batch& batch) { batch.job_updates.push_back({.id = stranger.id, .price = {}, .end = JobUpdate::End{}}); },
       ErrorCode::not_found},
      {"an unknown job's money", [&](Batch& batch) { batch.transactions.push_back({ledger::open_escrow(stranger.id, job.client, 1), 1}); },
       ErrorCode::not_found},
      {"more than there is", [&](Batch& batch) { batch.transactions.push_back({ledger::refund(job.id, job.client, job.budget + 1, "1"), 1}); },
       ErrorCode::insufficient_funds},
      {"money from nowhere",
       [&](Batch& batch) { batch.transactions.push_back({{.key = "k", .job = {}, .entries = {{ledger::Account::platform(), 1}}, .what = ""}, 1}); },
       ErrorCode::invalid_argument},
  };
  for (const Row& row : rows) {
    Batch batch;
    batch.settings.push_back({.name = "mark", .value = {1}});
    batch.jobs.push_back(job_row(2));
    batch.replicas.push_back(replica_row(job, 3, 9));
    batch.tasks.push_back(task_row(job, 3));
    batch.transactions.push_back({ledger::grant(key_of(77), 5), 1});
    row.add(batch);

    const Result<> refused = store->commit(batch);

    ASSERT_FALSE(refused.has_value()) << row.why;
    EXPECT_EQ(refused.error().code, row.code) << row.why << ": " << refused.error().message;
    const Loaded loaded = store->load().value();
    EXPECT_TRUE(loaded.settings.empty()) << row.why;
    EXPECT_EQ(loaded.jobs.size(), 1U) << row.why;
    EXPECT_EQ(loaded.jobs[0].accepted, 1U) << row.why;
    EXPECT_EQ(loaded.tasks.size(), 1U) << row.why;
    EXPECT_TRUE(loaded.replicas.empty()) << row.why;
    EXPECT_EQ(loaded.keys.size(), 2U) << row.why;
    EXPECT_TRUE(store->audit().has_value()) << row.why;
  }
  commit(submit_batch(job_row(3)));  // And it goes on.
}

TEST_P(StoreContract, ListsJobsNewestFirstByClientAndPage) {
  for (std::uint8_t i = 1; i <= 5; ++i) {
    Batch batch;
    Job job = job_row(i);
    job.created = i * 100;
    job.client = key_of(i % 2);
    batch.jobs.push_back(job);
    commit(batch);
  }
  const auto ids = [&](const Store::JobPage& page) {
    std::vector<int> found;
    for (const Job& job : store->jobs(page).value()) found.push_back(job.id.bytes[0]);
    return found;
  };

  EXPECT_EQ(ids({}), (std::vector{5, 4, 3, 2, 1}));
  EXPECT_EQ(ids({.client = key_of(1)}), (std::vector{5, 3, 1}));
  EXPECT_EQ(ids({.client = {}, .before = 400, .count = 2}), (std::vector{3, 2}));
}

TEST_P(StoreContract, ListsTheTransactionsOfAnAccount) {
  const Job job = job_row(1);
  const Batch batch = submit_batch(job);
  commit(batch);

  const auto of_client = store->transactions(ledger::Account::client(job.client), 10).value();
  const auto of_escrow = store->transactions(ledger::Account::escrow(job.id), 10).value();

  EXPECT_EQ(of_client, (std::vector{batch.transactions[1], batch.transactions[0]}));
  EXPECT_EQ(of_escrow, (std::vector{batch.transactions[1]}));
  EXPECT_EQ(store->transactions(ledger::Account::client(job.client), 1).value().size(), 1U);
  EXPECT_TRUE(store->transactions(ledger::Account::platform(), 1).value().empty());
}

TEST_P(StoreContract, SaysWhatIsNotThere) {
  EXPECT_EQ(store->job(JobId()).error().code, ErrorCode::not_found);
  EXPECT_EQ(store->tasks(JobId()).error().code, ErrorCode::not_found);
  EXPECT_EQ(store->replicas(JobId()).error().code, ErrorCode::not_found);
}

}  // namespace
}  // namespace weft::store
