// Tests that cheating does not pay: at every reputation, for every share of wrong parts, for tasks
// that can be cut finely or not at all, and for up to the assumed number of colluders. Checks stay
// cheap, and no worker can tell which results will be checked.
#include <gtest/gtest.h>

#include <map>

#include "decisions/trust/audit.h"
#include "decisions/trust/replication_policy.h"
#include "decisions/trust/stake.h"

namespace weft::trust {
namespace {

PublicKey key(std::uint8_t number) {
  PublicKey key;
  key.bytes[0] = number;
  return key;
}

class Policies : public testing::TestWithParam<std::uint32_t> {};

TEST_P(Policies, CheatingHasANegativeValueAtEveryReputationForEveryShare) {
  const CheckSettings settings;
  for (int percent = 0; percent <= 100; ++percent) {
    const CheckRates rates = rates_at(percent / 100.0, GetParam(), 0, settings);
    const double stake = stake_per_value(rates, settings.collusion);
    for (std::uint32_t wrong = 1; wrong <= rates.parts; ++wrong) {
      const double share = static_cast<double>(wrong) / rates.parts;
      EXPECT_LT(expected_value(rates, share, stake, settings.collusion), 0)
          << "reputation " << percent << " %, share " << share;
      EXPECT_LT(expected_value(rates, share, stake, 0), 0) << "nor without colluders";
    }
  }
}

TEST_P(Policies, CheatingHasANegativeValueEvenWhereThereAreNoTraps) {
  const CheckSettings settings;
  for (int percent = 0; percent <= 100; ++percent) {
    CheckRates rates = rates_at(percent / 100.0, GetParam(), 0, settings);
    const double stake = stake_per_value(rates, settings.collusion);
    rates.trap = 0;
    for (std::uint32_t wrong = 1; wrong <= rates.parts; ++wrong) {
      EXPECT_LT(expected_value(rates, static_cast<double>(wrong) / rates.parts, stake,
                               settings.collusion),
                0)
          << "reputation " << percent << " %";
    }
  }
}

TEST_P(Policies, WithoutAStakeCheatingWouldPay) {
  const CheckSettings settings;
  const CheckRates rates = rates_at(0.99, GetParam(), 0, settings);

  EXPECT_GT(expected_value(rates, 1, 0, settings.collusion), 0)
      << "so it is the stake that does it";
}

TEST_P(Policies, CheckingGetsCheaperWithReputationAndNeverStops) {
  const CheckSettings settings;
  double before = 2;
  for (int percent = 0; percent <= 100; ++percent) {
    const CheckRates rates = rates_at(percent / 100.0, GetParam(), 0, settings);
    EXPECT_LT(rates.replica, before);
    before = rates.replica;
    EXPECT_GE(rates.replica, settings.replica_floor);
    EXPECT_GT(rates.audit, 0);
    EXPECT_GE(detection(rates, 1, settings.collusion),
              detection(rates_at(1, GetParam(), 0, settings), 1, settings.collusion));
  }
  EXPECT_LE(extra_work(rates_at(0.95, GetParam(), 0, settings)), 0.05);
}
INSTANTIATE_TEST_SUITE_P(Parts, Policies, testing::Values(1U, 2U, 4U, 8U, 32U, 1000U));

TEST(Policy, AJobMayAskForMoreAuditsButNotForFewer) {
  EXPECT_DOUBLE_EQ(rates_at(0.9, 8, 0.5, {}).audit, 0.5);
  EXPECT_DOUBLE_EQ(rates_at(0.9, 8, 0.01, {}).audit, 0.16);
}

TEST(Policy, AJuryOfElevenIsRightWithoutCountingOnReputation) {
  EXPECT_EQ(jury_lead(1e-4, 0.3), 11U);
  EXPECT_EQ(jury_lead(1e-2, 0.3), 6U);
}

TEST(Stakes, AreRoundedUpAndNothingForNothing) {
  const CheckRates rates = rates_at(0.9, 8, 0, {});
  EXPECT_EQ(stake_for(0, rates, 0.3), 0);
  EXPECT_GE(static_cast<double>(stake_for(1000, rates, 0.3)), 1000 * stake_per_value(rates, 0.3));
}

TEST(Stakes, AreLockedOnceForEachTaskAndNeverBeyondWhatIsHeld) {
  StakesAtRisk stakes;
  const TaskId first{.job = {}, .index = 1};
  const TaskId second{.job = {}, .index = 2};

  EXPECT_TRUE(stakes.lock(key(1), first, 60, 100));
  EXPECT_TRUE(stakes.lock(key(1), first, 60, 100)) << "the same once more locks nothing";
  EXPECT_FALSE(stakes.lock(key(1), second, 41, 100));
  EXPECT_TRUE(stakes.lock(key(1), second, 40, 100));
  EXPECT_EQ(stakes.locked(key(1)), 100);
  EXPECT_EQ(stakes.unlock(key(1), first), 60);
  EXPECT_EQ(stakes.unlock(key(1), first), 0);
  EXPECT_EQ(stakes.locked(key(1)), 40);
  EXPECT_EQ(stakes.locked(key(2)), 0);
}

TEST(Audit, PartsCoverTheTaskOnce) {
  for (const std::uint32_t count : {1U, 7U, 8U, 23U}) {
    for (std::uint32_t parts = 1; parts <= count; ++parts) {
      std::uint32_t next = 100;
      for (std::uint32_t number = 0; number < parts; ++number) {
        const Part part = part_of({.first = 100, .count = count}, parts, number);
        EXPECT_EQ(part.first, next);
        EXPECT_GT(part.count, 0U);
        next += part.count;
      }
      EXPECT_EQ(next, 100 + count);
    }
  }
}

TEST(Audit, EveryPartIsDrawnAboutAsOften) {
  std::map<std::uint32_t, int> drawn;
  for (std::uint32_t task = 0; task < 8000; ++task) {
    ++drawn[audited_part({.first = 0, .count = 16}, 8, Secret{}, {.job = {}, .index = task}, key(1))
                .first];
  }
  ASSERT_EQ(drawn.size(), 8U);
  for (const auto& [first, times] : drawn)
    EXPECT_NEAR(times, 1000, 160) << "five standard deviations";
}

TEST(Draw, DependsOnTheSecretAndTheSubjectAndNothingElse) {
  Secret secret;
  secret.bytes[31] = 1;
  const TaskId task{.job = {}, .index = 5};

  EXPECT_EQ(draw(secret, Purpose::audit, task, key(1)), draw(secret, Purpose::audit, task, key(1)));
  EXPECT_NE(draw(secret, Purpose::audit, task, key(1)),
            draw(Secret{}, Purpose::audit, task, key(1)));
  EXPECT_NE(draw(secret, Purpose::audit, task, key(1)),
            draw(secret, Purpose::replica, task, key(1)));
  EXPECT_NE(draw(secret, Purpose::audit, task, key(1)), draw(secret, Purpose::audit, task, key(2)));
}

TEST(Draw, IsUniform) {
  int below = 0;
  for (std::uint32_t task = 0; task < 10'000; ++task)
    below += draw(Secret{}, Purpose::audit, {.job = {}, .index = task}, key(3)) < 0.16 ? 1 : 0;
  EXPECT_NEAR(below, 1600, 185) << "five standard deviations";
}

}  // namespace
}  // namespace weft::trust
