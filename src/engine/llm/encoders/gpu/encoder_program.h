// An encoder on the device: its weights, and the dispatches from the tokens of texts to their
// vectors.
#pragma once

#include <memory>
#include <vector>

#include "engine/gpu/pipeline_cache.h"
#include "engine/kernels/prefill/flash_attention.h"
#include "engine/llm/encoders/encoder_model.h"
#include "engine/llm/gpu/gpu_weights.h"
#include "engine/llm/gpu/program.h"
#include "engine/llm/gpu/row_buffers.h"

namespace weft::llm {

// Buffers for passes of so many rows.
[[nodiscard]] RowShape encoder_shape(const EncoderConfig& config, std::uint32_t rows);

// What stays on the device for as long as dispatches read it.
struct EncoderMemory {
  std::vector<GpuMatrix> matrices;
  std::vector<gpu::Buffer> vectors;
  gpu::Buffer table, turns;
};

struct EncoderSource {
  const EncoderModel& model;
  const gguf::Source& source;
  Activations activations = Activations::f32;
};

class EncoderProgram {
 public:
  // `buffers`, of encoder_shape(), outlive it; `vectors` gets one row a text.
  [[nodiscard]] static Async<Result<std::unique_ptr<EncoderProgram>>> create(
      gpu::Device& device, EncoderSource from, const RowBuffers& buffers,
      const gpu::Buffer& vectors);

  // From RowBuffers::tokens, places, segments, tiles and batch to the vectors. Of a RowCount,
  // `positions` are the tiles of attention.
  [[nodiscard]] const Program& program() const { return program_; }
  [[nodiscard]] const kernels::FlashTuning& attention_tuning() const { return attention_tuning_; }

 private:
  explicit EncoderProgram(gpu::Device& device) : pipelines_(device), maker_(device, pipelines_) {}

  gpu::PipelineCache pipelines_;
  DispatchMaker maker_;
  Program program_;
  kernels::FlashTuning attention_tuning_;
  EncoderMemory memory_;
};

}  // namespace weft::llm
