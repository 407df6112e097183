// Passes of rows: a pass of few rows is submitted in pieces, and a software GPU compiles the
// kernels of a pass before the pass, and no other kernels.
#include "engine/llm/gpu/row_passes.h"

#include "engine/llm/gpu/test_parts.h"

namespace weft::llm {
namespace {

using test::Command;
using test::Parts;

TEST(RowPasses, HandsFewRowsToTheDeviceInPieces) {
  Parts parts({.engine = {.context = 64, .sequences = 2}});
  const SequenceId id = parts.sequences.open().value();

  parts.passes.place_run(id, 0, 17);
  parts.submit(parts.passes.begin_layers(RowPasses::run_of(17, 17), true, "many"));
  const std::uint64_t many = parts.passes.counters().submits;
  parts.passes.place_run(id, 17, 16);
  parts.submit(parts.passes.begin_layers(RowPasses::run_of(16, 33), true, "few"));

  EXPECT_EQ(many, 1u);
  EXPECT_GT(parts.passes.counters().submits - many, 1u);
  EXPECT_EQ(parts.instance->count(Command::Kind::submit), parts.passes.counters().submits);
  EXPECT_EQ(parts.instance->count(Command::Kind::dispatch), parts.passes.counters().dispatches);
}

TEST(RowPasses, RecordsEveryDispatchOnceInPieces) {
  Parts parts({.engine = {.context = 64, .sequences = 2}});
  const RowCount rows = RowPasses::run_of(3, 3);
  parts.submit(parts.passes.begin_layers(rows, true, "whole"));
  const std::uint64_t whole = parts.passes.counters().dispatches;

  std::size_t next = 0;
  gpu::Encoder encoder = parts.passes.encoder("pieces");
  int pieces = 1;
  while (!parts.passes.record_layers(encoder, rows, true, next, 5)) ++pieces;
  parts.submit(std::move(encoder));

  EXPECT_GT(pieces, 2);
  EXPECT_EQ(parts.passes.counters().dispatches, 2 * whole);
}

TEST(RowPasses, CompilesBeforeAPassWhatItNeedsOnASoftwareGpu) {
  Parts parts({.engine = {.context = 256, .sequences = 2}, .software = true});
  const auto compiled = [&] { return parts.instance->count(Command::Kind::create_pipeline); };
  ASSERT_TRUE(parts.passes.compiles_later());
  ASSERT_FALSE(parts.passes.program().is_whole());

  ASSERT_TRUE(parts.run(parts.passes.prepare_run(0, 3, true)));
  const std::size_t prepared = compiled();
  parts.submit(parts.passes.begin_layers(RowPasses::run_of(3, 3), true, "run"));

  EXPECT_GT(prepared, 0u);
  EXPECT_EQ(compiled(), prepared);
  ASSERT_TRUE(parts.run(parts.passes.prepare_run(3, 6, true)));
  EXPECT_EQ(compiled(), prepared) << "the same kernels";
  ASSERT_TRUE(parts.run(parts.passes.prepare_head(1)));
  EXPECT_GT(compiled(), prepared);
}

TEST(RowPasses, SaysThatTheDeviceIsLost) {
  Parts parts;
  ASSERT_TRUE(parts.passes.check_device());

  parts.instance->lose("pulled out");

  EXPECT_EQ(parts.passes.check_device().error().code, ErrorCode::device_lost);
}

}  // namespace
}  // namespace weft::llm
