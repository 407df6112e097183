// Final hidden states are copied from the row of a pass to the sequence's place and back.
#include "engine/llm/gpu/last_hidden.h"

#include "engine/llm/gpu/test_parts.h"

namespace weft::llm {
namespace {

TEST(LastHidden, KeepsTheStateOfARowForItsSequence) {
  test::Parts parts({.engine = {.context = 64, .sequences = 3}});
  parts.play_hidden(0, 1);
  parts.play_hidden(1, 2);
  gpu::Encoder encoder = parts.passes.encoder("test");

  parts.last_hidden.keep(encoder, 1, SequenceId{2});
  parts.last_hidden.put(encoder, SequenceId{2}, 4);
  parts.submit(std::move(encoder));

  EXPECT_EQ(parts.hidden_of(parts.last_hidden.states(), 2), 2);
  EXPECT_EQ(parts.hidden_of(parts.setup.buffers.hidden, 4), 2);
}

}  // namespace
}  // namespace weft::llm
