// A model on the device: its weights, its caches, and the dispatches that rows of tokens or hidden states go through.
#pragma once

#include <memory>
#include <vector>

#include "engine/gpu/pipeline_cache.h"
#include "engine/kernels/kv_cache.h"
#include "engine/kernels/shader.h"
#include "engine/llm/gpu/gpu_weights.h"
#include "engine/llm/gpu/program.h"
#include "engine/llm/gpu/row_buffers.h"

namespace weft::llm {

// Everything that adding a layer needs.
struct BuildContext {
  gpu::Device& device;
  const Config& config;
  const EngineOptions& options;
  const RowBuffers& buffers;
  WeightLoader& loader;
  ProgramBuilder& builder;
  kernels::Team team;
  std::uint32_t workgroup = 0;         // Of the matrix kernels.
  const gpu::Buffer* turns = nullptr;  // [position][pair] of cosine and sine.
};

// What a layer holds on the device. Its memory of sequences is one part a slot.
struct GpuLayer {
  struct Memory {
    gpu::Buffer buffer;
    std::uint64_t slot_bytes = 0;
  };
  std::vector<GpuMatrix> matrices;
  std::vector<gpu::Buffer> vectors;
  std::vector<gpu::Buffer> cache;  // Of attention: written before it is read.
  std::vector<Memory> recurrent;   // Of a DeltaNet: zero for a new sequence.
};

class ModelProgram {
 public:
  // Loads layers options.layers and what is in front of and behind them.
  [[nodiscard]] static Async<Result<std::unique_ptr<ModelProgram>>> create(gpu::Device& device, const Model& model, const gguf::Source& source,
                                                                           const EngineOptions& options, const RowBuffers& buffers,
                                                                           gpu::PipelineCache& pipelines,
                                                                           std::function<void(std::uint64_t bytes)> on_bytes);

  const Program& embed() const { return embed_; }    // tokens to hidden
  const Program& layers() const { return layers_; }  // hidden to hidden
  const Program& head() const { return head_; }      // hidden to logits
  const std::vector<GpuLayer>& parts() const { return parts_; }
  [[nodiscard]] std::uint64_t weight_bytes() const;
  [[nodiscard]] std::uint64_t cache_bytes() const;

 private:
  ModelProgram() = default;
  [[nodiscard]] Async<Result<>> load(BuildContext& context, const Model& model, const gguf::Source& source);

  Program embed_, layers_, head_;
  GpuMatrix embedding_, output_;
  gpu::Buffer turns_, output_norm_;
  std::vector<GpuLayer> parts_;
};

}  // namespace weft::llm
