// An ONNX model in a browser's Worker, on its GPU or its processor.
//
//   WEFT_CO_ASSIGN(auto model, co_await Model::open(bytes, request, gpu));
//   WEFT_CO_ASSIGN(auto answer, co_await model->run(json, data));
//
// Threading: the Worker's only thread. Lifetime: a model must not be destroyed during a run.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bindings/onnx_web/requests.h"
#include "common/base/async.h"
#include "engine/gpu/device.h"
#include "engine/onnx/gpu/gpu_model.h"
#include "engine/onnx/vision/gpu/gpu_detector.h"

namespace weft::onnx_web {

// The Worker's GPU, which all models share. If the device is lost, device() creates a new one for
// the next model that is opened.
class Gpu {
 public:
  explicit Gpu(std::unique_ptr<gpu::Instance> instance) : instance_(std::move(instance)) {}
  [[nodiscard]] Async<Result<std::shared_ptr<gpu::Device>>> device();

 private:
  std::unique_ptr<gpu::Instance> instance_;
  std::shared_ptr<gpu::Device> device_;
};

class Model {
 public:
  // Fails with the error of the file, and with unavailable if a GPU is requested and there is none.
  // `bytes` may be freed once the coroutine first suspends or returns.
  [[nodiscard]] static Async<Result<std::shared_ptr<Model>>> open(ByteSpan bytes,
                                                                  OpenRequest request, Gpu& gpu);
  Model(const Model&) = delete;

  [[nodiscard]] std::string info() const;
  // Runs the model and returns the names, types and shapes of the outputs as JSON; outputs() holds
  // their values. `data` may be freed once the coroutine first suspends or returns. Fails with
  // unavailable during another run.
  [[nodiscard]] Async<Result<std::string>> run(std::string json, ByteSpan data);
  [[nodiscard]] const std::vector<onnx::Tensor>& outputs() const { return outputs_; }
  // The buffer that a run reads for an input with {"gpu": true}. Fails with unsupported if the
  // model runs on the processor.
  [[nodiscard]] Result<const gpu::Buffer*> input_buffer(std::string_view name);
  // Runs a detector and returns only its boxes; on a GPU the outputs stay on the GPU. The lifetimes
  // of `json` and `data` and the errors are those of run(); `options` is the JSON that boxes()
  // takes.
  [[nodiscard]] Async<Result<std::string>> detect(std::string json, ByteSpan data,
                                                  std::string options);
  // Returns the boxes in the outputs of the latest run() of a detector.
  [[nodiscard]] Result<std::string> boxes(std::string_view json) const;

 private:
  Model() = default;
  [[nodiscard]] Async<Result<std::vector<onnx::Tensor>>> compute(RunRequest request);
  // Returns the buffer of each input; null for an input that is given as bytes.
  [[nodiscard]] Result<std::vector<const gpu::Buffer*>> buffers_of(const RunRequest& request);
  [[nodiscard]] Async<Result<onnx::GpuDetector::Found>> find(RunRequest request,
                                                             BoxesRequest boxes);

  std::string name_;
  std::shared_ptr<gpu::Device> device_;  // Null if the processor is used.
  std::string no_gpu_;
  std::unique_ptr<onnx::GpuModel> on_gpu_;
  std::unique_ptr<onnx::GpuDetector> detector_;  // Created by the first detect().
  onnx::Graph graph_;                            // On a GPU it lacks the bytes of constants.
  std::vector<std::optional<onnx::Tensor>> known_outputs_;
  std::vector<gpu::Buffer> buffers_;  // One buffer for each input, created when it is needed.
  std::vector<onnx::Tensor> outputs_;
  std::int64_t input_width_ = 0;  // The size of the latest run's input image.
  std::int64_t input_height_ = 0;
  std::uint64_t weight_bytes_ = 0;
  bool running_ = false;
};

}  // namespace weft::onnx_web
