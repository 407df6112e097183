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

// The sizes of the buffers for passes of `rows` rows.
[[nodiscard]] RowShape encoder_shape(const EncoderConfig& config, std::uint32_t rows);

// The buffers on the device that live as long as the dispatches that read them.
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
  // Creates the program. `buffers`, which have the shape encoder_shape(), and `vectors` outlive it;
  // `vectors` gets one row for each text.
  [[nodiscard]] static Async<Result<std::unique_ptr<EncoderProgram>>> create(
      gpu::Device& device, EncoderSource from, const RowBuffers& buffers,
      const gpu::Buffer& vectors);

  // The dispatches from RowBuffers::tokens, places, segments, tiles and batch to the vectors. In
  // their RowCount, `positions` is the number of attention tiles.
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
