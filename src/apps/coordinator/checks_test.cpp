// Tests of the results that are accepted without a comparison byte for byte: matrix products are
// checked by Freivalds whichever worker returns them, floats must agree within the job's tolerance,
// and large outputs arrive as blobs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstring>

#include "apps/coordinator/test_network.h"
#include "common/protocol/messages.h"
#include "decisions/jobs/job_life.h"

namespace weft::coordinator {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

class ChecksTest : public testing::Test {
 protected:
  store::Job run(const std::string& manifest) {
    const auto submitted = network.submit(client, manifest, {1});
    EXPECT_TRUE(submitted.has_value()) << submitted.error().message;
    return network.finish(JobId::parse(submitted->id).value());
  }
  MicroCredits earned(const crypto::KeyPair& worker) {
    return network.balance(ledger::Account::owner(OwnerId::of_first(worker.public_key())));
  }

  TestNetwork network;
  crypto::KeyPair client = crypto::KeyPair::generate().value();
  crypto::KeyPair a = crypto::KeyPair::generate().value();
  crypto::KeyPair b = crypto::KeyPair::generate().value();
  crypto::KeyPair c = crypto::KeyPair::generate().value();
};

// The product [1 2 3; 4 5 6; 7 8 9; -1 -2 -3] * [1 0; 0 1; 2 -1], in two tasks of two rows.
constexpr std::string_view product =
    R"({"weft":1,"kind":"kernel","name":"product","kernel":"matmul_i8","m":4,"n":2,"k":3,"a":{"value":[1,2,3,4,5,6,7,8,9,-1,-2,-3]},
       "b":{"value":[1,0,0,1,2,-1]},"split":{"tasks":2},"verify":{"compare":"exact","replicas":1},"budget":10})";
constexpr std::array<std::int32_t, 8> product_values{7, -1, 16, -1, 25, -1, -7, 1};

ByteVector rows_of_product(const protocol::LeasedTask& task) {
  ByteVector bytes;
  for (std::size_t i = std::size_t{task.first} * 2; i < std::size_t{task.first + task.count} * 2;
       ++i)
    append_le(bytes, static_cast<std::uint32_t>(product_values[i]));
  return bytes;
}

TEST_F(ChecksTest, AMatrixProductIsAccepted) {
  network.join(a, {.compute = rows_of_product});

  const auto job = run(std::string(product));

  ASSERT_EQ(job.state, store::JobState::done) << job.reason;
  EXPECT_EQ(network.output(job), rows_of_product({.first = 0, .count = 4}));
  EXPECT_GT(earned(a), 0);
}

TEST_F(ChecksTest, AMatrixThatIsNotTheProductIsRefusedWithoutASecondReplica) {
  auto& liar = network.join(b, {.compute = [](const protocol::LeasedTask& task) {
                              auto bytes = rows_of_product(task);
                              bytes[0] ^= 1;
                              return bytes;
                            }});
  network.join(a, {.compute = rows_of_product});

  const auto job = run(std::string(product));

  ASSERT_EQ(job.state, store::JobState::done) << job.reason;
  EXPECT_EQ(network.output(job), rows_of_product({.first = 0, .count = 4}));
  EXPECT_EQ(earned(b), 0);
  ASSERT_FALSE(liar.verdicts.empty());
  EXPECT_THAT(liar.verdicts[0].reason, HasSubstr("not the product"));
}

constexpr std::string_view floats =
    R"({"weft":1,"kind":"wgsl","name":"floats","shader":{"inline":"fn main() {}"},"entry":"main",
       "bindings":[{"binding":0,"role":"output","type":"f32","shape":[4],"split_dim":0}],"dispatch":[4,1,1],"split":{"axis":"x","tasks":2},
       "verify":{"compare":{"absolute":0.1,"relative":0},"replicas":2},"budget":10})";

jobs::Behaviour off_by(float difference) {
  return {.compute = [difference](const protocol::LeasedTask& task) {
    ByteVector bytes;
    for (std::uint32_t i = task.first; i < task.first + task.count; ++i)
      append_le(bytes, std::bit_cast<std::uint32_t>(static_cast<float>(i) + difference));
    return bytes;
  }};
}

TEST_F(ChecksTest, FloatsThatLieWithinTheToleranceAgreeAndBothArePaid) {
  network.join(a, off_by(0));
  network.join(b, off_by(0.05F));

  const auto job = run(std::string(floats));

  ASSERT_EQ(job.state, store::JobState::done) << job.reason;
  EXPECT_GT(earned(a), 0);
  EXPECT_EQ(earned(a), earned(b));
}

TEST_F(ChecksTest, AResultWaitsForItsComparisonAndNothingWaitsForIt) {
  auto& first = network.join(a, off_by(0));
  auto& second = network.join(b, off_by(0.05F));
  network.hold_comparisons = true;
  ASSERT_TRUE(network.submit(client, std::string(floats)).has_value());
  ASSERT_FALSE(network.held_comparisons.empty());
  EXPECT_THAT(first.verdicts, IsEmpty());
  EXPECT_THAT(second.verdicts, IsEmpty());
  ASSERT_TRUE(network.submit(client, jobs::count_manifest(1, 1), {2}).has_value());
  EXPECT_EQ(first.verdicts.size() + second.verdicts.size(), 1U) << "another job goes on";

  while (!network.held_comparisons.empty()) {
    for (const auto& compare : std::exchange(network.held_comparisons, {})) compare();
    network.run();
  }
  EXPECT_EQ(first.verdicts.size() + second.verdicts.size(), 5U);
  EXPECT_TRUE(std::ranges::all_of(first.verdicts, &protocol::Verdict::accepted));
  EXPECT_TRUE(std::ranges::all_of(second.verdicts, &protocol::Verdict::accepted));
}

// Workers are not blamed for the time that the coordinator needs to compare large outputs on a busy
// machine.
TEST_F(ChecksTest, AComparisonMayTakeLongerThanAReceipt) {
  auto& first = network.join(a, off_by(0));
  auto& second = network.join(b, off_by(0.05F));
  network.hold_comparisons = true;
  const auto submitted = network.submit(client, std::string(floats));
  ASSERT_TRUE(submitted.has_value());
  const std::size_t compared = network.held_comparisons.size();
  ASSERT_GT(compared, 0U);
  for (int i = 0; i < 40; ++i) {
    for (auto* worker : {&first, &second}) worker->say(protocol::Beat{});
    network.pass(std::chrono::milliseconds(500));
  }
  EXPECT_EQ(network.held_comparisons.size(), compared) << "nothing was leased again";
  network.hold_comparisons = false;
  for (const auto& compare : std::exchange(network.held_comparisons, {})) compare();

  const auto job = network.finish(JobId::parse(submitted->id).value());

  ASSERT_EQ(job.state, store::JobState::done) << job.reason;
  EXPECT_EQ(network.store().replicas(job.id)->size(), 4U);
  for (auto* worker : {&first, &second}) {
    EXPECT_EQ(worker->verdicts.size(), 2U);
    EXPECT_TRUE(std::ranges::all_of(worker->verdicts, &protocol::Verdict::accepted));
  }
}

TEST_F(ChecksTest, AComparisonThatComesAfterTheJobHasEndedIsAnswered) {
  auto& first = network.join(a, off_by(0));
  auto& second = network.join(b, off_by(0.05F));
  network.hold_comparisons = true;
  const auto submitted = network.submit(client, std::string(floats));
  ASSERT_TRUE(submitted.has_value());
  network.post([&](jobs::Core& core, jobs::Moment now) {
    core.jobs().cancel({.job = JobId::parse(submitted->id).value(), .client = client.public_key()},
                       now, [](const Result<protocol::api::Submitted>&) {});
  });
  network.run();
  for (const auto& compare : std::exchange(network.held_comparisons, {})) compare();
  network.run();
  std::vector<protocol::Verdict> all = first.verdicts;
  all.insert(all.end(), second.verdicts.begin(), second.verdicts.end());
  EXPECT_TRUE(std::ranges::any_of(
      all, [](const auto& verdict) { return verdict.reason == "The job has ended."; }));
  EXPECT_TRUE(std::ranges::none_of(all, &protocol::Verdict::accepted));
}

// A comparison pays only for the bytes that it has read, not for bytes that replaced them later.
TEST_F(ChecksTest, BytesThatTookTheirPlaceMeanwhileAreNotAcceptedWithAnothersComparison) {
  const auto root_of = [&](const jobs::Behaviour& behaviour, const protocol::LeasedTask& task) {
    return proof::task_root(std::array{behaviour.compute(task)});
  };
  network.join(a, off_by(0));
  const auto submitted = network.submit(client, std::string(floats), {1});
  ASSERT_TRUE(submitted.has_value());
  auto& cheat = network.join(b, {.silent = true});
  ASSERT_FALSE(cheat.leases.empty());
  const auto lease = cheat.leases[0];
  const auto task = lease.tasks[0];
  // Finds a result within the tolerance that has a smaller root than the other worker's result,
  // because the bytes of the result with the smaller root become the output.
  jobs::Behaviour good = off_by(0.01F);
  for (float off = 0.02F; root_of(good, task) > root_of(off_by(0), task); off += 0.001F)
    good = off_by(off);
  network.hold_comparisons = true;
  cheat.behaviour = good;
  cheat.deliver(lease, task);
  network.run();
  ASSERT_EQ(network.held_comparisons.size(), 1U);

  // The worker reconnects during the comparison, delivers other bytes, and signs a receipt for the
  // bytes that are being compared.
  auto& again = network.connect(b, {.silent = true});
  again.connect();
  again.say(protocol::Resume{.held = {held_of(lease, task)}});
  network.run();
  again.line->on_binary(jobs::hand_in(off_by(50), b, again.challenge, lease.job, task).frame);
  again.say(jobs::hand_in(good, b, again.challenge, lease.job, task).receipt);
  network.run();
  network.hold_comparisons = false;
  for (const auto& compare : std::exchange(network.held_comparisons, {})) compare();
  network.run();
  network.join(c, off_by(0.02F));

  const auto job = network.finish(lease.job);
  ASSERT_EQ(job.state, store::JobState::done) << job.reason;
  const ByteVector bytes = network.output(job);
  for (std::uint32_t i = 0; i < 4; ++i) {
    float value = 0;
    std::memcpy(&value, bytes.data() + i * sizeof value, sizeof value);
    EXPECT_NEAR(value, static_cast<float>(i), 0.1F) << i;
  }
}

TEST_F(ChecksTest, FloatsOutsideTheToleranceAreOutvoted) {
  network.join(a, off_by(0));
  network.join(c, off_by(7));
  network.join(b, off_by(0.05F));

  const auto job = run(std::string(floats));

  ASSERT_EQ(job.state, store::JobState::done) << job.reason;
  EXPECT_EQ(earned(c), 0);
}

TEST_F(ChecksTest, OutputsThatWerePutAsBlobsAreTaken) {
  network.join(
      a, {.put = [this](ByteSpan bytes) { ASSERT_TRUE(network.blobs().put(bytes).has_value()); }});

  EXPECT_EQ(run(jobs::count_manifest(3, 1)).state, store::JobState::done);
}

TEST_F(ChecksTest, OutputsThatWereNeverPutAreRefused) {
  auto& liar = network.join(b, {.put = [](ByteSpan) {}});
  network.join(a);

  EXPECT_EQ(run(jobs::count_manifest(3, 1)).state, store::JobState::done);

  EXPECT_EQ(earned(b), 0);
  ASSERT_FALSE(liar.verdicts.empty());
  EXPECT_THAT(liar.verdicts[0].reason, HasSubstr("not stored"));
}

// Checks products of several jobs, each with its own matrix B, and then ends the jobs.
TEST(Operands, AreKeptWithinABoundAndForgottenWithTheirJob) {
  TestFolder folder;
  const auto blobs = store::Blobs::open(folder.path(), {}).value();
  const auto kept_after = [&](std::uint64_t most, bool ended) {
    Intake intake(*blobs, {.operand_bytes_max = most});
    for (std::uint8_t i = 0; i < 4; ++i) {
      manifest::Manifest job = manifest::parse(product).value();
      const ByteVector a{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, b{i, 0, 0, 1, 2, 3};
      job.kernel.a = manifest::Blob{blobs->put(a).value()};
      job.kernel.b = manifest::Blob{blobs->put(b).value()};
      // The product is wrong, as an attacker's would be, but the check must load B to find that.
      protocol::ResultFrame frame;
      frame.payload = ByteVector(16, 0);
      const Hash hash = crypto::sha256(frame.payload);
      frame.result.outputs = {{.hash = hash, .bytes = 16, .in_frame = true}};
      frame.result.root = proof::root_of_roots(std::array{proof::output_root(frame.payload)});
      EXPECT_FALSE(intake.take(job, frame).has_value());
      if (ended) intake.forget(job);
    }
    return intake.operand_bytes();
  };
  EXPECT_EQ(kept_after(12, false), 12U) << "two of them";
  EXPECT_EQ(kept_after(1000, true), 0U);
  EXPECT_EQ(kept_after(1000, false), 24U) << "the attack: after wrong results, and kept";
}

}  // namespace
}  // namespace weft::coordinator
