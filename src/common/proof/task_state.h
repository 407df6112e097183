// The state of a task after some of its parts, as the bytes of a blob. Workers send it as a
// checkpoint, any worker can continue the task from it, and a coordinator can read it. Pure
// functions over bytes.
//
// The format: "weftckp1", job (16 bytes), u32 task, manifest (32), u32 first and count of its
// range, u32 unit (0: workgroups, 1: steps), u32 done, u32 of, u32 outputs, then for each output
// u64 bytes and its bytes; little-endian.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "common/base/bytes.h"
#include "common/base/ids.h"
#include "common/base/result.h"

namespace weft::proof {

// The task that a state belongs to, and the unit in which the parts of the task are counted.
struct StatedTask {
  enum class Unit : std::uint8_t { workgroups = 0, steps = 1 };

  TaskId id;
  Hash manifest;
  std::uint32_t first = 0;  // The first workgroup of the task's range.
  std::uint32_t count = 0;
  Unit unit = Unit::workgroups;
  std::uint32_t of = 0;  // The number of all parts of the task.
  friend bool operator==(const StatedTask&, const StatedTask&) = default;
};

// Writes the state of a task of which `done` parts are done, with its present outputs in the order
// of the manifest.
[[nodiscard]] ByteVector encode_state(const StatedTask& task, std::uint32_t done,
                                      std::span<const ByteVector> outputs);

// The size of a state whose outputs have these sizes.
[[nodiscard]] std::uint64_t state_bytes(std::span<const std::uint64_t> outputs);

struct TaskState {
  StatedTask task;
  std::uint32_t done = 0;
  std::vector<ByteSpan> outputs;  // Each refers to bytes of the blob.
};
// Fails with data_loss if the blob is not a whole state, or if none or all of the parts are done.
// Does not check the sizes of the outputs.
[[nodiscard]] Result<TaskState> decode_state(ByteSpan blob);

// The first bytes of a state, which name its task. stated_task() reads these bytes, or a whole
// blob; no value if the bytes do not begin like a state.
inline constexpr std::size_t state_head_bytes = 8 + JobId::size + sizeof(std::uint32_t);
[[nodiscard]] std::optional<TaskId> stated_task(ByteSpan head);

}  // namespace weft::proof
