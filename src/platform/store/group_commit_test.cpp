// Every caller gets the result of its own batch, in order and once; an invalid batch affects no
// other.
#include "platform/store/group_commit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <latch>
#include <thread>
#include <vector>

#include "platform/store/memory/memory_store.h"

namespace weft::store {
namespace {

// Forwards to a store in memory; derived stores change only the commit.
class ForwardingStore : public Store {
 public:
  Result<Loaded> load() override { return inner_->load(); }
  Result<Job> job(const JobId& id) override { return inner_->job(id); }
  Result<std::vector<Task>> tasks(const JobId& id) override { return inner_->tasks(id); }
  Result<std::vector<Replica>> replicas(const JobId& id) override { return inner_->replicas(id); }
  Result<std::vector<Receipt>> receipts(const JobId& id) override { return inner_->receipts(id); }
  Result<std::vector<Job>> jobs(const JobPage& page) override { return inner_->jobs(page); }
  Result<std::optional<JobId>> job_of_nonce(const PublicKey& client,
                                            const SubmitNonce& nonce) override {
    return inner_->job_of_nonce(client, nonce);
  }
  Result<BlobOwners> blob_owners(UnixMillis ended_since) override {
    return inner_->blob_owners(ended_since);
  }
  Result<History> history(const ledger::Account& account, const HistoryPage& page) override {
    return inner_->history(account, page);
  }
  Result<History> history(const JobId& job, const HistoryPage& page) override {
    return inner_->history(job, page);
  }
  Result<History> history(const HistoryPage& page) override { return inner_->history(page); }
  Result<> audit() override { return inner_->audit(); }
  Result<std::vector<Task>> paid_tasks(const PaidPage& page) override {
    return inner_->paid_tasks(page);
  }
  Result<std::vector<Correction>> corrections(const JobId& id) override {
    return inner_->corrections(id);
  }
  Result<BasisCounts> bases(const JobId& id) override { return inner_->bases(id); }
  Result<std::vector<Check>> checks(const JobId& id, std::uint32_t count) override {
    return inner_->checks(id, count);
  }
  Result<std::vector<Evidence>> evidence(std::size_t from, std::size_t count) override {
    return inner_->evidence(from, count);
  }
  Result<std::vector<Check>> checks(const PublicKey& worker, std::uint32_t count) override {
    return inner_->checks(worker, count);
  }

 protected:
  std::unique_ptr<Store> inner_ = memory::create();
};

// Blocks every commit until the gate opens, so that a group gathers during the first.
class GatedStore final : public ForwardingStore {
 public:
  Result<> commit_all(std::span<const Batch> batches, const Ready& ready) override {
    if (!entered.try_wait()) entered.count_down();
    gate.wait();
    return inner_->commit_all(batches, ready);
  }

  std::latch gate{1};
  std::latch entered{1};  // The first commit has begun.
};

Batch grant_batch(std::uint8_t number) {
  PublicKey key;
  key.bytes[0] = number;
  Batch batch;
  batch.transactions.push_back(
      {.transaction = ledger::grant(OwnerId::of_first(key), 10), .time = 1});
  return batch;
}

TEST(GroupCommit, MakesDurableWhatACommitMaySpeakOfFirst) {
  const auto store = memory::create();
  std::atomic<int> calls = 0;
  std::atomic<bool> fails = false;
  GroupCommit commits(*store, {.before_commit = [&]() -> Result<> {
    ++calls;
    if (fails) return fail(ErrorCode::data_loss, "The disk is gone.");
    return {};
  }});
  fails = true;
  EXPECT_EQ(commits.commit(grant_batch(1)).error().code, ErrorCode::data_loss);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(store->load()->keys.size(), 0U);

  fails = false;
  EXPECT_TRUE(commits.commit(grant_batch(1)).has_value());
  EXPECT_EQ(calls, 2);
}

// A store that reports a full disk a given number of times.
class FullStore final : public ForwardingStore {
 public:
  explicit FullStore(int times) : left(times) {}
  Result<> commit_all(std::span<const Batch> batches, const Ready& ready) override {
    if (left > 0) {
      --left;
      return fail(ErrorCode::resource_exhausted, "The disk of the database is full.");
    }
    return inner_->commit_all(batches, ready);
  }
  std::atomic<int> left;
};

TEST(GroupCommit, WaitsForRoomOnAFullDisk) {
  FullStore store(5);
  std::vector<bool> heard;
  {
    GroupCommit commits(store, {.retry_full_every = std::chrono::milliseconds(1),
                                .disk_full = [&](bool full) { heard.push_back(full); }});

    EXPECT_TRUE(commits.commit(grant_batch(1)).has_value());
    EXPECT_TRUE(commits.commit(grant_batch(2)).has_value());
  }
  EXPECT_EQ(heard, (std::vector{true, true, true, true, true, false}));
  EXPECT_TRUE(store.audit().has_value());

  FullStore impatient(1);
  GroupCommit without(impatient, {.retry_full_every = std::chrono::milliseconds(0)});
  EXPECT_EQ(without.commit(grant_batch(1)).error().code, ErrorCode::resource_exhausted)
      << "the attack: the coordinator ends at this";
}

TEST(GroupCommit, GivesUpOnAFullDiskAtItsEnd) {
  FullStore store(1'000'000);
  Result<> result;
  {
    GroupCommit commits(store, {.retry_full_every = std::chrono::hours(1)});
    ASSERT_TRUE(commits.submit(grant_batch(1), [&](Result<> done) { result = std::move(done); })
                    .has_value());
    while (store.left > 999'998) std::this_thread::yield();
  }
  EXPECT_EQ(result.error().code, ErrorCode::resource_exhausted);
}

TEST(GroupCommit, CommitsAndAnswers) {
  const auto store = memory::create();
  GroupCommit commits(*store, {});

  EXPECT_TRUE(commits.commit(grant_batch(1)).has_value());
  EXPECT_EQ(commits.commit(grant_batch(1)).error().code, ErrorCode::already_exists);

  EXPECT_EQ(store->load()->keys.size(), 1U);
}

TEST(GroupCommit, GathersWhatComesWhileACommitIsUnderWay) {
  GatedStore store;
  std::vector<int> order;
  GroupCommit::Counts counts;
  {
    GroupCommit commits(store, {});
    ASSERT_TRUE(commits.submit(grant_batch(0), [&](Result<>) { order.push_back(0); }).has_value());
    store.entered.wait();
    for (std::uint8_t i = 1; i <= 50; ++i) {
      ASSERT_TRUE(commits
                      .submit(grant_batch(i),
                              [&order, i](const Result<>& result) {
                                EXPECT_TRUE(result.has_value());
                                order.push_back(i);
                              })
                      .has_value());
    }
    store.gate.count_down();
    ASSERT_TRUE(commits.commit(grant_batch(200)).has_value());
    counts = commits.counts();
  }
  EXPECT_EQ(order.size(), 51U);
  EXPECT_TRUE(std::ranges::is_sorted(order));
  EXPECT_LT(counts.commits, counts.batches);
}

TEST(GroupCommit, LetsOneBadBatchFailAlone) {
  GatedStore store;
  std::vector<bool> fine;
  {
    GroupCommit commits(store, {});
    for (const std::uint8_t number : std::initializer_list<std::uint8_t>{1, 2, 3, 2, 4}) {
      ASSERT_TRUE(
          commits
              .submit(grant_batch(number),
                      [&fine](const Result<>& result) { fine.push_back(result.has_value()); })
              .has_value());
    }
    store.gate.count_down();
  }
  EXPECT_EQ(fine, (std::vector<bool>{true, true, true, false, true}));
}

TEST(GroupCommit, NamesTheOptionAtItsBound) {
  GatedStore store;
  GroupCommit commits(store, {.queue_max = 4});
  Result<> refused;
  int taken = 0;
  for (std::uint8_t i = 0; i < 20 && refused; ++i) {
    refused = commits.submit(grant_batch(i), [](const Result<>&) {});
    taken += refused ? 1 : 0;
  }
  store.gate.count_down();

  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().message,
            "4 commits wait for the disk already; --commit-queue-max raises the bound.");
  EXPECT_LE(taken, 4 + 4) << "those that wait and those that are being written";
}

TEST(GroupCommit, WaitsForCompanyOnlyBehindAGroupThatHadSome) {
  GatedStore store;
  GroupCommit commits(store, {.wait_max = std::chrono::hours(1), .group_max = 3});
  std::latch answered{3};
  std::latch all{6};
  const auto submit = [&](std::uint8_t number) {
    ASSERT_TRUE(commits
                    .submit(grant_batch(number),
                            [&answered, &all, number](const Result<>&) {
                              if (number < 3) answered.count_down();
                              all.count_down();
                            })
                    .has_value());
  };

  submit(0);  // A batch that is alone in its group does not wait.
  store.entered.wait();
  submit(1);  // Batches 1 and 2 do not wait either.
  submit(2);
  store.gate.count_down();
  answered.wait();
  submit(3);  // Batch 3 waits for its group to fill, because the previous group had two batches.
  submit(4);
  submit(5);
  all.wait();

  EXPECT_EQ(commits.counts().batches, 6U);
  EXPECT_EQ(commits.counts().commits, 3U);
}

TEST(GroupCommit, FinishesEverythingBeforeItIsGone) {
  const auto store = memory::create();
  std::atomic<int> answered = 0;
  {
    GroupCommit commits(*store, {.wait_max = std::chrono::microseconds(2000)});
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < 50; ++i) {
          ASSERT_TRUE(commits
                          .submit(grant_batch(static_cast<std::uint8_t>(t * 50 + i)),
                                  [&](const Result<>& result) { answered += result ? 1 : 0; })
                          .has_value());
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  EXPECT_EQ(answered, 200);
}

}  // namespace
}  // namespace weft::store
