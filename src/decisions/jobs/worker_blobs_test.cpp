// A worker reads what its leases of running jobs and its models lead to, and no other blob; and it
// stores as many bytes as its leases of running jobs allow, each lease once.
#include "decisions/jobs/worker_blobs.h"

#include <gtest/gtest.h>

#include <array>

namespace weft::jobs {
namespace {

template <class Id>
Id id(std::uint8_t byte) {
  Id made{};
  made.bytes.fill(byte);
  return made;
}

class WorkerBlobsTest : public testing::Test {
 protected:
  void add_job(const JobId& job, const Hash& data) {
    manifest::Manifest manifest;
    manifest.bindings.push_back({.role = manifest::Role::input, .data = manifest::Blob{data}});
    blobs.add_job(job, manifest, text);
  }

  WorkerBlobs blobs;
  const PublicKey worker = id<PublicKey>(1), other = id<PublicKey>(2);
  const JobId job = id<JobId>(1), second = id<JobId>(2);
  const Hash text = id<Hash>(1), data = id<Hash>(2), state = id<Hash>(3), model = id<Hash>(4);
};

TEST_F(WorkerBlobsTest, ALeaseLeadsToItsJobsManifestDataAndStateUntilTheJobEnds) {
  add_job(job, data);
  add_job(second, id<Hash>(9));
  EXPECT_FALSE(blobs.may_read(worker, data));

  blobs.allow_read(worker, job, std::array{state});

  for (const Hash& blob : {text, data, state}) EXPECT_TRUE(blobs.may_read(worker, blob));
  EXPECT_FALSE(blobs.may_read(worker, id<Hash>(9))) << "another job's";
  EXPECT_FALSE(blobs.may_read(other, data)) << "another worker";
  blobs.remove_job(job);
  for (const Hash& blob : {text, data, state}) EXPECT_FALSE(blobs.may_read(worker, blob));
  blobs.allow_read(worker, job, {});
  EXPECT_FALSE(blobs.may_read(worker, data)) << "a lease that was shown too late";
}

TEST_F(WorkerBlobsTest, AStateThatACheckAsksForIsStoredOnceInTheRoomForStates) {
  add_job(job, data);
  const TaskId task{.job = job, .index = 0};
  EXPECT_FALSE(blobs.take_upload(worker, 7).has_value());

  blobs.allow_states(worker, task, 1, {7, 7});

  for (int i = 0; i < 2; ++i) {
    const auto upload = blobs.take_upload(worker, 7);
    ASSERT_TRUE(upload.has_value());
    EXPECT_EQ(upload->state_of, job);
    EXPECT_FALSE(upload->output_of.has_value());
  }
  EXPECT_FALSE(blobs.take_upload(worker, 7).has_value());
  EXPECT_FALSE(blobs.take_upload(other, 7).has_value());
}

TEST_F(WorkerBlobsTest, AskingAgainLetsNoMoreBytesBeStored) {
  add_job(job, data);
  const TaskId task{.job = job, .index = 0};
  for (int i = 0; i < 10; ++i) blobs.allow_states(worker, task, 1, {7});

  EXPECT_TRUE(blobs.take_upload(worker, 7).has_value());
  EXPECT_FALSE(blobs.take_upload(worker, 7).has_value());
  blobs.allow_states(worker, {.job = second, .index = 0}, 1, {7});
  EXPECT_FALSE(blobs.take_upload(worker, 7).has_value()) << "of a job that does not run";
}

TEST_F(WorkerBlobsTest, AModelIsReadAsLongAsALineServesIt) {
  blobs.allow_model(worker, 1, std::array{model});
  blobs.allow_model(worker, 2, std::array{model});

  EXPECT_TRUE(blobs.may_read(worker, model));
  EXPECT_FALSE(blobs.may_read(other, model));
  blobs.remove_line(1);
  EXPECT_TRUE(blobs.may_read(worker, model)) << "its new line began before the old one's end";
  blobs.remove_line(2);
  EXPECT_FALSE(blobs.may_read(worker, model));
}

TEST_F(WorkerBlobsTest, ALineKeepsItsLatestModels) {
  Hash blob = model;
  for (std::size_t i = 0; i < 2 * WorkerBlobs::models_max + 1; ++i) {
    blob.bytes[0] = static_cast<std::uint8_t>(i);
    blobs.allow_model(worker, 1, std::array{blob});
  }
  EXPECT_TRUE(blobs.may_read(worker, blob));
  blob.bytes[0] = 0;
  EXPECT_FALSE(blobs.may_read(worker, blob));
}

TEST_F(WorkerBlobsTest, EachLeaseLetsItsBytesBeStoredOnceAndWhileItsJobRuns) {
  add_job(job, data);
  add_job(second, data);
  blobs.allow_upload(worker, {.job = job, .index = 0}, 1, 100);
  blobs.allow_upload(worker, {.job = job, .index = 0}, 1, 100);
  blobs.allow_upload(worker, {.job = second, .index = 0}, 1, 50);

  EXPECT_FALSE(blobs.take_upload(other, 1));
  EXPECT_FALSE(blobs.take_upload(worker, 151));
  EXPECT_TRUE(blobs.take_upload(worker, 120));
  EXPECT_FALSE(blobs.take_upload(worker, 31));
  blobs.remove_job(job);
  blobs.remove_job(second);
  EXPECT_FALSE(blobs.take_upload(worker, 1)) << "what its leases of ended jobs did not use";
}

TEST_F(WorkerBlobsTest, EachOutputOfALeaseTakesTheRoomOfItsJobOnce) {
  add_job(job, data);
  add_job(second, data);
  blobs.allow_upload(worker, {.job = job, .index = 0}, 1, 1000, {40, 8});
  blobs.allow_upload(worker, {.job = second, .index = 0}, 1, 1000, {16});

  EXPECT_EQ(blobs.take_upload(worker, 16)->output_of, second);
  EXPECT_EQ(blobs.take_upload(worker, 16)->output_of, std::nullopt) << "once";
  EXPECT_EQ(blobs.take_upload(worker, 41)->output_of, std::nullopt) << "no output's size";
  EXPECT_EQ(blobs.take_upload(worker, 8, second)->output_of, std::nullopt) << "another job's";
  EXPECT_EQ(blobs.take_upload(worker, 8, job)->output_of, job);
  blobs.allow_upload(worker, {.job = job, .index = 0}, 1, 1000, {40, 8});
  EXPECT_EQ(blobs.take_upload(worker, 8)->output_of, std::nullopt) << "the same lease";
  blobs.allow_upload(worker, {.job = job, .index = 0}, 2, 1000, {40, 8});
  EXPECT_EQ(blobs.take_upload(worker, 8)->output_of, job) << "its next attempt";
}

TEST_F(WorkerBlobsTest, ThatLeasesBoundUploadsIsSwitchedOffInTestsOnly) {
  EXPECT_FALSE(blobs.take_upload(worker, 1'000'000'000));
  blobs.allow_all_uploads();
  EXPECT_TRUE(blobs.take_upload(worker, 1'000'000'000)) << "the attack";
}

}  // namespace
}  // namespace weft::jobs
