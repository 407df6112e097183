#include "worker/tasks/signed_roots.h"

#include <gtest/gtest.h>

namespace weft::worker {
namespace {

using Verdict = SignedRoots::Verdict;

TaskKey key_of(std::uint8_t job, std::uint32_t index = 0, std::uint32_t attempt = 1) {
  TaskKey key{.task = {.job = {}, .index = index}, .attempt = attempt};
  key.task.job.bytes[0] = job;
  return key;
}
Hash root_of(std::uint8_t byte) {
  Hash root;
  root.bytes.fill(byte);
  return root;
}

TEST(SignedRoots, OneRootForAnAttempt) {
  SignedRoots roots;
  EXPECT_EQ(roots.look(key_of(1), root_of(1)), Verdict::fresh);
  roots.add(key_of(1), root_of(1));

  EXPECT_EQ(roots.look(key_of(1), root_of(1)), Verdict::same);
  EXPECT_EQ(roots.look(key_of(1), root_of(2)), Verdict::other);
  EXPECT_EQ(roots.look(key_of(1, 1), root_of(2)), Verdict::fresh);
  EXPECT_EQ(roots.look(key_of(1, 0, 2), root_of(2)), Verdict::fresh);
  EXPECT_EQ(roots.look(key_of(2), root_of(2)), Verdict::fresh);
  // Attempts are numbered from 1, so there is no attempt 0.
  EXPECT_EQ(roots.look(key_of(2, 0, 0), root_of(2)), Verdict::forgotten);
}

TEST(SignedRoots, WhatIsForgottenIsNeverSignedAgain) {
  SignedRoots roots(8);
  std::vector<TaskKey> added;
  for (std::uint8_t job = 1; job <= 100; ++job) {
    added.push_back(key_of(job, job));
    roots.add(added.back(), root_of(1));
    (void)roots.shrink();
    EXPECT_LE(roots.size(), 8U);
    const SignedRoots read = SignedRoots::from(roots.all(), 8);
    for (const TaskKey& key : added) {
      for (const SignedRoots* one : {&std::as_const(roots), &read}) {
        const Verdict verdict = one->look(key, root_of(2));
        EXPECT_TRUE(verdict == Verdict::other || verdict == Verdict::forgotten);
      }
    }
  }
  EXPECT_EQ(roots.look(key_of(3), root_of(1)), Verdict::forgotten);
  EXPECT_EQ(roots.look(key_of(200), root_of(1)), Verdict::fresh);
}

TEST(SignedRoots, AnOldJobGoesOnWhileANewerOneFillsTheRecord) {
  SignedRoots roots(64);
  for (std::uint32_t index = 0; index < 1000; ++index) {
    for (std::uint32_t tiny = 0; tiny < 5; ++tiny) {
      const TaskKey newer = key_of(9, index * 5 + tiny);
      ASSERT_EQ(roots.look(newer, root_of(1)), Verdict::fresh);
      roots.add(newer, root_of(1));
      (void)roots.shrink();
    }
    ASSERT_EQ(roots.look(key_of(1, index), root_of(1)), Verdict::fresh) << index;
    roots.add(key_of(1, index), root_of(1));
    (void)roots.shrink();
    EXPECT_LE(roots.size(), 64U);
    EXPECT_EQ(roots.look(key_of(1, index), root_of(2)), Verdict::other);
  }
  EXPECT_EQ(roots.look(key_of(1, 3), root_of(1)), Verdict::forgotten);
  EXPECT_EQ(roots.look(key_of(9, 3), root_of(1)), Verdict::forgotten);
  EXPECT_EQ(roots.look(key_of(1, 1000), root_of(1)), Verdict::fresh);
}

TEST(SignedRoots, AJobThatIsSignedForIsKeptWhileOthersAreDropped) {
  SignedRoots roots(64);
  for (std::uint8_t job = 2; job < 250; ++job) {
    roots.add(key_of(job), root_of(1));
    (void)roots.shrink();
    ASSERT_EQ(roots.look(key_of(1, job), root_of(1)), Verdict::fresh) << int{job};
    roots.add(key_of(1, job), root_of(1));
    (void)roots.shrink();
    EXPECT_LE(roots.marks().jobs.size(), roots.jobs_max());
    roots = SignedRoots::from(roots.all(), 64);  // Storing and reading keeps the order of the jobs.
  }
  EXPECT_EQ(roots.look(key_of(2), root_of(1)), Verdict::forgotten);
  EXPECT_EQ(roots.look(key_of(2, 7), root_of(1)), Verdict::forgotten);
  // The id is below that of a dropped job.
  EXPECT_EQ(roots.look(key_of(0, 7), root_of(1)), Verdict::forgotten);
  EXPECT_EQ(roots.look(key_of(249), root_of(1)), Verdict::same);
}

TEST(SignedRoots, ReadsTheMarkOfTheFirstFormat) {
  ByteVector stored;
  append(stored, key_of(5).task.job.span());
  append_le(stored, std::uint32_t{7});
  append_le(stored, std::uint32_t{2});
  const SignedRoots roots = SignedRoots::from(stored);
  EXPECT_EQ(roots.look(key_of(4, 9), root_of(1)), Verdict::forgotten);
  EXPECT_EQ(roots.look(key_of(5, 7, 2), root_of(1)), Verdict::forgotten);
  EXPECT_EQ(roots.look(key_of(5, 7, 3), root_of(1)), Verdict::fresh);
  EXPECT_EQ(roots.look(key_of(6), root_of(1)), Verdict::fresh);
}

TEST(SignedRoots, ReadsWhatItHasWrittenAndStopsBeforeARecordThatWasCutShort) {
  SignedRoots roots;
  ByteVector stored = roots.all();
  append(stored, roots.add(key_of(7, 3, 2), root_of(1)));
  append(stored, roots.add(key_of(8), root_of(2)));

  for (std::size_t cut = 0; cut <= SignedRoots::record_bytes; ++cut) {
    const SignedRoots read = SignedRoots::from(ByteSpan(stored).first(stored.size() - cut));
    EXPECT_EQ(read.look(key_of(7, 3, 2), root_of(1)), Verdict::same);
    EXPECT_EQ(read.look(key_of(8), root_of(1)), cut == 0 ? Verdict::other : Verdict::fresh);
  }
}

}  // namespace
}  // namespace weft::worker
