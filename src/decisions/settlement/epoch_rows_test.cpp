#include "decisions/settlement/epoch_rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "common/solana/owner_rows.h"

namespace weft::settlement {
namespace {

PublicKey owner_of(std::uint8_t number) {
  PublicKey out;
  out.bytes[0] = number;
  return out;
}
solana::Earned earned(std::uint8_t number, std::uint32_t index, std::uint64_t amount) {
  return {.owner = owner_of(number), .index = index, .amount = amount, .units = 0, .emission = 0};
}
using Rows = std::vector<solana::Earned>;
std::vector<std::uint64_t> amounts(const EpochRows& rows) {
  std::vector<std::uint64_t> out;
  for (const auto& one : rows.rows) out.push_back(one.amount);
  return out;
}

TEST(EpochRows, GiveAllThatIsSettledIfItIsCharged) {
  const auto rows =
      next_rows({}, std::vector<Settled>{{owner_of(2), 50}, {owner_of(1), 70}}, {.available = 120});
  ASSERT_TRUE(rows.has_value());
  EXPECT_EQ(amounts(*rows), (std::vector<std::uint64_t>{70, 50}));
  EXPECT_EQ(rows->rows[0].index, 0U) << "new owners by their keys";
  EXPECT_EQ(rows->given, 120U);
  EXPECT_EQ(rows->waiting, 0U);
}

TEST(EpochRows, ShareWhatIsChargedIfMoreIsSettled) {
  const auto rows =
      next_rows(Rows{earned(1, 0, 100)},
                std::vector<Settled>{{owner_of(1), 130}, {owner_of(2), 60}}, {.available = 31});
  ASSERT_TRUE(rows.has_value());
  EXPECT_EQ(amounts(*rows), (std::vector<std::uint64_t>{110, 20})) << "a third and two thirds";
  EXPECT_EQ(rows->given, 30U);
  EXPECT_EQ(rows->waiting, 60U);
}

TEST(EpochRows, KeepIndicesAndOwnersThatSettleNothingMore) {
  const auto rows =
      next_rows(Rows{earned(1, 5, 10), earned(3, 2, 10)},
                std::vector<Settled>{{owner_of(1), 10}, {owner_of(2), 4}, {owner_of(3), 11}},
                {.available = 100});
  ASSERT_TRUE(rows.has_value());
  EXPECT_EQ(amounts(*rows), (std::vector<std::uint64_t>{10, 4, 11}));
  EXPECT_EQ(rows->rows[0].index, 5U);
  EXPECT_EQ(rows->rows[1].index, 6U) << "the next after the largest";
  EXPECT_EQ(rows->rows[2].index, 2U);
}

TEST(EpochRows, RefuseALedgerThatIsBehindTheChain) {
  const auto less =
      next_rows(Rows{earned(1, 0, 10)}, std::vector<Settled>{{owner_of(1), 9}}, {.available = 100});
  ASSERT_FALSE(less.has_value());
  EXPECT_EQ(less.error().code, ErrorCode::data_loss);
  EXPECT_EQ(next_rows(Rows{earned(1, 0, 10)}, {}, {.available = 100}).error().code,
            ErrorCode::data_loss);
}

TEST(EpochRows, RefuseWhatComesTwiceAndRowsOfAnotherKind) {
  const std::vector<Settled> twice{{owner_of(1), 9}, {owner_of(1), 9}};
  EXPECT_EQ(next_rows({}, twice, {.available = 100}).error().code, ErrorCode::invalid_argument);
  const std::vector<Settled> once{{owner_of(1), 9}};
  EXPECT_EQ(
      next_rows(Rows{earned(1, 0, 1), earned(1, 1, 1)}, once, {.available = 100}).error().code,
      ErrorCode::invalid_argument);
  const Rows other{{.owner = owner_of(1), .index = 0, .amount = 5, .units = 50, .emission = 6}};
  EXPECT_EQ(next_rows(other, once, {.available = 100}).error().code, ErrorCode::invalid_argument);
}

Settled worked(std::uint8_t number, std::uint64_t amount, std::uint64_t units) {
  return {.owner = owner_of(number), .amount = amount, .units = units};
}

TEST(EpochRows, ShareTheEmissionByUnitsDownToTheLastMicroCredit) {
  const auto first =
      next_rows({}, std::vector{worked(1, 10, 900), worked(2, 10, 5), worked(3, 10, 0)},
                {.available = 30, .emission = 100});
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(first->emitted, 0U) << "work from before an owner had a row has no part";

  const auto second =
      next_rows(first->rows, std::vector{worked(1, 10, 901), worked(2, 10, 7), worked(3, 12, 3)},
                {.available = 2, .emission = 100});
  ASSERT_TRUE(second.has_value());
  EXPECT_EQ(second->emitted, 100U);
  EXPECT_EQ(amounts(*second), (std::vector<std::uint64_t>{10 + 17, 10 + 33, 12 + 50}))
      << "16.67, 33.33 and 50: the largest remainder takes what rounding leaves";
  EXPECT_EQ(second->rows[0].emission, 17U);
  EXPECT_EQ(second->rows[0].units, 901U);
  EXPECT_EQ(emission_difference(first->rows, second->rows), std::nullopt);

  auto shifted = second->rows;
  shifted[0].emission += 1;
  shifted[2].emission -= 1;
  EXPECT_EQ(*emission_difference(first->rows, shifted),
            owner_of(1).text() +
                " is given 18 micro-credits of this epoch's emission of 100, its part by 1 of the "
                "units is 17");
}

TEST(EpochRows, NeverLetUnitsFallAndMakeUpForThoseThatWereTakenBack) {
  const Rows before{{.owner = owner_of(1), .index = 0, .amount = 10, .units = 50, .emission = 4},
                    {.owner = owner_of(2), .index = 1, .amount = 10, .units = 50, .emission = 0}};
  const auto rows = next_rows(before, std::vector{worked(1, 6, 45), worked(2, 10, 51)},
                              {.available = 0, .emission = 8});
  ASSERT_TRUE(rows.has_value()) << rows.error().message;
  EXPECT_EQ(rows->rows[0].units, 50U);
  EXPECT_EQ(amounts(*rows), (std::vector<std::uint64_t>{10, 18}));
}

TEST(EpochRows, EmitNothingWithoutWork) {
  const auto rows = next_rows(Rows{earned(1, 0, 10)}, std::vector{worked(1, 10, 0)},
                              {.available = 0, .emission = 8});
  ASSERT_TRUE(rows.has_value());
  EXPECT_EQ(rows->emitted, 0U);
}

TEST(EpochRows, TheEmissionHalvesAndEndsAtTheCap) {
  EmissionPlan plan{.first = 1000, .halving_epochs = 10, .left = 10'000};
  EXPECT_EQ(emission_of(plan, 9), 1000U);
  EXPECT_EQ(emission_of(plan, 10), 500U);
  EXPECT_EQ(emission_of(plan, 640), 0U);
  plan.left = 70;
  EXPECT_EQ(emission_of(plan, 10), 70U);
}

// Owners settle, clients are charged, and epochs are posted, declared void and made again. No epoch
// gives more than was charged, none takes from an owner, and everything is given in the end.
TEST(EpochRows, GiveEachCreditOnceOverRandomHistories) {
  std::uint64_t ever_emitted = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    std::mt19937_64 random(seed);
    std::vector<Settled> settled;
    Rows posted;
    std::uint64_t charged = 0, spent = 0, emitted = 0;
    const auto sum_of = [](const Rows& rows) {
      return std::accumulate(rows.begin(), rows.end(), std::uint64_t{0},
                             [](std::uint64_t sum, const auto& one) { return sum + one.amount; });
    };
    const auto epoch = [&](bool is_void) {
      const auto next =
          next_rows(posted, settled, {.available = charged - spent, .emission = random() % 1000});
      ASSERT_TRUE(next.has_value()) << next.error().message;
      ASSERT_TRUE(solana::SumTree::create(next->rows).has_value());
      ASSERT_LE(next->given, charged - spent);
      ASSERT_EQ(sum_of(next->rows), sum_of(posted) + next->given + next->emitted);
      ASSERT_EQ(emission_difference(posted, next->rows), std::nullopt);
      for (const auto& before : posted) {
        const auto after = std::ranges::find(next->rows, before.owner, &solana::Earned::owner);
        ASSERT_NE(after, next->rows.end());
        ASSERT_GE(after->amount, before.amount);
        ASSERT_EQ(after->index, before.index);
      }
      ASSERT_EQ(solana::first_provable_loss(posted, next->rows), std::nullopt)
          << "evidence against an honest root";
      if (is_void) return;
      posted = next->rows;
      spent += next->given;
      emitted += next->emitted;
    };
    for (int step = 0; step < 60; ++step) {
      const auto amount = 1 + random() % (random() % 8 == 0 ? std::uint64_t{1} << 50 : 1000);
      switch (random() % 4) {
        case 0:
          charged += amount;
          break;
        case 1:
        case 2: {
          const PublicKey who = owner_of(static_cast<std::uint8_t>(1 + random() % 20));
          const auto known = std::ranges::find(settled, who, &Settled::owner);
          if (known == settled.end())
            settled.push_back({who, amount, 0});
          else
            known->amount += amount, known->units += random() % 100;
          break;
        }
        default:
          epoch(random() % 4 == 0);
      }
    }
    charged = std::uint64_t{1} << 60;
    epoch(false);
    std::uint64_t whole = 0;
    for (const Settled& one : settled) whole += one.amount;
    EXPECT_EQ(sum_of(posted), whole + emitted);
    ever_emitted += emitted;
  }
  EXPECT_GT(ever_emitted, 0U);
}

}  // namespace
}  // namespace weft::settlement
