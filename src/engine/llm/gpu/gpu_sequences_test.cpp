// Sequences and their memory on the device: errors name the option that raises a bound, only whole
// pages are shared, and a recurrent state is not shared and cannot go back.
#include "engine/llm/gpu/test_parts.h"

namespace weft::llm {
namespace {

using test::Command;
using test::Parts;

constexpr SequenceId slot_0{0}, slot_1{1};

TEST(GpuSequences, NameTheOptionAtTheirBound) {
  Parts parts({.engine = {.context = 128, .sequences = 2}});
  GpuSequences& sequences = parts.sequences;
  ASSERT_EQ(sequences.open(), slot_0);
  ASSERT_EQ(sequences.open(), slot_1);

  EXPECT_EQ(sequences.open().error().message,
            "All 2 sequences are in use (EngineOptions::sequences).");
  sequences.close(slot_0);
  EXPECT_EQ(sequences.open(), slot_0);
  sequences.at(slot_0).length = 120;
  EXPECT_TRUE(sequences.fits(sequences.at(slot_0), 8));
  EXPECT_EQ(sequences.fits(sequences.at(slot_0), 9).error().message,
            "9 tokens after 120 do not fit into the context of 128 (--context).");
}

TEST(GpuSequences, TakePagesAndWriteTheirTable) {
  // The cache has three pages.
  Parts parts;
  const Config& config = parts.setup.config;
  Parts small({.engine = {.context = 128,
                          .sequences = 2,
                          .cache_bytes = std::uint64_t{3} * 2 * config.layers *
                                         config.attention.kv_rows() * kv_page_positions * 2}});
  GpuSequences& sequences = small.sequences;
  ASSERT_EQ(sequences.open(), slot_0);
  ASSERT_EQ(sequences.open(), slot_1);
  small.instance->forget_commands();

  EXPECT_TRUE(sequences.grow(slot_0, 65));

  EXPECT_EQ(sequences.room(slot_0), 128u);
  ASSERT_EQ(small.instance->count(Command::Kind::write), 1u);
  EXPECT_EQ(small.instance->commands().back().object, small.setup.buffers.places.handle());
  EXPECT_TRUE(sequences.grow(slot_0, 128)) << "which it has";
  EXPECT_EQ(small.instance->count(Command::Kind::write), 1u) << "and the table as well";
  EXPECT_FALSE(sequences.grow(slot_1, 65));
  EXPECT_EQ(sequences.reserve(slot_1, 65).error().message,
            "The cache has 1 of 3 pages left, too few for 65 positions of one sequence: end "
            "another one, or raise EngineOptions::cache_bytes.");
  sequences.at(slot_0).length = sequences.at(slot_0).fed = 64;
  EXPECT_TRUE(sequences.reserve(slot_0, 0));
  EXPECT_TRUE(sequences.reserve(slot_1, 65)) << "with the page that was given back";
}

TEST(GpuSequences, ShareWholePagesOfWhatIsRead) {
  Parts parts({.engine = {.context = 256, .sequences = 3}});
  const SequenceId giver = parts.read(140), taker = parts.sequences.open().value();

  EXPECT_EQ(parts.sequences.share(giver, taker, 130), 128u);

  const GpuSequence& sequence = parts.sequences.at(taker);
  EXPECT_EQ(sequence.tokens, Parts::tokens(128));
  EXPECT_EQ(sequence.length, 128u);
  EXPECT_EQ(sequence.fed, 128u);
  EXPECT_EQ(sequence.hidden_at, std::nullopt) << "whose state the giver does not have";
  EXPECT_EQ(parts.sequences.share(giver, taker, 130), 0u) << "it is not empty any more";
  EXPECT_EQ(parts.sequences.rewind(giver, 100), 64u) << "the second page is read by the other one";
  EXPECT_EQ(parts.sequences.at(giver).tokens, Parts::tokens(64));
}

TEST(GpuSequences, ClearTheRecurrentStateOfTheirSlotAlone) {
  Parts parts({.engine = {.context = 64, .sequences = 2}});
  const gpu::Buffer states = parts.device->create_buffer({.size = 32});
  parts.sequences.set_recurrent_memory({{.buffer = &states, .slot_bytes = 16}});
  const ByteVector ones(32, 1);
  parts.instance->poke(states.handle(), 0, ones);
  ASSERT_EQ(parts.sequences.open(), slot_0);

  const ByteVector bytes = parts.instance->bytes(states);

  EXPECT_EQ(ByteVector(bytes.begin(), bytes.begin() + 16), ByteVector(16, 0));
  EXPECT_EQ(ByteVector(bytes.begin() + 16, bytes.end()), ByteVector(16, 1));
}

TEST(GpuSequences, GoBackToTheStartWithARecurrentState) {
  Parts parts({.model = "tiny-qwen35-short-q4_k_m", .engine = {.context = 64, .sequences = 2}});
  const SequenceId id = parts.read(9), other = parts.sequences.open().value();
  ASSERT_TRUE(parts.sequences.recurrent());

  EXPECT_EQ(parts.sequences.share(id, other, 9), 0u);
  EXPECT_EQ(parts.sequences.rewind(id, 8), 0u);

  EXPECT_EQ(parts.sequences.at(id).length, 0u);
  EXPECT_EQ(parts.sequences.at(id).fed, 0u);
  EXPECT_TRUE(parts.sequences.at(id).tokens.empty());
}

}  // namespace
}  // namespace weft::llm
