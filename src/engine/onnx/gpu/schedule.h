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
  // No node before this one is fused with this one or a later one: what is between is in memory, as
  // it is if another device computes the rest.
  std::size_t barrier = ~std::size_t{0};
  std::size_t bindings_max = 8;  // Storage buffers of one kernel.
  std::uint64_t binding_bytes_max = 128 << 20;
  // Ranges of the graph's inputs; an i64 input without one is not for a GPU.
  std::span<const std::optional<IntegerRange>> input_ranges = {};
};

struct Step {
  enum class Kind : std::uint8_t { kernels, processor, alias } kind = Kind::processor;
  const Node* node = nullptr;      // The first, where several are fused.
  std::vector<const Node*> fused;  // After it.
  std::vector<Kernel> kernels;
};

struct Schedule {
  std::vector<Step> steps;
  // By ValueId: the value whose memory it has (the value itself if it has its own), and the word of
  // that memory at which it begins.
  std::vector<ValueId> alias_of;
  std::vector<std::uint64_t> offset_of;
  std::map<ValueId, Bounded> bounded;  // Values whose shape only a run knows.
  std::size_t nodes_on_gpu = 0;
  std::size_t nodes_on_processor = 0;
};

// Nodes whose outputs are known already are left out.
[[nodiscard]] Schedule make_schedule(const KernelContext& context, const ScheduleOptions& options);

// Words that a value takes on the GPU.
[[nodiscard]] std::uint64_t words_of(const KernelContext& context, const Schedule& schedule,
                                     ValueId id);

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
