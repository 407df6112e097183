// The parts of a worker's work that stand alone: the commitments of results, proofs of leases,
// rests, and results whose outputs are being uploaded.
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "common/proof/merkle.h"
#include "worker/tasks/commitments.h"
#include "worker/tasks/lease_proofs.h"
#include "worker/tasks/rests.h"
#include "worker/tasks/test_fakes.h"

namespace weft::worker {
namespace {

TaskKey task_key(std::uint32_t index, std::uint32_t attempt = 1) {
  return {.task = {.job = {}, .index = index}, .attempt = attempt};
}

TEST(Commitments, AChunkIsOpenedWithThePathToItsOutputsRoot) {
  Commitments commitments(2);
  const ByteVector output(3 * proof::chunk_bytes, 7);
  const auto leaves = proof::chunk_leaves(output);
  commitments.add(task_key(1), {leaves});

  const auto opening =
      commitments.open({.task = task_key(1).task, .attempt = 1, .chunks = {{0, 2}}});

  ASSERT_EQ(opening.roots.size(), 1U);
  EXPECT_EQ(opening.roots[0], proof::root_of_leaves(leaves));
  ASSERT_EQ(opening.paths.size(), 1U);
  EXPECT_EQ(opening.paths[0].chunks, leaves.size());
  EXPECT_FALSE(opening.paths[0].siblings.empty());
}

TEST(Commitments, WhatIsNotKeptIsOpenedByNothing) {
  Commitments commitments(1);
  commitments.add(task_key(1), {{Hash{}}});
  commitments.add(task_key(2), {{Hash{}}});
  EXPECT_TRUE(
      commitments.open({.task = task_key(2).task, .attempt = 1, .chunks = {{0, 0}}}).roots.empty())
      << "the bound";
  const auto beyond =
      commitments.open({.task = task_key(1).task, .attempt = 1, .chunks = {{5, 0}, {0, 9}}});
  ASSERT_EQ(beyond.paths.size(), 2U);
  EXPECT_TRUE(beyond.paths[0].siblings.empty() && beyond.paths[1].siblings.empty());
  commitments.erase(task_key(1));
  EXPECT_TRUE(
      commitments.open({.task = task_key(1).task, .attempt = 1, .chunks = {}}).roots.empty());
}

TEST(LeaseProofs, AreDroppedOnceTheyAreMany) {
  LeaseProofs proofs;
  Hash proof;
  proof.bytes[0] = 9;
  for (std::uint32_t index = 0; index < 64; ++index) proofs.put(task_key(index), proof);
  const auto only_first = [](const TaskKey& key) { return key == task_key(0); };
  proofs.forget(0, only_first);
  EXPECT_EQ(proofs.size(), 64U);

  proofs.put(task_key(64), proof);
  proofs.forget(0, only_first);

  EXPECT_EQ(proofs.size(), 1U);
  EXPECT_EQ(proofs.of(task_key(0)), proof);
  EXPECT_EQ(proofs.of(task_key(3)), Hash{});
}

struct RestsTest : testing::Test {
  FakeHost host;
  std::vector<bool> told;
  int ended = 0;
  Rests rests{host,
              {.told_min = std::chrono::milliseconds(250),
               .on_rest = [this](bool rests) { told.push_back(rests); }},
              [this] { ++ended; }};
};

TEST_F(RestsTest, AShareOfTheTimeIsRested) {
  rests.after(std::chrono::seconds(1));
  EXPECT_FALSE(rests.resting()) << "all of the time is for work";
  rests.throttle(0.25);
  rests.after(std::chrono::seconds(1));
  EXPECT_TRUE(rests.resting());
  EXPECT_EQ(told, std::vector{true});
  host.run_for(std::chrono::milliseconds(2'900));
  EXPECT_TRUE(rests.resting());
  host.run_for(std::chrono::milliseconds(200));
  EXPECT_FALSE(rests.resting());
  EXPECT_EQ(ended, 1);
  EXPECT_EQ(told, (std::vector{true, false}));
}

TEST_F(RestsTest, ARestEndsWithAnotherShareAndAnOldOneEndsNoNewOne) {
  rests.throttle(0.5);
  rests.after(std::chrono::seconds(1));
  rests.throttle(0.5);
  EXPECT_FALSE(rests.resting());
  EXPECT_EQ(ended, 1);
  host.run_for(std::chrono::milliseconds(500));
  rests.after(std::chrono::seconds(1));
  host.run_for(std::chrono::milliseconds(700));
  EXPECT_TRUE(rests.resting()) << "the first rest would have ended now";
  EXPECT_EQ(ended, 1);
}

TEST_F(RestsTest, NoneBeginsOnceWorkIsToEnd) {
  rests.throttle(0.5);
  rests.stop();
  rests.after(std::chrono::seconds(1));
  EXPECT_FALSE(rests.resting());
}

}  // namespace
}  // namespace weft::worker
