// Tests the parts of one rendering: its limits, scopes and output.
#include <gtest/gtest.h>

#include <string>

#include "engine/jinja/meter.h"
#include "engine/jinja/output.h"
#include "engine/jinja/scope.h"

namespace weft::jinja {
namespace {

TEST(Meter, EndsARenderingAfterItsSteps) {
  Heap heap;
  Meter meter({.steps_max = 3}, heap);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(meter.step());
  const auto fourth = meter.step();
  ASSERT_FALSE(fourth);
  EXPECT_EQ(fourth.error().code, ErrorCode::resource_exhausted);
  EXPECT_EQ(fourth.error().message, "it takes more than 3 steps (RenderLimits::steps_max)");
}

TEST(Meter, CountsSixtyFourBytesOfWorkAsAStep) {
  Heap heap;
  Meter meter({.steps_max = 3}, heap);
  EXPECT_TRUE(meter.charge(3 * 64 + 63));
  EXPECT_FALSE(meter.step());
}

TEST(Meter, ChargesBytesBeforeTheyAreMadeAndThoseThatTheHeapHas) {
  Heap heap;
  Meter meter({.memory_bytes_max = 10'000}, heap);
  EXPECT_TRUE(meter.charge(10'000 - heap.bytes()));
  EXPECT_FALSE(meter.charge(10'001 - heap.bytes()));
  heap.charge(9'000);
  EXPECT_FALSE(meter.charge(2'000));
  EXPECT_TRUE(meter.charge(500));
  EXPECT_FALSE(meter.charge(UINT64_MAX)) << "A sum that overflows must not pass.";
}

TEST(Meter, CountsLevelsWhileTheyLive) {
  Heap heap;
  Meter meter({.depth_max = 1}, heap);
  const Meter::Level one(meter);
  EXPECT_TRUE(meter.step());
  {
    const Meter::Level two(meter);
    const auto deep = meter.step();
    ASSERT_FALSE(deep);
    EXPECT_EQ(deep.error().message, "it nests deeper than 1 levels (RenderLimits::depth_max)");
  }
  EXPECT_TRUE(meter.step());
}

TEST(Scope, HidesNamesAroundItAndLeavesThemAsTheyAre) {
  Heap heap;
  Meter meter({}, heap);
  Scopes scopes(heap, meter);
  Scope& outer = **scopes.add(nullptr);
  Scope& inner = **scopes.add(&outer);
  outer.set("a", Value::integer(1));
  outer.set("b", Value::integer(2));
  inner.set("a", Value::integer(3));
  inner.set("a", Value::integer(4));
  ASSERT_NE(find_name(inner, "a"), nullptr);
  EXPECT_EQ(find_name(inner, "a")->as_integer(), 4);
  EXPECT_EQ(find_name(inner, "b")->as_integer(), 2);
  EXPECT_EQ(find_name(outer, "a")->as_integer(), 1);
  EXPECT_EQ(inner.find("b"), nullptr) << "The scope itself has no b.";
  EXPECT_EQ(find_name(inner, "c"), nullptr);
}

TEST(Scope, CountsAsMemory) {
  Heap heap;
  Meter meter({.memory_bytes_max = heap.bytes() + 3 * sizeof(Scope)}, heap);
  Scopes scopes(heap, meter);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(scopes.add(nullptr));
  EXPECT_FALSE(scopes.add(nullptr));
}

TEST(Output, KeepsApartWhatIsWrittenMeanwhile) {
  Output output(100);
  EXPECT_TRUE(output.write("a"));
  {
    Output::Apart apart(output);
    EXPECT_TRUE(output.write("b"));
    {
      Output::Apart within(output);
      EXPECT_TRUE(output.write("c"));
      EXPECT_EQ(within.take(), "c");
    }
    EXPECT_TRUE(output.write("d"));
    EXPECT_EQ(apart.take(), "bd");
  }
  EXPECT_TRUE(output.write("e"));
  EXPECT_EQ(output.take(), "ae");
}

TEST(Output, BoundsEachText) {
  Output output(3);
  EXPECT_TRUE(output.write("abc"));
  EXPECT_FALSE(output.write("d"));
  Output::Apart apart(output);
  EXPECT_TRUE(output.write("abc"));
  const auto longer = output.write("d");
  ASSERT_FALSE(longer);
  EXPECT_EQ(longer.error().message, "it writes more than 3 bytes (RenderLimits::output_bytes_max)");
}

}  // namespace
}  // namespace weft::jinja
