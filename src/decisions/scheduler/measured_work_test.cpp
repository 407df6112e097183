// Paces of earlier canaries price a job before it runs. One worker alone moves no price, and memory
// is bounded.
#include "decisions/scheduler/measured_work.h"

#include <gtest/gtest.h>

#include "decisions/scheduler/test_network.h"

namespace weft::scheduler {
namespace {

Hash work_of(std::uint64_t number) {
  Hash work;
  std::memcpy(work.bytes.data(), &number, sizeof number);
  return work;
}
Pace pace_of(std::uint64_t worker, double seconds, bool alone = false, std::uint64_t work = 1,
             UnixMillis time = 0) {
  return {.work = work_of(work),
          .worker = key_of(worker),
          .seconds = seconds,
          .alone = alone,
          .time = time};
}

TEST(MeasuredWork, NeedsThreeEstablishedWorkersOrOneThatPricesAlone) {
  MeasuredWork known;
  (void)known.add(pace_of(1, 1));
  (void)known.add(pace_of(2, 2));
  (void)known.add(pace_of(2, 2));
  EXPECT_EQ(known.pace_of(work_of(1)), std::nullopt) << "one of them twice is one";
  (void)known.add(pace_of(3, 30));
  EXPECT_EQ(known.pace_of(work_of(1)), 2);

  (void)known.add(pace_of(4, 3, true));
  EXPECT_EQ(known.pace_of(work_of(1)), 3);
  EXPECT_EQ(known.pace_of(work_of(2)), std::nullopt);
}

// An established worker that works slowly in every job can move the price only up to the pace that
// another worker showed.
TEST(MeasuredWork, OneWorkerMovesThePriceToNoMoreThanAnotherShowed) {
  MeasuredWork known;
  for (std::uint64_t worker = 1; worker <= 4; ++worker)
    (void)known.add(pace_of(worker, 1 + 0.01 * static_cast<double>(worker)));
  for (int i = 0; i < 100; ++i) (void)known.add(pace_of(5, 1000));
  EXPECT_EQ(known.pace_of(work_of(1)), 1.03);
}

TEST(MeasuredWork, KeepsTheLatestAndForgetsTheWorkOfLongAgo) {
  MeasuredWork known;
  std::size_t forgotten = 0;
  for (std::uint64_t worker = 1; worker <= 8; ++worker)
    forgotten += known.add(pace_of(worker, static_cast<double>(worker))).size();
  EXPECT_EQ(forgotten, 1U);
  EXPECT_EQ(known.pace_of(work_of(1)), 5) << "of 2 to 8";

  for (std::uint64_t work = 2; work <= MeasuredWork::works_max; ++work)
    (void)known.add(pace_of(1, 1, true, work, static_cast<UnixMillis>(work)));
  EXPECT_EQ(known.works(), MeasuredWork::works_max);
  (void)known.add(pace_of(1, 1, true, 1, 1'000'000));  // The oldest work is no longer the oldest.
  EXPECT_EQ(known.add(pace_of(1, 1, true, 1'000'000, 1'000'001)).size(), 1U);
  EXPECT_EQ(known.works(), MeasuredWork::works_max);
  EXPECT_EQ(known.pace_of(work_of(2)), std::nullopt);
  EXPECT_NE(known.pace_of(work_of(1)), std::nullopt);
}

TEST(MeasuredWork, PassesOverWhatIsNoPace) {
  MeasuredWork known;
  for (const double wrong : {0.0, -1.0, std::numeric_limits<double>::infinity(),
                             std::numeric_limits<double>::quiet_NaN()})
    (void)known.add(pace_of(1, wrong, true));
  EXPECT_EQ(known.pace_of(work_of(1)), std::nullopt);
}

}  // namespace
}  // namespace weft::scheduler
