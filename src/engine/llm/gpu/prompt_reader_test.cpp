// Prompts are read in as few passes as possible; a prompt that does not fit changes nothing.
#include "engine/llm/gpu/prompt_reader.h"

#include "engine/llm/gpu/test_parts.h"

namespace weft::llm {
namespace {

using test::Command;
using test::Parts;

TEST(PromptReader, ReadsAPromptInAsFewPassesAsThereAreRowsFor) {
  Parts parts({.engine = {.context = 256, .sequences = 2}, .software = true});
  ASSERT_EQ(parts.setup.buffers.shape.rows, 64u);

  const SequenceId id = parts.read(150);

  std::vector<std::uint64_t> written;
  for (const Command& command : parts.instance->commands())
    if (command.kind == Command::Kind::write &&
        command.object == parts.setup.buffers.tokens.handle())
      written.push_back(command.size);
  EXPECT_EQ(written, std::vector<std::uint64_t>({64 * 4, 64 * 4, 22 * 4}));
  EXPECT_EQ(parts.sequences.at(id).fed, 150u);
  EXPECT_EQ(parts.sequences.at(id).hidden_at, 150u);
}

TEST(PromptReader, ChangesNothingWhereTokensCannotBeRead) {
  Parts parts({.engine = {.context = 64, .sequences = 1}});
  const SequenceId id = parts.read(60);
  parts.instance->forget_commands();

  EXPECT_EQ(parts.run(parts.prompts.append(id, Parts::tokens(5))).error().message,
            "5 tokens after 60 do not fit into the context of 64 (--context).");
  EXPECT_EQ(parts.run(parts.prompts.append(id, {-1})).error().message,
            "The token -1 is not one of the model's 3072 tokens.");

  EXPECT_EQ(parts.sequences.at(id).length, 60u);
  EXPECT_TRUE(parts.instance->commands().empty());
}

TEST(PromptReader, ReadsTheLastPositionAgainWhereItsStateIsNotKept) {
  Parts parts({.engine = {.context = 64, .sequences = 1}});
  const SequenceId id = parts.read(9);
  GpuSequence& sequence = parts.sequences.at(id);

  parts.prompts.ensure_hidden(id);
  const std::uint64_t kept = parts.passes.counters().dispatches;
  sequence.hidden_at.reset();
  ASSERT_TRUE(parts.run(parts.prompts.prepare_hidden(id)));
  EXPECT_EQ(sequence.fed, 9u) << "preparing changes nothing";
  parts.prompts.ensure_hidden(id);

  EXPECT_EQ(sequence.fed, 9u);
  EXPECT_EQ(sequence.hidden_at, 9u);
  EXPECT_GT(parts.passes.counters().dispatches, kept);
  const std::uint64_t again = parts.passes.counters().dispatches;
  parts.prompts.ensure_hidden(id);
  EXPECT_EQ(parts.passes.counters().dispatches, again) << "once";
}

}  // namespace
}  // namespace weft::llm
