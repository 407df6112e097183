// Tests the roots of the two ends of a line: equal roots are evidence, different ones are a
// dispute, and an end that reports nothing is late.
#include "decisions/inference/frame_roots.h"

#include <gtest/gtest.h>

namespace weft::inference {
namespace {

using namespace std::chrono_literals;

proof::FrameBlock block(std::uint32_t line, std::uint32_t first, std::uint32_t count = 32,
                        std::uint8_t root = 1) {
  proof::FrameBlock out{.chain = 7, .epoch = 2, .line = line, .first = first, .count = count};
  out.root.bytes[0] = root;
  return out;
}

struct Roots {
  Roots() { roots.begin(7, 2, 3); }
  FrameRoots::Told tell(const proof::FrameBlock& what, std::uint32_t member) {
    return roots.add(what, member, time);
  }
  [[nodiscard]] std::optional<std::uint32_t> late() const { return roots.late_line(7, 2, time); }
  FrameRoots roots;
  Instant time{};
};

TEST(FrameRoots, WhatBothEndsSayIsAgreed) {
  Roots one;
  EXPECT_EQ(one.tell(block(1, 0), 1), FrameRoots::Told::kept);
  EXPECT_EQ(one.roots.agreed(7, 2, 1, 0), nullptr) << "the word of one end";
  EXPECT_EQ(one.tell(block(1, 0), 2), FrameRoots::Told::kept);
  ASSERT_NE(one.roots.agreed(7, 2, 1, 0), nullptr);
  EXPECT_EQ(*one.roots.agreed(7, 2, 1, 0), block(1, 0));
  EXPECT_EQ(one.roots.agreed(7, 2, 0, 0), nullptr) << "another line";
  EXPECT_EQ(one.roots.agreed(7, 3, 1, 0), nullptr) << "another epoch";
}

TEST(FrameRoots, WhatTheTwoSayOtherwiseIsADispute) {
  Roots one;
  (void)one.tell(block(1, 0), 1);
  EXPECT_EQ(one.tell(block(1, 0, 32, 9), 2), FrameRoots::Told::differs);
  EXPECT_EQ(one.roots.agreed(7, 2, 1, 0), nullptr);
  (void)one.tell(block(0, 0), 0);
  EXPECT_EQ(one.tell(block(0, 0, 31), 1), FrameRoots::Told::differs) << "of fewer frames";
  (void)one.tell(block(2, 0), 2);
  EXPECT_EQ(one.tell(block(2, 0), 0), FrameRoots::Told::kept) << "the first receives of the last";
}

TEST(FrameRoots, OthersAndWhatIsNotNextSayNothing) {
  Roots one;
  EXPECT_EQ(one.tell(block(1, 0), 0), FrameRoots::Told::unwanted) << "neither end";
  EXPECT_EQ(one.tell(block(1, 32), 1), FrameRoots::Told::unwanted) << "a gap";
  EXPECT_EQ(one.tell(block(1, 0, 0), 1), FrameRoots::Told::unwanted);
  EXPECT_EQ(one.tell(block(1, 0, 33), 1), FrameRoots::Told::unwanted);
  EXPECT_EQ(one.tell(block(3, 0), 0), FrameRoots::Told::unwanted) << "no such line";
  (void)one.tell(block(1, 0), 1);
  EXPECT_EQ(one.tell(block(1, 0, 32, 9), 1), FrameRoots::Told::unwanted) << "a second root";
}

TEST(FrameRoots, OneEndThatSaysNothingIsLate) {
  Roots one;
  (void)one.tell(block(0, 0), 0);
  EXPECT_EQ(one.late(), std::nullopt);
  one.time += FrameRoots::late_after + 1ms;
  EXPECT_EQ(one.late(), 0U);
  (void)one.tell(block(0, 0), 1);
  EXPECT_EQ(one.late(), std::nullopt);
  (void)one.tell(block(2, 0), 0);
  one.time += FrameRoots::late_after + 1ms;
  EXPECT_EQ(one.late(), 2U) << "a sender as well";
}

TEST(FrameRoots, SoMuchIsKeptAtMost) {
  Roots one;
  for (std::uint32_t i = 0; i < FrameRoots::blocks_max + 10; ++i) {
    (void)one.tell(block(1, i * 32), 1);
    (void)one.tell(block(1, i * 32), 2);
  }
  EXPECT_EQ(one.roots.agreed(7, 2, 1, 0), nullptr);
  EXPECT_NE(one.roots.agreed(7, 2, 1, FrameRoots::blocks_max * 32), nullptr);
  for (std::uint32_t epoch = 3; epoch < 3 + FrameRoots::epochs_max; ++epoch)
    one.roots.begin(7, epoch, 3);
  EXPECT_EQ(one.roots.agreed(7, 2, 1, FrameRoots::blocks_max * 32), nullptr);
}

}  // namespace
}  // namespace weft::inference
