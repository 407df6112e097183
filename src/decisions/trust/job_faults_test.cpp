// Tests that the record of a job's wrong results outlives the process, byte for byte, and that
// bytes of another layout are refused.
#include "decisions/trust/job_faults.h"

#include <gtest/gtest.h>

#include "decisions/trust/test_parts.h"

namespace weft::trust {
namespace {

Mismatch some_mismatch(std::uint32_t index) {
  Mismatch made{.worker = part_worker(1), .penalty = 500, .task = part_task(index)};
  made.root = part_root(6);
  made.finding = {.devices = Devices::two, .vendor = "mesa", .part = Part{.first = 3, .count = 2}};
  made.seen_twice = true;
  made.agreed = -3;
  made.asked = {part_worker(4), part_worker(5)};
  return made;
}

StoredFaults some_faults() {
  StoredFaults made;
  made.faults.parts_polled = 7;
  made.faults.polling = true;
  VendorTally& tally = made.faults.vendors["amd"];
  tally.right = {part_worker(2), part_worker(3)};
  tally.wrong = {part_worker(1)};
  tally.open.push_back(some_mismatch(4));
  tally.open.back().polled = true;
  tally.open.back().waiting = 11;
  tally.open.push_back(some_mismatch(5));
  tally.open.back().counted = true;
  tally.open.back().finding.part.reset();
  made.faults.vendors["none"].divided = true;
  made.undecided.emplace_back("amd", some_mismatch(6));
  made.undecided.back().second.finding.refuted = Refuted::steps;
  return made;
}

void expect_same(const Mismatch& read, const Mismatch& written) {
  EXPECT_EQ(read.worker, written.worker);
  EXPECT_EQ(read.penalty, written.penalty);
  EXPECT_EQ(read.task, written.task);
  EXPECT_EQ(read.root, written.root);
  EXPECT_EQ(read.finding.devices, written.finding.devices);
  EXPECT_EQ(read.finding.vendor, written.finding.vendor);
  EXPECT_EQ(read.finding.part, written.finding.part);
  EXPECT_EQ(read.finding.refuted, written.finding.refuted);
  EXPECT_EQ(read.counted, written.counted);
  EXPECT_EQ(read.seen_twice, written.seen_twice);
  EXPECT_EQ(read.agreed, written.agreed);
  EXPECT_EQ(read.asked, written.asked);
}

TEST(JobFaults, AreReadAsTheyWereWrittenButForPollsThatAreUnderWay) {
  const StoredFaults written = some_faults();

  const auto read = read_faults(part_task(0).job, to_bytes(written));

  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_EQ(read->faults.parts_polled, 7U);
  EXPECT_FALSE(read->faults.polling);
  ASSERT_EQ(read->faults.vendors.size(), 2U);
  const VendorTally& tally = read->faults.vendors.at("amd");
  EXPECT_EQ(tally.right, written.faults.vendors.at("amd").right);
  EXPECT_EQ(tally.wrong, written.faults.vendors.at("amd").wrong);
  EXPECT_FALSE(tally.divided);
  EXPECT_TRUE(read->faults.vendors.at("none").divided);
  ASSERT_EQ(tally.open.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i)
    expect_same(tally.open[i], written.faults.vendors.at("amd").open[i]);
  EXPECT_EQ(tally.open[0].waiting, 0U);
  EXPECT_FALSE(tally.open[0].polled);
  EXPECT_TRUE(tally.open[1].polled) << "it was shown";
  ASSERT_EQ(read->undecided.size(), 1U);
  EXPECT_EQ(read->undecided[0].first, "amd");
  expect_same(read->undecided[0].second, written.undecided[0].second);
}

TEST(JobFaults, BytesThatAreSomethingElseAreRefused) {
  const ByteVector whole = to_bytes(some_faults());
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_FALSE(read_faults(part_task(0).job, ByteSpan(whole).first(size)).has_value()) << size;
  ByteVector longer = whole;
  longer.push_back(0);
  const auto refused = read_faults(part_task(0).job, longer);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::data_loss);
  ByteVector newer = whole;
  ++newer.front();
  EXPECT_FALSE(read_faults(part_task(0).job, newer).has_value());
}

TEST(JobFaults, AJobWithoutAWrongResultHasNothingToKeep) {
  StoredFaults none;
  EXPECT_TRUE(none.empty());
  none.faults.vendors["amd"].right = {part_worker(2)};
  EXPECT_TRUE(none.empty());
  none.faults.vendors["amd"].wrong = {part_worker(1)};
  EXPECT_FALSE(none.empty());
  EXPECT_FALSE(some_faults().empty());
}

}  // namespace
}  // namespace weft::trust
