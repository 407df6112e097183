// The requests of a child for a detector. It reads and runs the ONNX model of a camera, which is a
// stranger's, and the parent gets plain boxes, which it treats as untrusted.
//
//   open_detector  u64 held_bytes_max, bytes: an ONNX file
//                  -> u64 width, u64 height, u64 on_gpu, text device
//   find_boxes     real left, top, scale_x, scale_y, bytes: levels [3][height][width]
//                  -> u64 count, for each box: u64 class, real score, real left, top, right,
//                  bottom,
//                     text label
//
// Threading: one thread. Lifetime: the instance and the device outlive the service.
#pragma once

#include <cstdint>
#include <memory>

#include "common/base/result.h"
#include "engine/gpu/run.h"
#include "engine/onnx/gpu/gpu_model.h"
#include "engine/onnx/vision/convention.h"
#include "engine/onnx/vision/gpu/gpu_detector.h"
#include "worker/sandbox/sandbox_wire.h"

namespace weft::worker {

class DetectorService {
 public:
  // Without a device, models run on the processor.
  explicit DetectorService(gpu::PumpedInstance* instance = nullptr, gpu::Device* device = nullptr)
      : instance_(instance), device_(device) {}

  [[nodiscard]] Result<ByteVector> answer(const Frame& request);

 private:
  [[nodiscard]] Result<ByteVector> open(ByteSpan payload);
  [[nodiscard]] Result<ByteVector> find(ByteSpan payload);

  gpu::PumpedInstance* const instance_;
  gpu::Device* const device_;
  onnx::DetectorInput input_;
  onnx::Convention convention_;
  onnx::Graph graph_;  // The whole model on the processor; on a GPU without its constants' bytes.
  // The model on a GPU. Order of destruction: the detector before its model.
  std::unique_ptr<onnx::GpuModel> model_;
  std::unique_ptr<onnx::GpuDetector> detector_;
  bool is_open_ = false;
};

// The memory of a model: its file while it is opened, its weights twice (in the engine and on the
// GPU), its outputs, and frames. The same as heldBytes() in the page's helper.ts. `graph` is
// prepared.
[[nodiscard]] std::uint64_t held_bytes(std::uint64_t file_bytes, const onnx::Graph& graph,
                                       const onnx::DetectorInput& input);

}  // namespace weft::worker
