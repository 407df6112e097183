// Which steps a run takes on a device with a GPU: kernels, nodes for the processor, and values that
// are another one's bytes in another shape.
#pragma once

#include "engine/onnx/gpu/kernel.h"

namespace weft::onnx {

struct ScheduleOptions {
  bool fuse = true;
  // Keeps every value to the end, for comparing node by node.
  bool keep_all = false;
  std::size_t bindings_max = 8;  // Storage buffers of one kernel.
  std::uint64_t binding_bytes_max = 128 << 20;
};

struct Step {
  enum class Kind : std::uint8_t { kernels, processor, alias } kind = Kind::processor;
  const Node* node = nullptr;      // The first, where several are fused.
  std::vector<const Node*> fused;  // After it.
  std::vector<Kernel> kernels;
};

struct Schedule {
  std::vector<Step> steps;
  std::vector<ValueId> alias_of;  // By ValueId; the value itself if it is no alias.
  std::size_t nodes_on_gpu = 0;
  std::size_t nodes_on_processor = 0;
};

// Nodes whose outputs are known already are left out.
[[nodiscard]] Schedule make_schedule(const KernelContext& context, const ScheduleOptions& options);

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
