// Tests of a play's results and their judgement: accomplices agree, a result is wrong where its
// deed says, and a reversed order is found. Tests with real processes are in
// tests/e2e/attacks.test.mjs.
#include <gtest/gtest.h>

#include <algorithm>

#include "apps/bench/attacks/answers.h"
#include "apps/bench/attacks/cast.h"
#include "apps/bench/attacks/order.h"

namespace weft::coordinator::bench {
namespace {

constexpr std::uint32_t slices = 64;

Asked task_of(std::uint8_t job, std::uint32_t index) {
  Asked out{.task = {}, .slices = slices, .first = index * slices, .count = slices};
  out.task.job.bytes[0] = job;
  out.task.index = index;
  return out;
}
std::size_t differing(const ByteVector& left, const ByteVector& right, std::size_t unit) {
  EXPECT_EQ(left.size(), right.size());
  std::size_t out = 0;
  for (std::size_t at = 0; at < left.size(); at += unit)
    out += std::equal(left.begin() + at, left.begin() + at + unit, right.begin() + at) ? 0 : 1;
  return out;
}

TEST(Answers, AreWrongInAsManySlicesAsTheDeedSays) {
  for (std::uint8_t job = 1; job < 20; ++job) {
    for (const std::uint32_t wrong : {1U, 16U, 63U, 64U}) {
      const Asked task = task_of(job, job * 3U);
      EXPECT_EQ(differing(answer_of(task, {.wrong = wrong}), right_answer(task), 16), wrong);
    }
    EXPECT_EQ(differing(answer_of(task_of(job, 1), {.wrong = 1, .one_value = true}),
                        right_answer(task_of(job, 1)), 4),
              1U);
    EXPECT_EQ(answer_of(task_of(job, 1), {}), right_answer(task_of(job, 1)));
  }
}

TEST(Answers, OfAPartAreThePartOfTheAnswer) {
  const Asked whole = task_of(7, 5);
  const ByteVector all = answer_of(whole, {.wrong = 20});
  for (std::uint32_t part = 0; part < 32; ++part) {
    Asked asked = whole;
    asked.first += part * 2;
    asked.count = 2;
    const ByteVector bytes = answer_of(asked, {.wrong = 20});
    ASSERT_EQ(bytes.size(), 32U);
    EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), all.begin() + part * 32));
  }
}

TEST(Answers, DifferByVendorInEveryValue) {
  const Asked task = task_of(3, 2);
  EXPECT_EQ(differing(right_answer(task, 1), right_answer(task), 4), slices * 4);
  EXPECT_NE(right_answer(task, 1), right_answer(task, 2));
}

TEST(Cast, HasAsManyOfEachKindAsTheSceneSays) {
  const trust::attacks::Scene scene{.clients = 10, .workers = 40, .newcomers = 3, .invited = 2};
  const trust::attacks::Plan among{.share = 0.3, .start = 0.9, .own_jobs = 0.5};
  const auto cast = cast_of(scene, &among, 100);
  ASSERT_TRUE(cast.has_value());
  const auto count = [&](auto which) { return std::ranges::count_if(cast->workers, which); };
  EXPECT_EQ(count([](const Player& each) { return each.attacker; }), 12);
  EXPECT_EQ(count([](const Player& each) { return each.invited; }), 2);
  EXPECT_EQ(count([](const Player& each) { return !each.attacker && each.reputation > 0.9; }), 28);
  EXPECT_EQ(cast->workers.size(), 45U);
  EXPECT_EQ(cast->workers.back().stake, 100'000);
  EXPECT_EQ(cast->clients.size(), 10U);
  EXPECT_FALSE(cast->own_clients.empty());

  trust::attacks::Plan fresh;
  fresh.wallets = 7;
  fresh.start = 0;
  EXPECT_EQ(cast_of(scene, &fresh, 100)->workers.size(), 52U);
}

TEST(Order, OfMeansThatTheRunsKeepApartMustBeTheSame) {
  std::vector<Measured> all = {{"much", 9, {20, 21, 22}}, {"little", 3, {4, 5, 6}}};
  EXPECT_EQ(order_of(all).pairs, 1U);
  EXPECT_TRUE(order_of(all).agrees());

  all[0].real = 3;
  EXPECT_FALSE(order_of(all).agrees()) << "equal is another order";
  EXPECT_EQ(order_of(all).broken, std::vector<std::string>{"much, little"});

  all[0].simulated = {2, 20, 41};
  EXPECT_EQ(order_of(all).pairs, 0U) << "its own runs differ as much";
}

TEST(Order, PlacesOfEqualValuesAreTheSame) {
  EXPECT_EQ(places_of(std::vector<double>{0, 5, 0, 7}), (std::vector<std::uint32_t>{3, 2, 3, 1}));
}

}  // namespace
}  // namespace weft::coordinator::bench
