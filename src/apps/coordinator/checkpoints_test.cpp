// Tests of checkpoints of long tasks in the coordinator: which worker resumes from which
// checkpoint, across restarts, and which checkpoints remain at the end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apps/coordinator/blob_sweep.h"
#include "apps/coordinator/test_network.h"
#include "common/protocol/messages.h"
#include "decisions/jobs/job_life.h"

namespace weft::coordinator {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

class CheckpointsTest : public testing::Test {
 protected:
  JobId submit(std::uint32_t replicas = 1, double audit = 0) {
    nonce_[0]++;
    const auto submitted =
        network.submit(client, jobs::count_manifest(1, replicas, "", 100, audit), nonce_);
    EXPECT_TRUE(submitted.has_value()) << submitted.error().message;
    return submitted ? JobId::parse(submitted->id).value() : JobId{};
  }
  // A worker's checkpoint, with only the fields that the coordinator reads.
  ByteVector checkpoint_bytes(const TaskId& task, std::uint32_t done) {
    ByteVector bytes;
    append(bytes, as_bytes(std::string_view("weftckp1")));
    append(bytes, task.job.span());
    append_le(bytes, task.index);
    append_le(bytes, done);
    return bytes;
  }
  Hash keep(TestWorker& worker, const protocol::Lease& lease, std::uint32_t done,
            bool stopped = false) {
    const TaskId task{.job = lease.job, .index = lease.tasks.at(0).index};
    const ByteVector bytes = checkpoint_bytes(task, done);
    const Hash blob = network.blobs().put(bytes).value();
    worker.say(protocol::Checkpoint{.task = task,
                                    .attempt = lease.tasks[0].attempt,
                                    .blob = blob,
                                    .bytes = bytes.size(),
                                    .done = done,
                                    .of = 100,
                                    .stopped = stopped});
    network.run();
    return blob;
  }
  std::size_t stored() { return network.store().load()->checkpoints.size(); }
  void lose(TestWorker& worker) {
    worker.line->on_closed();
    network.run();
  }

  TestNetwork network;
  crypto::KeyPair client = crypto::KeyPair::generate().value();
  crypto::KeyPair a = crypto::KeyPair::generate().value();
  crypto::KeyPair b = crypto::KeyPair::generate().value();
  store::SubmitNonce nonce_{};
};

TEST_F(CheckpointsTest, AnotherWorkerGoesOnWhereTheFirstWasLost) {
  auto& first = network.join(a, {.silent = true});
  const JobId job = submit();
  ASSERT_THAT(first.leases, SizeIs(1));
  EXPECT_GT(first.leases[0].checkpoint_ms, 0U);
  EXPECT_THAT(first.leases[0].resume, IsEmpty());
  keep(first, first.leases[0], 30);
  const Hash last = keep(first, first.leases[0], 40);
  auto& second = network.join(b);
  lose(first);

  ASSERT_FALSE(second.leases.empty());
  ASSERT_THAT(second.leases[0].resume, SizeIs(1));
  EXPECT_EQ(second.leases[0].resume[0].blob, last);
  EXPECT_EQ(second.leases[0].resume[0].done, 40U);
  EXPECT_EQ(network.finish(job).state, store::JobState::done);
  EXPECT_EQ(stored(), 0U) << "no part of it is left in the store";
}

TEST_F(CheckpointsTest, OutlivesTheCoordinator) {
  auto& first = network.join(a, {.silent = true});
  const JobId job = submit();
  const Hash last = keep(first, first.leases.at(0), 40);
  EXPECT_EQ(stored(), 1U);

  network.restart();
  auto& second = network.join(b);
  network.run();

  ASSERT_FALSE(second.leases.empty());
  ASSERT_THAT(second.leases[0].resume, SizeIs(1));
  EXPECT_EQ(second.leases[0].resume[0].blob, last);
  EXPECT_EQ(network.finish(job).state, store::JobState::done);
  network.restart();
  EXPECT_EQ(stored(), 0U);
}

// A bad checkpoint must not make two replicas agree, nor convict a worker that resumed from it.
TEST_F(CheckpointsTest, UnderAQuorumOrAuditsNoWorkerGoesOnFromAnothersState) {
  struct Row {
    std::uint32_t replicas;
    double audit;
  };
  for (const Row& row : {Row{2, 0}, Row{1, 1}}) {
    auto& first = network.join(a, {.silent = true});
    const JobId job = submit(row.replicas, row.audit);
    ASSERT_FALSE(first.leases.empty());
    const Hash own = keep(first, first.leases.back(), 40);
    auto& second = network.join(b, {.silent = true});
    lose(first);
    network.pass(std::chrono::seconds(1));
    ASSERT_FALSE(second.leases.empty()) << row.replicas;
    for (const auto& lease : second.leases) EXPECT_THAT(lease.resume, IsEmpty()) << row.replicas;
    lose(second);

    auto& again = network.join(a, {.silent = true});
    network.pass(std::chrono::seconds(1));

    ASSERT_FALSE(again.leases.empty()) << row.replicas;
    ASSERT_THAT(again.leases[0].resume, SizeIs(1)) << "its own wallet's, it trusts";
    EXPECT_EQ(again.leases[0].resume[0].blob, own);
    network.post([this, job](jobs::Core& core, jobs::Moment now) {
      core.jobs().cancel({.job = job, .client = client.public_key()}, now, [](const auto&) {});
    });
    network.run();
    lose(again);
    EXPECT_EQ(stored(), 0U);
  }
}

TEST_F(CheckpointsTest, WhatIsNoCheckpointOfTheTaskIsNotTaken) {
  auto& first = network.join(a, {.silent = true});
  submit();
  const auto& lease = first.leases.at(0);
  const TaskId task{.job = lease.job, .index = 0};
  const Hash foreign = network.blobs()
                           .put(ByteVector(100, 1))
                           .value();  // A client's blob, which must not be removed as a checkpoint.
  const ByteVector other = checkpoint_bytes({.job = lease.job, .index = 7}, 3);
  const Hash of_other = network.blobs().put(other).value();
  const ByteVector good = checkpoint_bytes(task, 3);
  const Hash of_task = network.blobs().put(good).value();

  first.say(protocol::Checkpoint{
      .task = task, .attempt = 1, .blob = foreign, .bytes = 100, .done = 3, .of = 100});
  first.say(protocol::Checkpoint{
      .task = task, .attempt = 1, .blob = of_other, .bytes = other.size(), .done = 3, .of = 100});
  first.say(protocol::Checkpoint{
      .task = task, .attempt = 1, .blob = Hash{}, .bytes = good.size(), .done = 3, .of = 100});
  first.say(protocol::Checkpoint{
      .task = task, .attempt = 1, .blob = of_task, .bytes = good.size(), .done = 100, .of = 100});
  first.say(protocol::Checkpoint{
      .task = task, .attempt = 9, .blob = of_task, .bytes = good.size(), .done = 3, .of = 100});
  network.run();
  EXPECT_EQ(stored(), 0U);
  EXPECT_TRUE(network.blobs().has(foreign));
  EXPECT_FALSE(network.blobs().has(of_task)) << "which no task refers to";

  ASSERT_TRUE(network.blobs().put(good).has_value());
  first.say(protocol::Checkpoint{
      .task = task, .attempt = 1, .blob = of_task, .bytes = good.size(), .done = 3, .of = 100});
  network.run();
  EXPECT_EQ(stored(), 1U);

  first.say(protocol::Checkpoint{
      .task = task, .attempt = 9, .blob = of_task, .bytes = good.size(), .done = 3, .of = 100});
  network.run();
  EXPECT_TRUE(network.blobs().has(of_task)) << "a refused claim takes no worker's state away";
}

TEST_F(CheckpointsTest, ATaskThatStoppedGoesToAFreeWorker) {
  auto& first = network.join(a, {.silent = true});
  const JobId job = submit();
  auto& second = network.join(b);
  first.say(protocol::Slots{.slots = 0});
  const Hash last = keep(first, first.leases.at(0), 40, true);
  network.pass(std::chrono::seconds(1));

  ASSERT_FALSE(second.leases.empty());
  ASSERT_THAT(second.leases[0].resume, SizeIs(1));
  EXPECT_EQ(second.leases[0].resume[0].blob, last);
  EXPECT_EQ(network.finish(job).state, store::JobState::done);
}

TEST_F(CheckpointsTest, WhatNoRecordNamesIsSweptAndNothingElse) {
  auto& first = network.join(a, {.silent = true});
  const JobId job = submit();
  const Hash named = keep(first, first.leases.at(0), 40);
  const Hash unnamed = network.blobs()
                           .put(checkpoint_bytes({.job = job, .index = 0}, 45))
                           .value();  // The worker was lost before it reported this checkpoint.

  network.restart();
  BlobSweep sweep(network.store(), network.blobs(), {});
  ASSERT_TRUE(sweep.sweep(now() + std::chrono::hours(2), unix_now()));

  EXPECT_FALSE(network.blobs().has(unnamed));
  EXPECT_TRUE(network.blobs().has(named));
  auto& second = network.join(b);
  network.run();
  ASSERT_THAT(second.leases, SizeIs(1));
  ASSERT_THAT(second.leases[0].resume, SizeIs(1)) << "and the task goes on";
  EXPECT_EQ(second.leases[0].resume[0].blob, named);
}

TEST_F(CheckpointsTest, WhenWorkersComeAndGoIsKnownAfterARestart) {
  auto& first = network.join(a);
  network.pass(std::chrono::minutes(10));
  lose(first);
  const auto known = network.store().load()->presences;
  EXPECT_EQ(std::ranges::count(known, a.public_key(), &store::Presence::worker), 1);

  network.restart();
  network.join(a);
  network.run();
}

}  // namespace
}  // namespace weft::coordinator
