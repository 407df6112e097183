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

// Describes the attention of every layer that has one.
[[nodiscard]] kernels::AttentionSpec attention_spec(const Config& config,
                                                    const EngineOptions& options,
                                                    const RowShape& shape);
// True if prompts are read in f32 throughout: with f32 activations, and with int8 activations on a
// CPU device, whose driver only unrolls subgroup matrices and takes seconds to compile the result.
[[nodiscard]] bool exact_products(const gpu::Device& device, const EngineOptions& options);
[[nodiscard]] kernels::FlashTuning flash_tuning_of(const gpu::Device& device,
                                                   const kernels::AttentionSpec& spec,
                                                   const EngineOptions& options);

// The way in which the kernels for drawing tokens divide their work on a device.
struct DecodeTuning {
  // Products of rows_min rows and more are computed in tiles of the shape `tile`.
  struct TileFrom {
    std::uint32_t rows_min = 0;
    kernels::ProductTile tile;
  };
  struct Matrix {
    std::uint32_t workgroup = 0;
    std::uint32_t rows_each = 1;  // Means the same as Int8ProductSpec::rows_each.
    std::uint32_t share = 1;
    std::uint32_t rows_each_many = 1;  // Replaces a smaller rows_each from five sequences on.
    // True if the norm is a dispatch of its own, instead of being computed in every workgroup.
    bool norm_in_front = false;
    std::vector<TileFrom> tiles{};  // The tiles, in ascending order of rows_min.
  };
  Matrix projections, output, gates, down, head;
  std::uint32_t attention_workgroup = 0;
  std::uint32_t splits = 1;  // The number of ranges that an attention's positions are split into.
  std::uint32_t share_min = 64;       // The fewest positions of a range of a split attention.
  std::uint32_t whole_workgroup = 0;  // The workgroup size of attention that is not split.
  std::uint32_t split_from = 1;       // The number of positions from which attention is split.
  // An engine with at least this number of sequences computes attention by teams, for every number
  // of rows in a pass, so that the bits of a row stay the same. Teams are quicker from eight rows
  // on and slower for one row. All served engines have more than one sequence and so use teams: an
  // engine with another number of sequences can continue an answer with the same bits.
  std::uint32_t teams_from = 2;
  bool packed = false;  // True if the device has dot4I8Packed.
};
[[nodiscard]] DecodeTuning decode_tuning(const gpu::Device& device, const Config& config);

// [position][pair] of cosine and sine, computed in f64.
[[nodiscard]] std::vector<float> turn_table(const std::vector<double>& frequencies,
                                            double amplitude, std::uint32_t positions);

struct PendingSums {
  kernels::MatmulSpec spec;
  kernels::MatmulTuning tuning;
};

// The context that the functions which add a layer share.
struct BuildContext {
  gpu::Device& device;
  const Config& config;
  const EngineOptions& options;
  const RowBuffers& buffers;
  WeightLoader& loader;
  ProgramBuilder& builder;
  kernels::Team team;
  std::uint32_t workgroup = 0;  // The workgroup size of the matrix kernels.
  DecodeTuning decode{};
  // True if prompts are read with f16 rows between the kernels (subgroup matrices), in passes of
  // many_rows rows and more.
  bool halves = false;
  // Partial sums of the last product of matrix_blocks.h that are not in hidden yet. The next norm,
  // or the end of the layers, adds them.
  std::optional<PendingSums> pending{};
  [[nodiscard]] bool drawn_in_halves() const { return options.activations == Activations::f16; }
  // [position][pair] of cosine and sine: `turns` for full attention, `local_turns` for local
  // attention.
  const gpu::Buffer* turns = nullptr;
  const gpu::Buffer* local_turns = nullptr;
};

// The buffers of a layer on the device. Its memory for sequences has one part for each slot.
struct GpuLayer {
  struct Memory {
    gpu::Buffer buffer;
    std::uint64_t slot_bytes = 0;
  };
  gpu::Buffer norm, feed_forward_norm;
  gpu::Buffer mixer_out_norm, feed_forward_out_norm;  // Empty if the model has no such norms.
  // The matrices after the first norm, whose results are side by side in RowBuffers::projected.
  std::vector<GpuMatrix> projections;
  // One bias for each row of `projections`; empty if the model has no such biases.
  std::vector<float> projection_bias;
  GpuMatrix output;  // The output projection of the mixer.
  // Gates and ups, whose results are side by side in RowBuffers::gates.
  std::vector<GpuMatrix> gates;
  GpuMatrix down;
  // Exists only if the layer has experts. `gates` and `down` then hold the matrices of all experts,
  // one after another.
  GpuMatrix router;
  gpu::Buffer q_norm, k_norm,
      qk_norms;  // Norms of an attention's heads; qk_norms holds both, first that of the queries.
  const gpu::Buffer* turns = nullptr;  // Null if the layer has no attention.
  std::vector<gpu::Buffer> vectors;    // Other buffers that the layer's dispatches read.
  // Keys and values of an attention; not cleared, because they are written before they are read.
  std::vector<gpu::Buffer> cache;
  std::vector<Memory> recurrent;  // The state of a DeltaNet, which is zero for a new sequence.
};

class ModelProgram {
 public:
  // The maker of the dispatches; with `later`, prepare() makes them.
  struct Kernels {
    DispatchMaker& maker;
    bool later = false;
  };
  // Loads the layers options.layers, with the embedding and the head if these layers need them.
  [[nodiscard]] static Async<Result<std::unique_ptr<ModelProgram>>> create(
      gpu::Device& device, const Model& model, const gguf::Source& source,
      const EngineOptions& options, const RowBuffers& buffers, Kernels kernels,
      std::function<void(std::uint64_t bytes)> on_bytes);

  // The programs from tokens to hidden states, through the layers, and from hidden states to
  // logits. A pass with one row of each sequence takes the kernels for drawing tokens unless
  // activations are f32.
  const Program& embed() const { return embed_; }
  const Program& layers(const RowCount& count) const {
    return single(count) ? single_layers_ : layers_;
  }
  const Program& head(const RowCount& count) const { return single(count) ? single_head_ : head_; }

  // The programs that a pass goes through.
  struct Parts {
    bool embed = false, layers = false, head = false;
  };
  // Compiles the kernels that a pass needs and that are not compiled yet (program.h), and those of
  // `further` passes that see one more position each. Called before the pass is recorded.
  [[nodiscard]] Async<Result<>> prepare(DispatchMaker& maker, RowCount count, Parts parts,
                                        std::uint32_t further = 0);
  // True if all kernels are compiled.
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
