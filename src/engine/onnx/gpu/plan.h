// A graph bound to a device for one set of input shapes. Private to the folder.
#pragma once

#include <algorithm>
#include <deque>

#include "engine/onnx/gpu/gpu_model.h"

namespace weft::onnx {

// Everything that a run needs, made once: nothing is created while it runs.
struct ModelPlan {
  struct Dispatch {
    std::shared_ptr<const gpu::Pipeline> pipeline;
    gpu::BindGroup group;
    gpu::Workgroups workgroups;
  };
  struct BoundStep {
    const Step* step = nullptr;
    std::vector<Dispatch> dispatches;
  };
  Inference inference;
  Schedule schedule;
  MemoryPlan memory;
  std::vector<gpu::Buffer> slots;
  std::map<ValueId, gpu::Buffer> known;  // What was inferred for these inputs.
  std::deque<gpu::Buffer> data;          // Made for kernels.
  std::vector<BoundStep> steps;
  std::vector<bool> input_is_known;
  std::vector<ValueId> fetched_at_end;
  std::vector<std::optional<Tensor>> host;  // By ValueId, during a run.
  std::size_t dispatches = 0;
  std::uint64_t last_use = 0;
  std::uint64_t number = 0;  // Plans of a model are counted as they are bound.

  gpu::Buffer staging;
  std::uint64_t staging_bytes = 0;
  std::vector<std::uint32_t> words;  // What came down, kept from run to run.
  gpu::Encoder encoder;
  bool recording = false;
};

// What a value of `bytes` takes in a buffer.
constexpr std::uint64_t padded(std::uint64_t bytes) {
  return std::max<std::uint64_t>(16, (bytes + 15) / 16 * 16);
}

}  // namespace weft::onnx
