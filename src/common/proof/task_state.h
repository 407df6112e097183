// The state of a task after some of its parts, as a blob from which any worker goes on and that a
// coordinator reads: workers send it as a checkpoint. Pure functions over bytes.
//
// The format: "weftckp1", job (16 bytes), u32 task, manifest (32), u32 first and count of its
// range, u32 unit (0: workgroups, 1: steps), u32 done, u32 of, u32 outputs, then for each u64 bytes
// and the bytes; little-endian.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "common/base/bytes.h"
#include "common/base/ids.h"
#include "common/base/result.h"

namespace weft::proof {

// The task of a state, with the parts in which it is counted.
struct StatedTask {
  enum class Unit : std::uint8_t { workgroups = 0, steps = 1 };

  TaskId id;
  Hash manifest;
  std::uint32_t first = 0;  // First workgroup of the task's range.
  std::uint32_t count = 0;
  Unit unit = Unit::workgroups;
  std::uint32_t of = 0;  // Parts of the whole task.
  friend bool operator==(const StatedTask&, const StatedTask&) = default;
};

// `done` parts of the task are done, and these are its outputs so far, in manifest order.
[[nodiscard]] ByteVector encode_state(const StatedTask& task, std::uint32_t done,
                                      std::span<const ByteVector> outputs);

// The size of a state of outputs of these sizes.
[[nodiscard]] std::uint64_t state_bytes(std::span<const std::uint64_t> outputs);

struct TaskState {
  StatedTask task;
  std::uint32_t done = 0;
  std::vector<ByteSpan> outputs;  // Outputs so far, as views into the blob.
};
// data_loss: the blob is no state, is not whole, or holds no part or all parts of its task. How
// large outputs are is not looked at.
[[nodiscard]] Result<TaskState> decode_state(ByteSpan blob);

// The task that a blob names whose first bytes (state_head_bytes, or all that it has) these are;
// nothing if it does not begin like a state.
inline constexpr std::size_t state_head_bytes = 8 + JobId::size + sizeof(std::uint32_t);
[[nodiscard]] std::optional<TaskId> stated_task(ByteSpan head);

}  // namespace weft::proof
