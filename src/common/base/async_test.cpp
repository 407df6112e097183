// Async: awaiting a value that comes later, errors as values, and a stack that does not grow over
// many awaits.
#include "common/base/async.h"

#include <gtest/gtest.h>

#include <optional>
#include <utility>

#include "common/base/result.h"

namespace weft {
namespace {

Async<int> twice(Pending<int> later) { co_return 2 * co_await later; }
Async<Result<int>> sum(Pending<int> a, Pending<int> b) {
  const int left = co_await twice(a);
  const int right = co_await twice(b);
  if (right < 0) co_return fail(ErrorCode::invalid_argument, "{} is negative.", right);
  co_return left + right;
}

TEST(Async, ResumesItsOwnerWhenALaterValueArrives) {
  Pending<int> a;
  Pending<int> b;
  std::optional<Result<int>> result;
  start<Result<int>>(sum(a, b), [&](Result<int> value) { result = std::move(value); });

  b.set(20);
  EXPECT_FALSE(result.has_value());
  a.set(1);

  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(result->value(), 42);
}

TEST(Async, CarriesErrorsAsValues) {
  Pending<int> a;
  Pending<int> b;
  std::optional<Result<int>> result;
  start<Result<int>>(sum(a, b), [&](Result<int> value) { result = std::move(value); });

  a.set(1);
  b.set(-3);

  EXPECT_EQ(result->error().message, "-6 is negative.");
}

Async<long> count_down(long n) {
  if (n == 0) co_return 0;
  co_return 1 + co_await count_down(n - 1);
}
Async<void> many_steps(long* total) {
  for (int i = 0; i < 1000; ++i) *total += co_await count_down(100);
}

TEST(Async, DoesNotGrowTheStackOverManyAwaits) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP()
      << "GCC makes no tail calls under these sanitizers, and a symmetric transfer is one.";
#endif
  long total = 0;
  start(many_steps(&total));
  EXPECT_EQ(total, 100'000);
}

}  // namespace
}  // namespace weft
