// The frame logs of a member of a chain: a root over each 32 frames and over the frames that a
// commit ends, frames that open a root, and the bound on memory.
#include "worker/inference/frame_logs.h"

#include <gtest/gtest.h>

#include "common/proof/activations.h"

namespace weft::worker {
namespace {

constexpr FrameLogs::Line line{.chain = 3, .epoch = 1, .line = 1};

ByteVector frame(std::uint32_t sequence, std::uint32_t at, std::size_t width = 4,
                 proof::FrameKind kind = proof::FrameKind::pass) {
  ByteVector out;
  proof::append_activations(
      out, {.kind = static_cast<std::uint8_t>(kind), .sequence = sequence, .at = at},
      std::vector<std::int32_t>{7}, std::vector<float>(width, 0.5F));
  return out;
}
const ByteVector commit = frame(0, 0, 0, proof::FrameKind::commit);
constexpr auto drawn = static_cast<proof::FrameKind>(3);

struct Logs {
  FrameLogs logs{std::uint64_t{1} << 20};
  std::vector<proof::FrameBlock> blocks;
  void add(ByteSpan bytes, const FrameLogs::Line& on = line) {
    logs.add(on, bytes, [&](const proof::FrameBlock& block) { blocks.push_back(block); });
  }
  [[nodiscard]] std::vector<proof::FrameOpening> shown(std::uint32_t sequence,
                                                       const FrameLogs::Line& on = line) const {
    std::vector<proof::FrameOpening> out;
    const auto wanted = [=](std::uint32_t, std::uint32_t of) { return of == sequence; };
    logs.show(on, wanted, [&](const proof::FrameOpening& one) { out.push_back(one); });
    return out;
  }
};

TEST(FrameLogs, ARootIsToldOfEach32FramesAndOfWhatACommitEnds) {
  Logs one;
  for (std::uint32_t i = 0; i < 70; ++i) {
    one.add(frame(i % 2, i));
    one.add(frame(0, i, 4, drawn));  // A frame without hidden states.
  }
  ASSERT_EQ(one.blocks.size(), 2U);
  one.add(commit);
  one.add(commit);

  ASSERT_EQ(one.blocks.size(), 3U) << "no block is empty";
  EXPECT_EQ(one.blocks[1].first, 32U);
  EXPECT_EQ(one.blocks[1].count, 32U);
  EXPECT_EQ(one.blocks[2].first, 64U);
  EXPECT_EQ(one.blocks[2].count, 6U);
  const auto shown = one.shown(1);
  ASSERT_EQ(shown.size(), 35U);
  for (const proof::FrameOpening& opening : shown) {
    EXPECT_EQ(opening.frame, frame(1, opening.number));
    EXPECT_TRUE(proof::opens(opening, one.blocks[opening.number / 32].root)) << opening.number;
  }
}

TEST(FrameLogs, WhatHasNoRootYetIsNotShown) {
  Logs one;
  for (std::uint32_t i = 0; i < 40; ++i) one.add(frame(0, i));
  EXPECT_EQ(one.shown(0).size(), 32U);
}

TEST(FrameLogs, LinesAreApart) {
  constexpr FrameLogs::Line other{.chain = 3, .epoch = 2, .line = 1};
  Logs one;
  one.add(frame(0, 1));
  one.add(frame(0, 2), other);
  one.add(commit);
  one.add(commit, other);
  ASSERT_EQ(one.blocks.size(), 2U);
  EXPECT_EQ(one.blocks[1].epoch, 2U);
  EXPECT_EQ(one.shown(0).size(), 1U);
  EXPECT_NE(one.blocks[0].root, one.blocks[1].root);
}

TEST(FrameLogs, MemoryIsBoundedAndTheOldestGoesFirst) {
  Logs one;
  const std::size_t width = 4096;  // A frame has 16 KiB, so 64 frames fit.
  for (std::uint32_t i = 0; i < 32 * 10; ++i) {
    one.add(frame(0, i, width));
    ASSERT_LE(one.logs.bytes(), (std::uint64_t{1} << 20) + 33 * (width * 4 + 64));
  }
  const auto shown = one.shown(0);
  ASSERT_FALSE(shown.empty());
  EXPECT_LE(shown.size(), 64U);
  EXPECT_EQ(shown.back().number, 319U);
}

TEST(FrameLogs, SoManyLinesAtMost) {
  Logs one;
  for (std::uint32_t epoch = 0; epoch < 2 * FrameLogs::logs_max; ++epoch) {
    const FrameLogs::Line of{.chain = 1, .epoch = epoch, .line = 0};
    one.add(frame(0, 0), of);
    one.add(commit, of);
  }
  EXPECT_LE(one.logs.bytes(), FrameLogs::logs_max * frame(0, 0).size());
  EXPECT_TRUE(one.shown(0, {.chain = 1, .epoch = 0, .line = 0}).empty());
}

}  // namespace
}  // namespace weft::worker
