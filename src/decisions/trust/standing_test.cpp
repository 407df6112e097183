// Tests which workers decide, and how closely their results are checked.
#include "decisions/trust/standing.h"

#include <gtest/gtest.h>

#include <array>
#include <limits>

#include "decisions/trust/test_parts.h"

namespace weft::trust {
namespace {

class StandingTest : public testing::Test {
 protected:
  PartTables tables;
  Standing& standing = tables.standing;
};

TEST_F(StandingTest, TheOperatorsWorkersDecideAloneAndEstablishedOnesOnlyWithAnotherOwners) {
  tables.establish(1);
  tables.establish(2);
  tables.establish(3);
  standing.admissions().invite(part_worker(4), Invitation::worker);
  standing.admissions().set_owners([](const PublicKey& worker) {
    return part_worker(worker.bytes[0] == 3 ? 2 : worker.bytes[0]);
  });
  const auto decides = [&](std::uint8_t a, std::uint8_t b) {
    return standing.decides(std::array{part_worker(a), part_worker(b)}, part_now);
  };

  EXPECT_FALSE(decides(8, 9)) << "newcomers";
  EXPECT_FALSE(decides(1, 9));
  EXPECT_FALSE(decides(2, 3)) << "of one owner";
  EXPECT_TRUE(decides(1, 2));
  EXPECT_TRUE(decides(4, 9));
  EXPECT_TRUE(standing.settles(std::array{part_worker(1), part_worker(2)}, part_now));

  standing.set_root_at_hand([] { return true; });

  EXPECT_FALSE(standing.settles(std::array{part_worker(1), part_worker(2)}, part_now))
      << "a root looks first";
  EXPECT_TRUE(standing.settles(std::array{part_worker(4)}, part_now));
}

TEST_F(StandingTest, ASuspensionTakesAnyLevel) {
  standing.admissions().invite(part_worker(1), Invitation::verifier);
  EXPECT_EQ(standing.level(part_worker(1), part_now), Level::root);

  standing.book().convict(part_worker(1), part_now);

  EXPECT_EQ(standing.level(part_worker(1), part_now), Level::newcomer);
  EXPECT_FALSE(standing.is_operators(part_worker(1), part_now));
}

TEST_F(StandingTest, OnlyTheOperatorsWorkerOfAnotherOwnerAndTheSameVendorSpeaksForADevice) {
  standing.admissions().invite(part_worker(1), Invitation::worker);
  standing.admissions().set_vendor(part_worker(1), "amd");
  standing.admissions().set_vendor(part_worker(2), "amd");
  tables.establish(3);
  standing.admissions().set_vendor(part_worker(3), "amd");
  const auto speaks = [&](std::uint8_t who, std::uint8_t suspect) {
    return standing.operator_has_device_of(part_worker(suspect), std::array{part_worker(who)},
                                           part_now);
  };

  EXPECT_TRUE(speaks(1, 2));
  EXPECT_FALSE(speaks(3, 2)) << "established";
  EXPECT_FALSE(speaks(1, 9)) << "of another vendor";
  EXPECT_FALSE(speaks(1, 1));
}

TEST_F(StandingTest, ANewcomersLeasesDoubleAndBeginAgainAfterAFailure) {
  const PublicKey worker = part_worker(1);
  EXPECT_EQ(standing.leases_max(worker, part_now), 1U);
  for (const std::uint32_t leases : {2U, 4U, 4U, 8U}) {
    standing.sample_passed(worker);
    EXPECT_EQ(standing.leases_max(worker, part_now), leases);
  }
  for (int i = 0; i < 200; ++i) standing.sample_passed(worker);
  EXPECT_EQ(standing.leases_max(worker, part_now), 64U);

  standing.sample_failed(worker);

  EXPECT_EQ(standing.leases_max(worker, part_now), 1U);
  tables.establish(1);
  EXPECT_EQ(standing.leases_max(worker, part_now), std::numeric_limits<std::uint32_t>::max());
}

TEST_F(StandingTest, ANewcomersLeasesAreThereAfterARestart) {
  const PublicKey worker = part_worker(1);
  for (int i = 0; i < 5; ++i) standing.sample_passed(worker);
  const auto passed = standing.take_changed_watches();
  ASSERT_EQ(passed, (std::vector<Standing::Watch>{{.worker = worker, .passes = 5}}));

  PartTables after;
  after.standing.restore(passed[0]);

  EXPECT_EQ(after.standing.leases_max(worker, part_now), 8U);
  after.standing.sample_failed(worker);
  EXPECT_EQ(after.standing.take_changed_watches(),
            (std::vector<Standing::Watch>{{.worker = worker}}));
  after.standing.sample_failed(worker);
  EXPECT_TRUE(after.standing.take_changed_watches().empty()) << "there is nothing to forget";
}

TEST_F(StandingTest, NothingIsStoredOfSamplesBeyondWhatANewcomerMayHold) {
  const PublicKey worker = part_worker(1);
  for (int i = 0; i < 64; ++i) standing.sample_passed(worker);
  EXPECT_EQ(standing.take_changed_watches(),
            (std::vector<Standing::Watch>{{.worker = worker, .passes = 64}}));

  standing.sample_passed(worker);

  EXPECT_TRUE(standing.take_changed_watches().empty());
}

TEST_F(StandingTest, AWorkerThatWasWrongIsWatchedForTwiceAsManyResultsEachTime) {
  const PublicKey worker = part_worker(1);
  EXPECT_FALSE(standing.take_whole_check(worker));
  for (const std::uint32_t checks : {32U, 64U, 128U}) {
    standing.watch(worker);
    EXPECT_TRUE(standing.watched(worker));
    EXPECT_EQ(standing.sample_share(worker, part_now), 1);
    for (std::uint32_t i = 0; i < checks; ++i) EXPECT_TRUE(standing.take_whole_check(worker));
    EXPECT_FALSE(standing.watched(worker));
    EXPECT_FALSE(standing.take_whole_check(worker));
  }
}

TEST_F(StandingTest, ChecksToComeAreThereAfterARestart) {
  const PublicKey worker = part_worker(1);
  standing.watch(worker);
  standing.watch(worker);
  ASSERT_TRUE(standing.take_whole_check(worker));

  const auto watches = standing.take_changed_watches();

  ASSERT_EQ(watches,
            (std::vector<Standing::Watch>{{.worker = worker, .checks = 63, .mistakes = 2}}));
  EXPECT_TRUE(standing.take_changed_watches().empty()) << "once";
  PartTables after;
  after.standing.restore(watches[0]);
  EXPECT_TRUE(after.standing.watched(worker));
  for (std::uint32_t i = 0; i < 63; ++i) EXPECT_TRUE(after.standing.take_whole_check(worker));
  EXPECT_FALSE(after.standing.watched(worker));
  EXPECT_EQ(after.standing.take_changed_watches(),
            (std::vector<Standing::Watch>{{.worker = worker, .checks = 0, .mistakes = 2}}));
  after.standing.watch(worker);
  EXPECT_EQ(after.standing.take_changed_watches(),
            (std::vector<Standing::Watch>{{.worker = worker, .checks = 128, .mistakes = 3}}));
}

}  // namespace
}  // namespace weft::trust
