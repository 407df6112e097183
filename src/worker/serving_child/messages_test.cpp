// Payloads from a child that runs strangers' models are complete and bounded, or refused.
#include "worker/serving_child/messages.h"

#include <gtest/gtest.h>

#include <random>

namespace weft::worker {
namespace {

TEST(ServingMessages, ComeBackAsTheyWere) {
  const PeerLines::Chain chain{.chain = 7,
                               .epoch = 3,
                               .index = 1,
                               .others = {{.member = 0, .line = "tcp://a", .token = "t"},
                                          {.member = 2, .line = "", .token = "u"}}};
  const auto back = unpack_chain(pack(chain)).value();
  EXPECT_EQ(back.chain, 7U);
  EXPECT_EQ(back.epoch, 3U);
  EXPECT_EQ(back.index, 1U);
  ASSERT_EQ(back.others.size(), 2U);
  EXPECT_EQ(back.others[1].member, 2U);
  EXPECT_EQ(back.others[0].line, "tcp://a");
  EXPECT_EQ(back.others[1].token, "u");

  const auto good = unpack_reply(pack(Reply{.ask = 9, .result = ByteVector{1, 2}})).value();
  EXPECT_EQ(good.ask, 9U);
  EXPECT_EQ(good.result.value(), (ByteVector{1, 2}));
  const auto bad =
      unpack_reply(pack(Reply{.ask = 1, .result = fail(ErrorCode::data_loss, "No.")})).value();
  EXPECT_EQ(bad.result.error().code, ErrorCode::data_loss);
  EXPECT_EQ(bad.result.error().message, "No.");

  const auto setup =
      unpack_setup(
          pack(ServingSetup{
              .memory_bytes = 5, .gb_per_s = 2.5, .lines = {"tcp://x"}, .line_patience_ms = 4}))
          .value();
  EXPECT_EQ(setup.memory_bytes, 5U);
  EXPECT_EQ(setup.gb_per_s, 2.5);
  EXPECT_EQ(setup.lines, std::vector<std::string>{"tcp://x"});
  EXPECT_EQ(setup.line_patience_ms, 4U);
}

ByteVector packed(const ModelFile& file) {
  Packer out;
  pack(out, file);
  return out.take();
}

// A chunk's position on the disk is computed from these sizes, so invalid ones are refused.
TEST(ServingMessages, AModelsFileHasSaneSizes) {
  const ModelFile good{.hash = {}, .bytes = 100'000, .chunk_bytes = 65'536};
  const auto reads = [](const ModelFile& file) {
    const ByteVector bytes = packed(file);
    Unpacker in(bytes);
    return unpack_file(in).has_value();
  };
  EXPECT_TRUE(reads(good));
  for (const ModelFile& bad :
       {ModelFile{.hash = {}, .bytes = 100'000, .chunk_bytes = 0},
        ModelFile{.hash = {}, .bytes = 0, .chunk_bytes = 65'536},
        ModelFile{.hash = {}, .bytes = std::uint64_t{1} << 62, .chunk_bytes = 65'536}})
    EXPECT_FALSE(reads(bad));

  const ByteVector second = Packer().number(1).take(), third = Packer().number(2).take();
  Unpacker in(second), past(third);
  EXPECT_EQ(unpack_chunk(in, good).value(), 1U);
  EXPECT_EQ(unpack_chunk(past, good).error().code, ErrorCode::invalid_argument);
}

TEST(ServingMessages, WhatIsNotWholeIsRefused) {
  const ByteVector chain = pack(PeerLines::Chain{.others = {{.member = 1}}});
  for (std::size_t size = 0; size < chain.size(); ++size)
    EXPECT_FALSE(unpack_chain(ByteSpan(chain).first(size))) << size;
  const ByteVector many = Packer().number(1).number(1).number(0).number(1 << 20).take();
  EXPECT_EQ(unpack_chain(many).error().code, ErrorCode::invalid_argument);
  const ByteVector wide = Packer().number(std::uint64_t{1} << 32).take();
  Unpacker in(wide);
  EXPECT_EQ(unpack_small(in).error().code, ErrorCode::data_loss);

  std::mt19937 random(20261124);
  for (int i = 0; i < 20'000; ++i) {
    ByteVector bytes = i % 2 == 0 ? chain : pack(Reply{.ask = 1, .result = ByteVector(20)});
    for (int change = 0; change < 3; ++change)
      bytes[random() % bytes.size()] = static_cast<std::uint8_t>(random());
    (void)unpack_chain(bytes);
    (void)unpack_reply(bytes);
    (void)unpack_setup(bytes);
    Unpacker file(bytes);
    (void)unpack_file(file);
  }
}

}  // namespace
}  // namespace weft::worker
