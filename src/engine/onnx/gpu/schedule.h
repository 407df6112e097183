// Which steps a run takes on a device with a GPU: kernels, nodes for the processor, and values that
// are another one's bytes in another shape.
#pragma once

#include "engine/onnx/gpu/bounded.h"
#include "engine/onnx/gpu/kernel.h"
#include "engine/onnx/gpu/ranges.h"

namespace weft::onnx {

struct ScheduleOptions {
  bool fuse = true;
  // Values that a concatenation joins end to end are written where they stand in its result.
  bool place_parts = true;
  // Also what is joined image by image, if a Concat alone reads it. Such a value cannot be fetched.
  bool place_apart = true;
  // Kernels that do not wait for each other are one dispatch.
  bool join = true;
  // No node before this one is fused with this one or a later one: what is between is in memory, as
  // it is if another device computes the rest.
  std::size_t barrier = ~std::size_t{0};
  std::size_t bindings_max = 8;  // Storage buffers of one kernel.
  std::uint64_t binding_bytes_max = 128 << 20;
  // Floats between kernels, and weights, lie in memory as 16-bit floats (half_values.h); kernels
  // compute with 32 bits. For devices with the feature shader-f16.
  bool halves = false;
  // Ranges of the graph's inputs; an i64 input without one is not for a GPU.
  std::span<const std::optional<IntegerRange>> input_ranges = {};
};

struct Step {
  enum class Kind : std::uint8_t { kernels, processor, alias } kind = Kind::processor;
  const Node* node = nullptr;      // The first, where several are fused.
  std::vector<const Node*> fused;  // After it.
  std::vector<Kernel> kernels;
};

// Where a value's images stand in memory: `block` elements of each, `pitch` apart.
struct Apart {
  std::uint64_t block = 0;  // 0: one behind the other.
  std::uint64_t pitch = 0;
};

struct Schedule {
  std::vector<Step> steps;
  // By ValueId: the value whose memory it has (the value itself if it has its own), and the element
  // of that memory at which it begins.
  std::vector<ValueId> alias_of;
  std::vector<std::uint64_t> offset_of;
  std::vector<Apart> apart;            // By ValueId.
  std::vector<bool> half;              // By ValueId: its elements take two bytes instead of four.
  std::map<ValueId, Bounded> bounded;  // Values whose shape only a run knows.
  std::size_t nodes_on_gpu = 0;
  std::size_t nodes_on_processor = 0;
};

// Nodes whose outputs are known already are left out.
[[nodiscard]] Schedule make_schedule(const KernelContext& context, const ScheduleOptions& options);

// Bytes that a value takes on the GPU: a multiple of four.
[[nodiscard]] std::uint64_t bytes_of(const KernelContext& context, const Schedule& schedule,
                                     ValueId id);
// The byte of its memory at which a value begins.
[[nodiscard]] inline std::uint64_t first_byte_of(const Schedule& schedule, ValueId id) {
  return schedule.offset_of[id] * (schedule.half[id] ? 2 : 4);
}

// Where values live: slots of memory, each used by one value after the other.
struct MemoryPlan {
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  std::vector<std::uint32_t> slot_of;     // By ValueId; `none` where it is not on the GPU.
  std::vector<std::uint64_t> slot_bytes;  // By slot: its size.
  std::uint64_t unshared_bytes = 0;       // What the values would take without reuse.
};
// No two values share a slot while both are needed. Values in `kept` live to the end.
[[nodiscard]] MemoryPlan plan_memory(const KernelContext& context, const Schedule& schedule,
                                     const std::vector<bool>& kept);

}  // namespace weft::onnx
