// Tests of the removal of blobs: blobs that no row names are removed. Blobs that a job needs stay
// while it runs, for some days after its end, and while pay of its tasks is held.
#include "apps/coordinator/blob_sweep.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apps/coordinator/test_network.h"

namespace weft::coordinator {
namespace {

using testing::ElementsAre;

constexpr auto day = std::chrono::hours(24);

class SweepTest : public testing::Test {
 protected:
  JobId submit() {
    ++nonce_[0];
    const auto submitted = network.submit(client, jobs::count_manifest(3, 2, "", 100, 0), nonce_);
    EXPECT_TRUE(submitted.has_value()) << submitted.error().message;
    return submitted ? JobId::parse(submitted->id).value() : JobId{};
  }
  // The blobs that the rows of a job name, without the data in its manifest.
  std::vector<Hash> named_by(const JobId& job) {
    const store::Job row = network.store().job(job).value();
    std::vector<Hash> all = {row.manifest_hash};
    const auto add = [&](const std::vector<store::OutputBlob>& outputs) {
      for (const auto& output : outputs) all.push_back(output.hash);
    };
    add(row.outputs);
    for (const auto& task : network.store().tasks(job).value()) add(task.outputs);
    for (const auto& replica : network.store().replicas(job).value()) {
      add(replica.outputs);
      if (replica.receipt != Hash()) all.push_back(replica.receipt);
    }
    for (const auto& receipt : network.store().receipts(job).value()) all.push_back(receipt.claims);
    return all;
  }
  bool all_there(const std::vector<Hash>& blobs) {
    return std::ranges::all_of(blobs, [&](const Hash& hash) { return network.blobs().has(hash); });
  }
  // Sweeps at `passed` after all uses of blobs in this test.
  store::Blobs::Collected sweep_after(std::chrono::hours passed, UnixMillis unix) {
    BlobSweep sweep(network.store(), network.blobs(), {});
    return sweep.sweep(now() + passed, unix).value();
  }

  TestNetwork network;
  crypto::KeyPair client = crypto::KeyPair::generate().value();
  crypto::KeyPair a = crypto::KeyPair::generate().value();
  crypto::KeyPair b = crypto::KeyPair::generate().value();
  store::SubmitNonce nonce_{};
};

TEST_F(SweepTest, TakesWhatNoRowNamesAfterAnHourAndNothingElse) {
  network.join(a);
  network.join(b);
  const JobId ended = submit();
  const store::Job row = network.finish(ended);
  ASSERT_EQ(row.state, store::JobState::done);
  const JobId running = submit();
  const Hash file = network.blobs().put(ByteVector(100'000, 1)).value();
  const Hash packed = network.blobs().add(ByteVector(100, 2)).value();
  const std::vector<Hash> of_ended = named_by(ended);
  ASSERT_GT(of_ended.size(), 6U);

  EXPECT_EQ(sweep_after(std::chrono::hours(0), row.ended).count, 0U);
  const auto removed = sweep_after(std::chrono::hours(2), row.ended);

  EXPECT_EQ(removed.count, 2U);
  EXPECT_EQ(removed.bytes, 100'100U);
  EXPECT_FALSE(network.blobs().has(file));
  EXPECT_FALSE(network.blobs().has(packed));
  EXPECT_TRUE(all_there(of_ended));
  EXPECT_TRUE(all_there(named_by(running)));
  EXPECT_EQ(network.finish(running).state, store::JobState::done);
}

TEST_F(SweepTest, KeepsTheDataThatAManifestNames) {
  const Hash input = network.blobs().put(ByteVector(400, 3)).value();
  std::vector<Hash> named;
  each_hash_in("{\"blob\": \"" + input.text() + "\", \"not\": \"" + input.text() + "0\"}",
               [&](const Hash& hash) { named.push_back(hash); });
  EXPECT_THAT(named, ElementsAre(input));

  store::Batch batch;
  batch.jobs = {{.id = network.new_id(),
                 .client = client.public_key(),
                 .name = "a job",
                 .manifest = R"({"bindings": [{"blob": ")" + input.text() + R"("}]})",
                 .manifest_hash = {},
                 .reason = "",
                 .root = {},
                 .outputs = {}}};
  ASSERT_TRUE(network.store().commit(batch));
  EXPECT_EQ(sweep_after(std::chrono::hours(2), 0).count, 0U);
  EXPECT_TRUE(network.blobs().has(input));
}

TEST_F(SweepTest, TakesAJobsBlobsAWeekAfterItsEnd) {
  network.join(a);
  network.join(b);
  const store::Job row = network.finish(submit());
  ASSERT_EQ(row.state, store::JobState::done);
  const std::vector<Hash> named = named_by(row.id);

  EXPECT_EQ(sweep_after(7 * day, row.ended + UnixMillis{7} * 24 * 3'600'000).count, 0U);
  EXPECT_TRUE(all_there(named));
  const auto removed = sweep_after(8 * day, row.ended + UnixMillis{7} * 24 * 3'600'000 + 1);

  EXPECT_GT(removed.count, 0U);
  for (const Hash& hash : named) EXPECT_FALSE(network.blobs().has(hash)) << hash.text();
  EXPECT_EQ(network.blobs().count(), 0U);
}

TEST_F(SweepTest, KeepsAJobOfWhichPayIsHeld) {
  network.join(a);
  network.join(b);
  const store::Job row = network.finish(submit());
  store::Batch held;
  held.held_pays = {
      {.row = {
           .task = {.job = row.id, .index = 0}, .worker = a.public_key(), .owner = {}, .free = 1}}};
  ASSERT_TRUE(network.store().commit(held));

  EXPECT_EQ(sweep_after(100 * day, row.ended + UnixMillis{100} * 24 * 3'600'000).count, 0U);
  EXPECT_TRUE(all_there(named_by(row.id)));
}

TEST_F(SweepTest, RemovesNothingWhenItIsStopped) {
  const Hash unnamed = network.blobs().put(ByteVector(100, 1)).value();
  std::stop_source source;
  source.request_stop();
  BlobSweep sweep(network.store(), network.blobs(), {});

  EXPECT_EQ(sweep.sweep(now() + 2 * day, 0, source.get_token()).value().count, 0U);

  EXPECT_TRUE(network.blobs().has(unnamed));
}

}  // namespace
}  // namespace weft::coordinator
