// The steps of a run on a device with a GPU: kernels, nodes for the processor, and aliases, which
// are values that share the bytes of another value with another shape.
#pragma once

#include "engine/onnx/gpu/bounded.h"
#include "engine/onnx/gpu/kernel.h"
#include "engine/onnx/gpu/ranges.h"

namespace weft::onnx {

struct ScheduleOptions {
  bool fuse = true;
  // Writes the inputs of a concatenation that joins them end to end directly into its result.
  bool place_parts = true;
  // Also places inputs that are joined image by image, if no node except the Concat reads them.
  // Such an input cannot be read back.
  bool place_apart = true;
  // Joins kernels that do not depend on each other into one dispatch.
  bool join = true;
  // The node at which the graph is divided: no node before it is fused with it or with a later
  // node. The values that cross the barrier are in memory, as they are if another device computes
  // the second part.
  std::size_t barrier = ~std::size_t{0};
  std::size_t bindings_max = 8;  // The most storage buffers of one kernel.
  std::uint64_t binding_bytes_max = 128 << 20;
  // Stores weights, and floats between kernels, in memory as 16-bit floats (half_values.h); kernels
  // compute with 32 bits. Only for devices with the feature shader-f16.
  bool halves = false;
  // The ranges of the graph's inputs. An i64 input without a range cannot be on a GPU.
  std::span<const std::optional<IntegerRange>> input_ranges = {};
};

struct Step {
  enum class Kind : std::uint8_t { kernels, processor, alias } kind = Kind::processor;
  const Node* node = nullptr;      // The first node, if several are fused.
  std::vector<const Node*> fused;  // The nodes that are fused with `node`.
  std::vector<Kernel> kernels;
};

// The layout of a value's images in memory: each has `block` elements, and they begin `pitch`
// elements apart.
struct Apart {
  std::uint64_t block = 0;  // 0: the images are contiguous.
  std::uint64_t pitch = 0;
};

struct Schedule {
  std::vector<Step> steps;
  // The value whose memory a value uses (itself if it has its own memory), by ValueId, and the
  // element of that memory at which the value begins.
  std::vector<ValueId> alias_of;
  std::vector<std::uint64_t> offset_of;
  std::vector<Apart> apart;            // The layouts of images, by ValueId.
  std::vector<bool> half;              // True if elements take two bytes; by ValueId.
  std::map<ValueId, Bounded> bounded;  // Values whose shape only a run knows.
  std::size_t nodes_on_gpu = 0;
  std::size_t nodes_on_processor = 0;
};

// Makes the steps of a run. Nodes whose outputs are known already are left out.
[[nodiscard]] Schedule make_schedule(const KernelContext& context, const ScheduleOptions& options);

// Returns the bytes that a value takes on the GPU, a multiple of four.
[[nodiscard]] std::uint64_t bytes_of(const KernelContext& context, const Schedule& schedule,
                                     ValueId id);
// Returns the byte of its memory at which a value begins.
[[nodiscard]] inline std::uint64_t first_byte_of(const Schedule& schedule, ValueId id) {
  return schedule.offset_of[id] * (schedule.half[id] ? 2 : 4);
}

// The placement of values in slots of memory. Values whose uses do not overlap share a slot.
struct MemoryPlan {
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  // The slots by ValueId; `none` if the value is not on the GPU.
  std::vector<std::uint32_t> slot_of;
  std::vector<std::uint64_t> slot_bytes;  // The sizes of the slots.
  std::uint64_t unshared_bytes = 0;       // Bytes that the values would take without sharing.
};
// Assigns slots so that no two values share a slot while both are needed. Values in `kept` keep
// their slot to the end of the run.
[[nodiscard]] MemoryPlan plan_memory(const KernelContext& context, const Schedule& schedule,
                                     const std::vector<bool>& kept);

}  // namespace weft::onnx
