// Makes engines on this machine's GPU (through Dawn, polled between the loop's events) or on its
// CPU (on a thread of their own).
//
// Threading: the loop's thread. Lifetime: the loop outlives this object, which outlives its
// engines.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "engine/gguf/source.h"
#include "engine/gpu/run.h"
#include "engine/llm/encoders/encoder.h"
#include "engine/llm/engine.h"
#include "engine/llm/models/model.h"
#include "worker/serving_child/call_thread.h"
#include "worker/serving_child/child_loop.h"
#include "worker/tasks/alive.h"

namespace weft::worker {

class EngineMaker {
 public:
  struct Options {
    bool gpu = true;
    std::optional<std::size_t> adapter = {};  // Number of the GPU; default: the best one.
    // The reason why a GPU may be missing (sandbox/driver_files.h).
    std::string refused_driver = {};
  };
  EngineMaker(ChildLoop& loop, Options options) : loop_(loop), options_(options) {}

  // Makes an engine. The device is opened with the first engine, and again after a loss.
  [[nodiscard]] Async<Result<std::unique_ptr<llm::Engine>>> create(const llm::Model& model,
                                                                   const gguf::Source& source,
                                                                   llm::EngineOptions options);
  // Makes an encoder: on the CPU if no GPU is used, or for a model without GPU kernels
  // (gpu_encoder_possible()).
  [[nodiscard]] Async<Result<std::unique_ptr<llm::Encoder>>> create_encoder(
      const llm::EncoderModel& model, const gguf::Source& source);

 private:
  [[nodiscard]] CallThread& calls();
  void work(bool begins);
  // Called when work on the device begins and ends.
  [[nodiscard]] Async<Result<>> open_device();
  void pump();

  ChildLoop& loop_;
  const Options options_;
  std::unique_ptr<gpu::PumpedInstance> instance_;
  std::unique_ptr<gpu::Device> device_;
  std::size_t working_ = 0;
  bool pumping_ = false;
  std::unique_ptr<CallThread> calls_;  // Thread of the engines on the CPU.
  Alive alive_;
};

}  // namespace weft::worker
