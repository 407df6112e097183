// A worker's tasks against a simulated network: every one is paid exactly once whatever is lost.
#include "worker/tasks/session.h"

#include "common/proof/merkle.h"
#include "common/protocol/messages.h"
#include "worker/tasks/test_world.h"

namespace weft::worker {
namespace {

using namespace std::chrono_literals;

TEST(Session, JoinsRunsItsTasksAndIsPaidForEach) {
  World world;
  world.session.start();
  world.coordinator.add_job(world.manifest, 40);

  ASSERT_TRUE(world.host.run_until([&] { return world.seen<event::Verdict>().size() == 40; }));

  EXPECT_TRUE(world.coordinator.done());
  EXPECT_THAT(world.coordinator.complaints, testing::IsEmpty());
  EXPECT_EQ(world.runner.runs.size(), 40U);
  const Session::Stats stats = world.session.stats();
  EXPECT_EQ(stats.counters.tasks_done, 40U);
  EXPECT_EQ(stats.counters.accepted, 40U);
  EXPECT_EQ(stats.counters.paid, 400);
  EXPECT_EQ(stats.held, 0U);
  EXPECT_EQ(stats.unanswered, 0U);
  EXPECT_EQ(stats.state, SessionState::idle);
  EXPECT_EQ(world.host.fetches[world.manifest], 1);  // The manifest is fetched once for all tasks.
  EXPECT_LT(world.coordinator.receipts,
            20);  // Batched: a task takes 10 ms, a receipt covers 50 ms.
}

TEST(Session, GathersManyQuickResultsIntoReceiptsOfEight) {
  World world;
  world.runner.takes = 0ms;
  world.session.start();
  world.coordinator.add_job(world.manifest, 64);

  ASSERT_TRUE(world.host.run_until([&] { return world.coordinator.done(); }));

  EXPECT_LE(world.coordinator.receipts, 64 / 8 + 3);
  for (const auto& receipt : world.heard<protocol::Receipt>()) EXPECT_LE(receipt.items.size(), 8U);
}

// The socket is lost at the n-th message of either side, for every n there is.
TEST(Session, LosesNothingWhereverTheSocketIsLost) {
  for (int lost_at = 1; lost_at < 60; ++lost_at) {
    World world;
    int messages = 0;
    world.coordinator.on_traffic = [&] {
      if (++messages == lost_at) world.host.drop("lost");
    };
    world.session.start();
    world.coordinator.add_job(world.manifest, 12);

    ASSERT_TRUE(world.host.run_until([&] { return world.coordinator.done(); }))
        << "lost at message " << lost_at;
    world.host.run_for(5s);

    EXPECT_EQ(world.coordinator.paid.size(), 12U) << "lost at message " << lost_at;
    for (const auto& [index, times] : world.coordinator.paid)
      EXPECT_EQ(times, 1) << index << ", lost at message " << lost_at;
    EXPECT_THAT(world.coordinator.complaints, testing::IsEmpty()) << "lost at message " << lost_at;
    EXPECT_EQ(world.session.stats().held, 0U) << "lost at message " << lost_at;
    EXPECT_EQ(world.session.stats().unanswered, 0U) << "lost at message " << lost_at;
  }
}

TEST(Session, LosesNothingOverManyRandomLosses) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    World world;
    world.runner.large_bytes = 70'000;  // Outputs of this size are sent by PUT.
    std::mt19937 random(seed);
    int losses = 0;
    world.coordinator.on_traffic = [&] {
      if (losses < 30 && random() % 8 == 0) {
        ++losses;
        world.host.blobs_reachable = random() % 2 == 0;
        world.host.after(std::chrono::milliseconds(random() % 3000),
                         [&] { world.host.blobs_reachable = true; });
        world.host.drop("lost");
      }
    };
    world.session.start();
    world.coordinator.add_job(world.manifest, 20);

    ASSERT_TRUE(world.host.run_until([&] { return world.coordinator.done(); })) << "seed " << seed;
    world.host.run_for(5s);

    for (const auto& [index, times] : world.coordinator.paid)
      EXPECT_EQ(times, 1) << index << ", seed " << seed;
    EXPECT_THAT(world.coordinator.complaints, testing::IsEmpty()) << "seed " << seed;
    EXPECT_EQ(world.session.stats().held, 0U) << "seed " << seed;
  }
}

TEST(Session, ShowsWhatItHoldsAfterAReconnectAndRunsNothingTwice) {
  World world;
  world.coordinator.answer_verdicts = false;
  world.join();
  world.runner.takes = 100ms;
  world.lease({0, 1, 2});
  ASSERT_TRUE(world.host.run_until(
      [&] { return world.runner.runs.size() == 2; }));  // 0 is done, 1 runs, 2 waits.

  world.host.drop("lost");
  world.host.run_for(5s);

  const auto resumes = world.heard<protocol::Resume>();
  ASSERT_EQ(resumes.size(), 1U);
  EXPECT_EQ(resumes[0].held.size(), 3U);
  EXPECT_EQ(world.runner.runs.size(), 3U);
}

TEST(Session, RunsATaskThatIsLeasedTwiceOnce) {
  World world;
  world.join();
  world.lease({5, 5});
  world.lease({5, 6});
  world.host.run_for(1s);

  EXPECT_EQ(world.runner.runs.size(), 2U);
}

TEST(Session, SendsAResultAgainWhenItsTaskIsLeasedAgainBeforeTheVerdict) {
  World world;
  world.coordinator.answer_verdicts = false;
  world.join();
  world.lease({5});
  world.host.run_for(1s);
  world.lease({5});
  world.host.run_for(1s);

  EXPECT_EQ(world.runner.runs.size(), 1U);
  EXPECT_EQ(world.coordinator.results, 2);
  EXPECT_EQ(world.coordinator.receipts, 2);
}

TEST(Session, OpensWhatItCommittedToUntilTheVerdict) {
  World world;
  world.join();
  world.coordinator.answer_verdicts = false;
  world.lease({1});
  ASSERT_TRUE(world.host.run_until([&] { return world.coordinator.receipts == 1; }));
  const TaskId task{.job = {}, .index = 1};
  const Hash root = world.heard<protocol::Receipt>().at(0).items.at(0).root;
  const auto open = [&] {
    world.coordinator.send(
        protocol::OpenChunks{.task = task,
                             .attempt = 1,
                             .chunks = {{.output = 0, .chunk = 0}, {.output = 0, .chunk = 99}}});
    world.host.run_for(1s);
    return world.heard<protocol::Opening>().back();
  };

  const auto before = open();
  world.coordinator.send(protocol::Verdict{
      .task = task, .attempt = 1, .accepted = true, .paid = 10, .balance = 10, .reason = ""});
  const auto after = open();

  EXPECT_EQ(proof::root_of_roots(before.roots), root);
  ASSERT_EQ(before.paths.size(), 2U);
  EXPECT_GE(before.paths[0].chunks, 1U);
  EXPECT_EQ(before.paths[1].chunks, 0U) << "there is no such chunk";
  EXPECT_TRUE(after.roots.empty()) << "it has nothing to answer for any more";
}

TEST(Session, EndsACancelledTaskAndGoesOnWithTheNext) {
  World world;
  world.join();
  world.runner.takes = 10s;
  world.lease({1, 2, 3});
  ASSERT_TRUE(world.host.run_until([&] { return world.runner.runs.size() == 1; }));

  world.runner.takes = 10ms;
  world.coordinator.send(
      protocol::Cancel{.tasks = {{.task = {.job = {}, .index = 1}, .attempt = 1},
                                 {.task = {.job = {}, .index = 2}, .attempt = 1}},
                       .reason = "done elsewhere"});
  world.host.run_for(1s);

  EXPECT_EQ(world.runner.cancels, 1);
  ASSERT_EQ(world.runner.runs.size(), 2U);
  EXPECT_EQ(world.runner.runs[1].options.range.first, 3U);
  EXPECT_EQ(world.coordinator.results, 1);
  EXPECT_TRUE(world.heard<protocol::TaskFailed>().empty());
  EXPECT_EQ(world.seen<event::TaskCancelled>().size(), 2U);
}

TEST(Session, IgnoresACancelOfAnotherAttempt) {
  World world;
  world.join();
  world.runner.takes = 1s;
  world.lease({1});
  ASSERT_TRUE(world.host.run_until([&] { return world.runner.runs.size() == 1; }));
  world.coordinator.send(protocol::Cancel{
      .tasks = {{.task = {.job = {}, .index = 1}, .attempt = 2}}, .reason = "another"});
  world.host.run_for(3s);

  EXPECT_EQ(world.runner.cancels, 0);
  EXPECT_EQ(world.coordinator.results, 1);
}

TEST(Session, ReportsAFailedTaskWithItsReasonAndGoesOn) {
  World world;
  world.join();
  world.runner.error = Error{ErrorCode::invalid_argument, "3:17: cannot convert value."};
  world.lease({1});
  world.host.run_for(1s);
  world.runner.error.reset();
  world.lease({2});
  world.host.run_for(1s);

  const auto failed = world.heard<protocol::TaskFailed>();
  ASSERT_EQ(failed.size(), 1U);
  EXPECT_EQ(failed[0].code, "invalid_argument");
  EXPECT_EQ(failed[0].message, "3:17: cannot convert value.");
  EXPECT_EQ(world.coordinator.results, 1);
}

TEST(Session, RefusesALeaseThatDoesNotFitItsJob) {
  World world;
  world.join();
  protocol::Lease lease{.manifest = world.manifest, .wall_ms_max = 1000};
  lease.tasks = {{.index = 0, .attempt = 1, .first = 64, .count = 1},
                 {.index = 1, .attempt = 1, .first = 63, .count = 2},
                 {.index = 2, .attempt = 1, .first = 0, .count = 0},
                 {.index = 3, .attempt = 1, .first = 1, .count = 4294967295U}};
  world.coordinator.send(lease);
  world.coordinator.send(
      protocol::Lease{.job = {},
                      .manifest = Hash{},
                      .tasks = {{.index = 9, .attempt = 1, .first = 0, .count = 1}}});
  world.host.run_for(30s);

  const auto failed = world.heard<protocol::TaskFailed>();
  ASSERT_EQ(failed.size(), 5U);
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(failed[static_cast<std::size_t>(i)].code, "invalid_argument");
  EXPECT_EQ(failed[4].code, "not_found");
  EXPECT_TRUE(world.runner.runs.empty());
}

TEST(Session, UploadsLargeOutputsAndTriesAgainWhileTheyDoNotGetThrough) {
  World world;
  world.runner.large_bytes = 1'000'000;
  world.join();
  world.lease({7});
  ASSERT_TRUE(world.host.run_until([&] { return world.runner.runs.size() == 1; }));
  world.host.blobs_reachable = false;
  world.host.after(3s, [&] { world.host.blobs_reachable = true; });
  world.host.run_for(10s);

  EXPECT_EQ(world.coordinator.results, 1);
  EXPECT_THAT(world.coordinator.complaints, testing::IsEmpty());
  EXPECT_TRUE(world.host.blobs.contains(crypto::sha256(ByteVector(1'000'000, 8))));
}

TEST(Session, BeatsOnlyWhileItHoldsSomething) {
  World world;
  world.join();
  world.host.run_for(60s);
  EXPECT_TRUE(world.heard<protocol::Beat>().empty());

  world.runner.takes = 5500ms;
  world.lease({1});
  world.host.run_for(60s);
  EXPECT_EQ(world.heard<protocol::Beat>().size(), 5U);
}

TEST(Session, RestsBetweenTasksWhenThrottled) {
  World world;
  world.join();
  world.session.throttle(0.25);
  world.runner.takes = 100ms;
  world.lease({1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
  world.host.run_for(2s);

  EXPECT_GE(world.runner.runs.size(), 4U);
  EXPECT_LE(world.runner.runs.size(), 6U);
}

// While it rests, a worker asks for no task, because the task would wait although other workers are
// idle.
TEST(Session, WantsNoTaskThroughARestAndOneAfterIt) {
  World world;
  world.join();
  world.session.throttle(0.25);
  world.runner.takes = 1s;
  world.lease({1});
  world.host.run_for(2s);
  const auto wanted = [&] {
    std::vector<std::uint32_t> slots;
    for (const auto& message : world.heard<protocol::Slots>()) slots.push_back(message.slots);
    return slots;
  };
  const auto resting = wanted();
  world.host.run_for(3s);

  ASSERT_FALSE(resting.empty());
  EXPECT_EQ(resting.back(), 0U);
  EXPECT_EQ(wanted().back(), 1U);
}

TEST(Session, EndsARestWhenItsShareGrows) {
  World world;
  world.join();
  world.session.throttle(0.05);
  world.runner.takes = 1s;
  world.lease({1, 2});
  world.host.run_for(2s);
  ASSERT_EQ(world.runner.runs.size(), 1U);

  world.session.throttle(1);
  world.host.run_for(100ms);

  EXPECT_EQ(world.runner.runs.size(), 2U);
}

TEST(Session, StaysPausedOverAReconnect) {
  World world;
  world.join();
  world.session.pause();
  world.host.drop("gone");
  world.host.run_for(10s);

  ASSERT_EQ(world.heard<protocol::Hello>().size(), 2U);
  EXPECT_EQ(world.heard<protocol::Hello>().back().slots, 0U);
  world.session.resume();
  world.host.run_for(100ms);
  ASSERT_FALSE(world.heard<protocol::Slots>().empty());
  EXPECT_GT(world.heard<protocol::Slots>().back().slots, 0U);
}

TEST(Session, SaysOfATaskWhatItMoved) {
  World world;
  world.join();
  world.lease({3});
  world.host.run_for(2s);

  const auto done = world.seen<event::TaskDone>();
  ASSERT_EQ(done.size(), 1U);
  EXPECT_EQ(done[0].job_name, "t");
  EXPECT_EQ(done[0].bytes, 4U);  // The task's output is one u32 of the job's 64.
  EXPECT_EQ(done[0].operations, 0);
}

TEST(Session, MayBeDestroyedWithEverythingUnderWay) {
  World world;
  auto session = std::make_unique<Session>(world.host, world.runner, world.key, Session::Options{},
                                           [](const Event&) {});
  session->start();
  world.coordinator.add_job(world.manifest, 30);
  ASSERT_TRUE(world.host.run_until([&] { return world.runner.runs.size() == 3; }));

  session.reset();
  world.host.run_for(60s);

  EXPECT_LE(world.runner.runs.size(), 3U);
}

// Returns a lease of task 3 as attempt 1. A second lease of this attempt may have other data.
protocol::Lease lease_of_three(const Hash& manifest, std::uint32_t first = 3) {
  return {.manifest = manifest,
          .wall_ms_max = 1000,
          .tasks = {{.index = 3, .attempt = 1, .first = first, .count = 1}}};
}

TEST(Session, SignsOneRootForAnAttemptWhateverIsLeasedAlsoAfterARestart) {
  RememberedRoots memory;
  std::uint8_t identity = 1;
  const auto play = [&](std::uint8_t answer) {
    World world(memory.options());
    memory.host = &world.host;
    world.coordinator.take_key(identity);
    world.runner.output = answer;
    world.join();
    world.coordinator.send(lease_of_three(world.manifest));
    EXPECT_TRUE(world.host.run_until([&] {
      return world.seen<event::Verdict>().size() + world.seen<event::TaskFailed>().size() == 1;
    }));
    EXPECT_THAT(world.coordinator.complaints, testing::IsEmpty());
    EXPECT_EQ(world.coordinator.receipts + static_cast<int>(world.seen<event::TaskFailed>().size()),
              1);
    EXPECT_EQ(world.session.stats().held, 0U);
    return world.coordinator.receipts == 1;
  };

  EXPECT_TRUE(play(1));
  EXPECT_FALSE(play(2));  // The second root is neither signed nor handed in.
  EXPECT_TRUE(play(1));   // Signing the same root again is no contradiction.
  identity = 2;
  EXPECT_TRUE(play(2));  // The attempt belongs to a task of another coordinator.
}

TEST(Session, PartsOfATaskThatItHasAnsweredAreSigned) {
  RememberedRoots memory;
  World world(memory.options());
  memory.host = &world.host;
  world.join();
  for (const std::uint32_t first : {3U, 5U, 6U}) {  // The whole task, and then two audits of parts.
    world.coordinator.send(lease_of_three(world.manifest, first));
    ASSERT_TRUE(world.host.run_until([&] {
      return world.session.stats().counters.tasks_done == (first == 3 ? 1U : first - 3);
    }));
    world.host.run_for(1s);
  }
  EXPECT_EQ(world.coordinator.receipts, 3);
  EXPECT_THAT(world.seen<event::TaskFailed>(), testing::IsEmpty());
  // The audits are signed with a word that makes them no evidence, and with the part that was
  // leased.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> signed_parts;
  for (const auto& receipt : world.heard<protocol::Receipt>())
    for (const auto& item : receipt.items) signed_parts.emplace_back(item.first, item.count);
  EXPECT_THAT(signed_parts,
              testing::ElementsAre(testing::Pair(0, 0), testing::Pair(5, 1), testing::Pair(6, 1)));
}

TEST(Session, WhatMayHaveBeenSignedIsRefusedBeforeItIsComputed) {
  RememberedRoots memory;
  World world(memory.options());
  memory.host = &world.host;
  world.coordinator.take_key(1);
  world.join();
  const auto coordinator = crypto::KeyPair::from_seed(ByteVector(32, 1)).value().public_key();
  SignedRoots& roots = memory.of[coordinator] = SignedRoots(1);
  for (const std::uint32_t index : {3U, 4U}) {
    (void)roots.add({.task = {.job = {}, .index = index}, .attempt = 1}, {});
    (void)roots.shrink();
  }
  world.coordinator.send(lease_of_three(world.manifest));
  ASSERT_TRUE(world.host.run_until([&] { return world.seen<event::TaskFailed>().size() == 1; }));
  EXPECT_EQ(world.seen<event::TaskFailed>()[0].error.code, ErrorCode::already_exists);
  EXPECT_THAT(world.runner.runs, testing::IsEmpty());

  world.coordinator.send(lease_of_three(world.manifest, 5));  // A lease of a part is an audit.
  ASSERT_TRUE(world.host.run_until([&] { return world.coordinator.receipts == 1; }));
  EXPECT_THAT(world.runner.runs, testing::SizeIs(1));
}

TEST(Session, ResultsThatWereAdmittedForAnotherKeyAreNotSignedForThisOne) {
  RememberedRoots memory;
  World world(memory.options());
  memory.host = &world.host;
  world.coordinator.answer_verdicts = false;
  world.join();
  world.coordinator.send(lease_of_three(world.manifest));
  ASSERT_TRUE(world.host.run_until([&] { return world.coordinator.receipts == 1; }));
  EXPECT_EQ(world.session.stats().unanswered, 1U);

  world.coordinator.take_key(1);
  world.host.drop("rotated");
  world.host.run_for(10s);
  EXPECT_TRUE(world.coordinator.welcomed());
  EXPECT_EQ(world.coordinator.receipts, 1);
  EXPECT_EQ(world.session.stats().unanswered, 0U);
}

}  // namespace
}  // namespace weft::worker
