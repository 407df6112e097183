// A model on the device: its weights, its caches, and the dispatches that rows of tokens or hidden
// states go through.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "engine/kernels/decode/product_tile.h"
#include "engine/kernels/kv_cache.h"
#include "engine/kernels/prefill/flash_attention.h"
#include "engine/kernels/prefill/matmul.h"
#include "engine/kernels/shader.h"
#include "engine/llm/gpu/gpu_weights.h"
#include "engine/llm/gpu/program.h"
#include "engine/llm/gpu/row_buffers.h"

namespace weft::llm {

// The attention of every layer that has one.
[[nodiscard]] kernels::AttentionSpec attention_spec(const Config& config,
                                                    const EngineOptions& options,
                                                    const RowShape& shape);
// Whether reading prompts has to be f32 all through. So it is on a CPU as well, which has no
// subgroup matrices, only drivers that unroll them, and takes seconds to compile what they make of
// it.
[[nodiscard]] bool exact_products(const gpu::Device& device, const EngineOptions& options);
[[nodiscard]] kernels::FlashTuning flash_tuning_of(const gpu::Device& device,
                                                   const kernels::AttentionSpec& spec,
                                                   const EngineOptions& options);

// How the kernels for drawing tokens share out their work on a device.
struct DecodeTuning {
  // Products of so many rows and more go by tiles.
  struct TileFrom {
    std::uint32_t rows_min = 0;
    kernels::ProductTile tile;
  };
  struct Matrix {
    std::uint32_t workgroup = 0;
    std::uint32_t rows_each = 1;  // As in Int8ProductSpec.
    std::uint32_t share = 1;
    std::uint32_t rows_each_many = 1;  // From five sequences on, where it is more than rows_each.
    // The norm is a dispatch of its own instead of being done in every workgroup.
    bool norm_in_front = false;
    std::vector<TileFrom> tiles{};  // With fewer rows first.
  };
  Matrix projections, output, gates, down, head;
  std::uint32_t attention_workgroup = 0;
  std::uint32_t splits = 1;           // Ranges that an attention's positions are split into.
  std::uint32_t share_min = 64;       // Positions of one such range, at least.
  std::uint32_t whole_workgroup = 0;  // Workgroup of an attention that is not split,
  std::uint32_t split_from = 1;       // with fewer positions than this.
  // Engines for so many sequences and more attend by teams, for each number of rows, so that the
  // bits of a row stay the same: quicker from eight rows on, slower for one. All that are served
  // have more than one: an answer goes on with the same bits on an engine with other room.
  std::uint32_t teams_from = 2;
  bool packed = false;  // dot4I8Packed.
};
[[nodiscard]] DecodeTuning decode_tuning(const gpu::Device& device, const Config& config);

// [position][pair] of cosine and sine, worked out in f64.
[[nodiscard]] std::vector<float> turn_table(const std::vector<double>& frequencies,
                                            double amplitude, std::uint32_t positions);

struct PendingSums {
  kernels::MatmulSpec spec;
  kernels::MatmulTuning tuning;
};

// Everything that adding a layer needs.
struct BuildContext {
  gpu::Device& device;
  const Config& config;
  const EngineOptions& options;
  const RowBuffers& buffers;
  WeightLoader& loader;
  ProgramBuilder& builder;
  kernels::Team team;
  std::uint32_t workgroup = 0;  // Workgroup of the matrix kernels.
  DecodeTuning decode{};
  // Prompts are read with rows in f16 between the kernels (subgroup matrices), from many_rows on.
  bool halves = false;
  // Partial sums of the last product of matrix_blocks.h that are not in hidden yet: the next norm
  // adds them, or the end of the layers.
  std::optional<PendingSums> pending{};
  [[nodiscard]] bool drawn_in_halves() const { return options.activations == Activations::f16; }
  // [position][pair] of cosine and sine; the second of layers with local attention.
  const gpu::Buffer* turns = nullptr;
  const gpu::Buffer* local_turns = nullptr;
};

// What a layer holds on the device. Its memory of sequences is one part a slot.
struct GpuLayer {
  struct Memory {
    gpu::Buffer buffer;
    std::uint64_t slot_bytes = 0;
  };
  gpu::Buffer norm, feed_forward_norm;
  gpu::Buffer mixer_out_norm, feed_forward_out_norm;  // None where the model has none.
  // Behind the first norm, side by side in RowBuffers::projected.
  std::vector<GpuMatrix> projections;
  std::vector<float> projection_bias;  // One a row of them; empty for none.
  GpuMatrix output;                    // The mixer's output projection.
  std::vector<GpuMatrix> gates;        // Gates and ups, side by side in RowBuffers::gates.
  GpuMatrix down;
  GpuMatrix router;  // With experts, whose matrices stand one below the other in gates and down.
  gpu::Buffer q_norm, k_norm,
      qk_norms;  // Norms of an attention's heads; the last holds both, one after the other.
  const gpu::Buffer* turns = nullptr;  // For an attention.
  std::vector<gpu::Buffer> vectors;    // What else its dispatches read.
  std::vector<gpu::Buffer> cache;  // Keys and values of an attention: written before they are read.
  std::vector<Memory> recurrent;   // State of a DeltaNet: zero for a new sequence.
};

class ModelProgram {
 public:
  // What makes its dispatches; `later`: in prepare().
  struct Kernels {
    DispatchMaker& maker;
    bool later = false;
  };
  // Loads layers options.layers and what the model has before and after them.
  [[nodiscard]] static Async<Result<std::unique_ptr<ModelProgram>>> create(
      gpu::Device& device, const Model& model, const gguf::Source& source,
      const EngineOptions& options, const RowBuffers& buffers, Kernels kernels,
      std::function<void(std::uint64_t bytes)> on_bytes);

  // From tokens to hidden states, through the layers, and from hidden states to logits. Where
  // `count` is a row for each sequence, and activations may be int8, by the kernels for drawing
  // tokens.
  const Program& embed() const { return embed_; }
  const Program& layers(const RowCount& count) const {
    return single(count) ? single_layers_ : layers_;
  }
  const Program& head(const RowCount& count) const { return single(count) ? single_head_ : head_; }

  // Which of them a pass goes through.
  struct Parts {
    bool embed = false, layers = false, head = false;
  };
  // Before a pass is recorded: compiles what it needs and is not compiled yet (program.h), also for
  // `further` passes that see one more position each.
  [[nodiscard]] Async<Result<>> prepare(DispatchMaker& maker, RowCount count, Parts parts,
                                        std::uint32_t further = 0);
  // Whether there is nothing left to prepare.
  [[nodiscard]] bool is_whole() const {
    return embed_.is_whole() && layers_.is_whole() && head_.is_whole() &&
           single_layers_.is_whole() && single_head_.is_whole();
  }
  const std::vector<GpuLayer>& parts() const { return parts_; }
  [[nodiscard]] std::uint64_t weight_bytes() const;
  [[nodiscard]] std::uint64_t cache_bytes() const;

 private:
  ModelProgram() = default;
  [[nodiscard]] Async<Result<>> load(BuildContext& context, const Model& model,
                                     const gguf::Source& source);

  [[nodiscard]] bool single(const RowCount& count) const {
    return has_single_ && count.rows == count.segments;
  }

  Program embed_, layers_, head_, single_layers_, single_head_;
  bool has_single_ = false;
  GpuMatrix embedding_, output_;
  gpu::Buffer turns_, local_turns_, output_norm_;
  std::vector<GpuLayer> parts_;
};

}  // namespace weft::llm
