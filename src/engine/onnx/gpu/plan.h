// A graph bound to a device for one set of input shapes. Private to the folder.
#pragma once

#include <algorithm>
#include <deque>
#include <map>

#include "engine/gpu/pipeline_cache.h"
#include "engine/gpu/staging.h"
#include "engine/onnx/gpu/gpu_model.h"

namespace weft::onnx {

// The buffers, pipelines and steps of all runs of a plan. They are made once; a run creates no
// objects.
struct ModelPlan {
  struct Dispatch {
    std::shared_ptr<const gpu::Pipeline> pipeline;
    gpu::BindGroup group;
    gpu::Workgroups workgroups;
  };
  // The size from which inputs are uploaded with an UploadRing. Smaller inputs use the memory that
  // drivers keep for writes.
  static constexpr std::uint64_t large_input_bytes = 1 << 20;
  struct BoundStep {
    const Step* step = nullptr;
    std::vector<Dispatch> dispatches;
  };
  Inference inference;
  Schedule schedule;
  MemoryPlan memory;
  std::vector<gpu::Buffer> slots;
  std::map<ValueId, gpu::Buffer> known;  // Values that were inferred for these inputs.
  std::deque<gpu::Buffer> data;          // Buffers of constant data that belong to kernels.
  std::vector<BoundStep> steps;
  std::vector<bool> input_is_known;
  std::vector<ValueId> fetched_at_end;
  // Values on the processor, by ValueId; valid during a run.
  std::vector<std::optional<Tensor>> host;
  std::size_t dispatches = 0;
  std::uint64_t last_use = 0;
  // The plans of a model are numbered in the order in which they are bound.
  std::uint64_t number = 0;

  std::unique_ptr<gpu::UploadRing> uploads;  // Null if no input is large.
  gpu::Buffer staging;
  std::uint64_t staging_bytes = 0;
  std::vector<std::uint32_t> words;  // Data of the latest readback; the memory is reused.
  gpu::Encoder encoder;
  bool recording = false;

  // Makes the upload memory if an input is large.
  void make_uploads(gpu::Device& device, std::span<const Tensor> inputs) {
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (!input_is_known[i])
        upload_bytes = std::max<std::uint64_t>(upload_bytes, inputs[i].byte_count());
    clear_uploads(device);
  }
  // Replaces the upload memory with new memory, so that no earlier input is left in it.
  void clear_uploads(gpu::Device& device) {
    uploads.reset();
    if (upload_bytes >= large_input_bytes)
      uploads = std::make_unique<gpu::UploadRing>(
          device, gpu::UploadRing::Options{.slot_bytes = upload_bytes});
  }
  std::uint64_t upload_bytes = 0;  // The size of the largest input.
};

// Returns the bytes that a value of `bytes` bytes takes in a buffer.
constexpr std::uint64_t padded(std::uint64_t bytes) {
  return std::max<std::uint64_t>(16, (bytes + 15) / 16 * 16);
}

}  // namespace weft::onnx
