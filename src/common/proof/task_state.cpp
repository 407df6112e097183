#include "common/proof/task_state.h"

#include <algorithm>
#include <string_view>

#include "common/base/byte_reader.h"

namespace weft::proof {
namespace {

constexpr std::string_view magic = "weftckp1";
static_assert(state_head_bytes == magic.size() + JobId::size + sizeof(std::uint32_t));

std::unexpected<Error> refused(std::string_view what) {
  return fail(ErrorCode::data_loss, "The checkpoint {}.", what);
}

}  // namespace

ByteVector encode_state(const StatedTask& task, std::uint32_t done,
                        std::span<const ByteVector> outputs) {
  ByteVector out;
  append(out, as_bytes(magic));
  append(out, task.id.job.span());
  append_le(out, task.id.index);
  append(out, task.manifest.span());
  append_le(out, task.first);
  append_le(out, task.count);
  append_le(out, static_cast<std::uint32_t>(task.unit));
  append_le(out, done);
  append_le(out, task.of);
  append_le(out, static_cast<std::uint32_t>(outputs.size()));
  for (const ByteVector& output : outputs) {
    append_le(out, static_cast<std::uint64_t>(output.size()));
    append(out, output);
  }
  return out;
}

std::uint64_t state_bytes(std::span<const std::uint64_t> outputs) {
  constexpr std::size_t numbers = 6;
  std::uint64_t bytes = state_head_bytes + Hash::size + numbers * sizeof(std::uint32_t);
  for (const std::uint64_t output : outputs) bytes += sizeof(std::uint64_t) + output;
  return bytes;
}

std::optional<TaskId> stated_task(ByteSpan head) {
  ByteReader in(head);
  if (!std::ranges::equal(in.take(magic.size()), as_bytes(magic))) return {};
  const auto job = in.fixed<JobId>();
  const TaskId task{.job = job, .index = in.integer<std::uint32_t>()};
  return in.whole() ? std::optional(task) : std::nullopt;
}

Result<TaskState> decode_state(ByteSpan blob) {
  const std::optional<TaskId> id = stated_task(blob);
  if (!id) return refused("does not begin like a checkpoint");
  ByteReader in(blob.subspan(state_head_bytes));
  TaskState state;
  state.task.id = *id;
  state.task.manifest = in.fixed<Hash>();
  state.task.first = in.integer<std::uint32_t>();
  state.task.count = in.integer<std::uint32_t>();
  const auto unit = in.integer<std::uint32_t>();
  if (unit > static_cast<std::uint32_t>(StatedTask::Unit::steps))
    return refused("counts in unknown parts");
  state.task.unit = static_cast<StatedTask::Unit>(unit);
  state.done = in.integer<std::uint32_t>();
  state.task.of = in.integer<std::uint32_t>();
  const std::size_t outputs = in.count(sizeof(std::uint64_t));
  for (std::size_t i = 0; i < outputs; ++i)
    state.outputs.push_back(in.take(in.integer<std::uint64_t>()));
  if (!in.at_end()) return refused("is not whole");
  if (state.done == 0 || state.done >= state.task.of) return refused("holds no part of the task");
  return state;
}

}  // namespace weft::proof
