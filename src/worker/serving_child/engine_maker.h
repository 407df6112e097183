// Engines on this machine's GPU (through Dawn, pumped between the loop's events) or its processor
// (on a thread of their own).
//
// Threading: the loop's thread. Lifetime: the loop outlives it, and it outlives its engines.
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
    std::optional<std::size_t> adapter = {};  // The GPU's number; the best one without.
    std::string refused_driver = {};          // Why there may be no GPU (sandbox/driver_files.h).
  };
  EngineMaker(ChildLoop& loop, Options options) : loop_(loop), options_(options) {}

  // The device is opened with the first engine, and again when it was lost.
  [[nodiscard]] Async<Result<std::unique_ptr<llm::Engine>>> create(const llm::Model& model,
                                                                   const gguf::Source& source,
                                                                   llm::EngineOptions options);
  // The same; on the processor also what has no kernels (gpu_encoder_possible()).
  [[nodiscard]] Async<Result<std::unique_ptr<llm::Encoder>>> create_encoder(
      const llm::EncoderModel& model, const gguf::Source& source);

 private:
  [[nodiscard]] CallThread& calls();
  void work(bool begins);
  // While work is under way.
  [[nodiscard]] Async<Result<>> open_device();
  void pump();

  ChildLoop& loop_;
  const Options options_;
  std::unique_ptr<gpu::PumpedInstance> instance_;
  std::unique_ptr<gpu::Device> device_;
  std::size_t working_ = 0;
  bool pumping_ = false;
  std::unique_ptr<CallThread> calls_;  // For engines on the processor.
  Alive alive_;
};

}  // namespace weft::worker
