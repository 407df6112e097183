// An ONNX model in a browser's Worker, on its GPU or its processor.
//
//   WEFT_CO_ASSIGN(auto model, co_await Model::open(bytes, request, gpu));
//   WEFT_CO_ASSIGN(auto answer, co_await model->run(json, data));
//
// Threading: the Worker's one thread. Lifetime: destroyed only while no run is under way.
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

// The Worker's GPU, which all models share; a lost one is replaced when a model is opened.
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
  // Fails with what is wrong with the file, and with unavailable if a GPU is asked for and there
  // is none. `bytes` may go once this returns for the first time.
  [[nodiscard]] static Async<Result<std::shared_ptr<Model>>> open(ByteSpan bytes,
                                                                  OpenRequest request, Gpu& gpu);
  Model(const Model&) = delete;

  [[nodiscard]] std::string info() const;
  // Outputs by name, type and shape as JSON; their values are in outputs(). `data` may go once this
  // returns for the first time. Fails with unavailable while another run is under way.
  [[nodiscard]] Async<Result<std::string>> run(std::string json, ByteSpan data);
  [[nodiscard]] const std::vector<onnx::Tensor>& outputs() const { return outputs_; }
  // The buffer that a run with {"gpu": true} for this input reads. GPU only.
  [[nodiscard]] Result<const gpu::Buffer*> input_buffer(std::string_view name);
  // For detectors: a run whose boxes are wanted and not its outputs, which stay on the GPU. Takes
  // what run() takes, and fails as it does; `options` as boxes() takes them.
  [[nodiscard]] Async<Result<std::string>> detect(std::string json, ByteSpan data,
                                                  std::string options);
  // Boxes in the outputs of the latest run(), for detectors.
  [[nodiscard]] Result<std::string> boxes(std::string_view json) const;

 private:
  Model() = default;
  [[nodiscard]] Async<Result<std::vector<onnx::Tensor>>> compute(RunRequest request);
  // The buffers that inputs are in; null for those that are given as bytes.
  [[nodiscard]] Result<std::vector<const gpu::Buffer*>> buffers_of(const RunRequest& request);
  [[nodiscard]] Async<Result<onnx::GpuDetector::Found>> find(RunRequest request,
                                                             BoxesRequest boxes);

  std::string name_;
  std::shared_ptr<gpu::Device> device_;  // Null on the processor.
  std::string no_gpu_;
  std::unique_ptr<onnx::GpuModel> on_gpu_;
  std::unique_ptr<onnx::GpuDetector> detector_;  // Made when boxes are first asked for.
  onnx::Graph graph_;                            // On a GPU without values of constants.
  std::vector<std::optional<onnx::Tensor>> known_outputs_;
  std::vector<gpu::Buffer> buffers_;  // By input; made when they are asked for.
  std::vector<onnx::Tensor> outputs_;
  std::int64_t input_width_ = 0;  // The latest run had an input of this size.
  std::int64_t input_height_ = 0;
  std::uint64_t weight_bytes_ = 0;
  bool running_ = false;
};

}  // namespace weft::onnx_web
