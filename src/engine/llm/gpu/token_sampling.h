// The sampling of an engine on a GPU: the settings of each sequence, and the sampler on the device
// (engine/kernels/sampling), which draws from the logits of a pass.
//
// Threading: the device's thread. Lifetime: the setup outlives it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/kernels/sampling/gpu_sampler.h"
#include "engine/llm/engine.h"
#include "engine/llm/gpu/engine_setup.h"

namespace weft::llm {

class TokenSampling {
 public:
  explicit TokenSampling(const EngineSetup& setup) : setup_(setup) {}

  struct Options {
    std::size_t draws_max = 1;    // The most draws that are under way at a time.
    bool compiles_later = false;  // Means the same as the option of RowPasses with this name.
  };
  // Creates the sampler, for an engine with the last layer; other engines draw nothing. Fails as
  // GpuSampler::create() does.
  [[nodiscard]] Async<Result<>> load(Options options);
  [[nodiscard]] bool is_loaded() const { return sampler_ != nullptr; }

  // Sets the sampling and the mask of the sequence for the draws that follow.
  void set_sampling(SequenceId id, const Sampling& sampling);
  void set_mask(SequenceId id, std::span<const std::uint64_t> allowed);
  // Writes the tokens that penalties look back at: the last tokens of a sequence of this length.
  // Draws write the tokens that they add by themselves.
  void remember(SequenceId id, const Sampling& sampling, std::span<const Token> tokens,
                std::uint32_t length);

  // Compiles the kernels that a draw of these sequences needs and that are not compiled yet. Call
  // it before record().
  [[nodiscard]] Async<Result<>> prepare(const std::vector<SequenceId>& sequences);
  // Records a draw of the sequences, whose logits are in the first rows.
  struct Draw {
    std::uint32_t step = 0;  // The number of the sampler's step.
    std::uint32_t dispatches = 0;
  };
  [[nodiscard]] Draw record(gpu::Pass& pass, const std::vector<SequenceId>& sequences);
  // The results of a draw: drawn_bytes for each row, from drawn_offset() on.
  static constexpr std::uint64_t drawn_bytes = 8;
  [[nodiscard]] const gpu::Buffer& drawn() const { return sampler_->drawn(); }
  [[nodiscard]] std::uint64_t drawn_offset(std::uint32_t step) const {
    return sampler_->drawn_offset(step);
  }
  [[nodiscard]] static Drawn drawn_of(ByteSpan bytes);

 private:
  const EngineSetup& setup_;
  std::unique_ptr<kernels::GpuSampler> sampler_;
  std::optional<kernels::GpuSampler::Rows> rows_;
};

}  // namespace weft::llm
