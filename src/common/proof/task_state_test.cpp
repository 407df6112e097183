// A state is read as it was written, and bytes that are not exactly one are refused: strangers send
// them.
#include "common/proof/task_state.h"

#include <gtest/gtest.h>

#include <array>
#include <string_view>

namespace weft::proof {
namespace {

StatedTask some_task() {
  StatedTask task{.id = {.job = {}, .index = 3},
                  .manifest = {},
                  .first = 5,
                  .count = 2,
                  .unit = StatedTask::Unit::steps,
                  .of = 9};
  task.id.job.bytes.fill(0x11);
  task.manifest.bytes.fill(0x22);
  return task;
}
const std::array<ByteVector, 3> outputs{ByteVector{1, 2, 3}, ByteVector{}, ByteVector{4}};

TEST(TaskState, IsReadAsItWasWritten) {
  const ByteVector blob = encode_state(some_task(), 4, outputs);

  const auto state = decode_state(blob);

  ASSERT_TRUE(state.has_value()) << state.error().message;
  EXPECT_EQ(state->task, some_task());
  EXPECT_EQ(state->done, 4U);
  ASSERT_EQ(state->outputs.size(), outputs.size());
  for (std::size_t i = 0; i < outputs.size(); ++i)
    EXPECT_EQ(ByteVector(state->outputs[i].begin(), state->outputs[i].end()), outputs[i]);
}

// Workers of other versions continue from these bytes, so they must not change.
TEST(TaskState, HasTheSameBytesAsEver) {
  const ByteVector blob = encode_state(some_task(), 4, outputs);

  ByteVector expected;
  append(expected, as_bytes(std::string_view("weftckp1")));
  expected.insert(expected.end(), 16, 0x11);
  append_le(expected, std::uint32_t{3});
  expected.insert(expected.end(), 32, 0x22);
  for (const std::uint32_t number : {5, 2, 1, 4, 9, 3}) append_le(expected, number);
  for (const ByteVector& output : outputs) {
    append_le(expected, std::uint64_t{output.size()});
    append(expected, output);
  }
  EXPECT_EQ(blob, expected);
}

TEST(TaskState, IsNotReadOfBytesThatAreNotExactlyOne) {
  const ByteVector good = encode_state(some_task(), 4, outputs);

  for (std::size_t size = 0; size < good.size(); ++size) {
    const auto state = decode_state(ByteSpan(good).first(size));
    ASSERT_FALSE(state.has_value()) << size;
    EXPECT_EQ(state.error().code, ErrorCode::data_loss);
  }
  ByteVector longer = good;
  longer.push_back(0);
  EXPECT_FALSE(decode_state(longer).has_value());
  ByteVector foreign = good;
  foreign.front() ^= 1;
  EXPECT_FALSE(decode_state(foreign).has_value());
}

TEST(TaskState, OfNoPartOrOfAllOfThemIsNone) {
  EXPECT_FALSE(decode_state(encode_state(some_task(), 0, outputs)).has_value());
  EXPECT_FALSE(decode_state(encode_state(some_task(), 9, outputs)).has_value());
  StatedTask odd = some_task();
  odd.unit = static_cast<StatedTask::Unit>(2);
  EXPECT_FALSE(decode_state(encode_state(odd, 4, outputs)).has_value());
}

// No memory is allocated for a list or an output that the blob does not hold.
TEST(TaskState, ThatClaimsMoreThanItHoldsIsRefused) {
  constexpr std::size_t count_at = state_head_bytes + 32 + 5 * 4;
  ByteVector many = encode_state(some_task(), 4, outputs);
  for (std::size_t i = 0; i < 4; ++i) many[count_at + i] = 0xff;
  EXPECT_FALSE(decode_state(many).has_value());
  ByteVector large = encode_state(some_task(), 4, outputs);
  for (std::size_t i = 0; i < 8; ++i) large[count_at + 4 + i] = 0xff;
  EXPECT_FALSE(decode_state(large).has_value());
}

TEST(TaskState, NamesItsTaskInItsFirstBytes) {
  const ByteVector blob = encode_state(some_task(), 4, outputs);

  EXPECT_EQ(stated_task(ByteSpan(blob).first(state_head_bytes)), some_task().id);
  EXPECT_EQ(stated_task(ByteSpan(blob).first(state_head_bytes - 1)), std::nullopt);
  EXPECT_EQ(stated_task(ByteVector(100)), std::nullopt);
}

}  // namespace
}  // namespace weft::proof
