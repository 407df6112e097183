// Logits and hidden states on the CPU: a pass has as many rows as get logits, and no token goes
// through the layers twice.
#include "engine/llm/gpu/output_reader.h"

#include "engine/llm/gpu/test_parts.h"

namespace weft::llm {
namespace {

using test::Parts;

TEST(OutputReader, ReadsLogitsAlongInPassesOfAsManyRowsAsDraws) {
  Parts parts({.engine = {.context = 64, .sequences = 4}});
  const SequenceId id = parts.read(5);
  const std::uint64_t before = parts.passes.counters().submits;

  const auto logits = parts.run(parts.outputs.logits_along(id, Parts::tokens(9)));

  EXPECT_EQ(logits.value().size(), std::size_t{9} * parts.setup.config.vocabulary);
  EXPECT_EQ(parts.sequences.at(id).length, 14u);
  EXPECT_EQ(parts.sequences.at(id).fed, 14u);
  // The nine rows take three passes, each of which has the same number of submits.
  EXPECT_EQ((parts.passes.counters().submits - before) % 3, 0u);
}

TEST(OutputReader, TakesLogitsFromTheStateThatIsKept) {
  Parts parts({.engine = {.context = 64, .sequences = 1}});
  const SequenceId id = parts.read(5);
  const std::uint64_t before = parts.passes.counters().submits;

  EXPECT_EQ(parts.run(parts.outputs.logits(id)).value().size(), parts.setup.config.vocabulary);
  EXPECT_EQ(parts.run(parts.outputs.last_hidden(id)).value().size(), parts.setup.config.embedding);

  EXPECT_EQ(parts.passes.counters().submits - before, 2u)
      << "one for each, and none for the layers";
}

TEST(OutputReader, HasNothingBeforeTheFirstToken) {
  Parts parts({.engine = {.context = 64, .sequences = 1}});
  const SequenceId id = parts.sequences.open().value();

  EXPECT_EQ(parts.run(parts.outputs.logits(id)).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(parts.run(parts.outputs.last_hidden(id)).error().code, ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace weft::llm
