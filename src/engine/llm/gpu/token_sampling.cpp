#include "engine/llm/gpu/token_sampling.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace weft::llm {

namespace {

kernels::RowSampling row_sampling(const Sampling& sampling) {
  return {.temperature = sampling.temperature,
          .top_k = sampling.top_k,
          .top_p = sampling.top_p,
          .min_p = sampling.min_p,
          .repetition_penalty = sampling.repetition_penalty,
          .presence_penalty = sampling.presence_penalty,
          .frequency_penalty = sampling.frequency_penalty,
          .penalty_window = sampling.penalty_window,
          .seed = sampling.seed};
}

std::vector<std::uint32_t> slots_of(const std::vector<SequenceId>& sequences) {
  std::vector<std::uint32_t> slots;
  for (const SequenceId id : sequences) slots.push_back(static_cast<std::uint32_t>(id));
  return slots;
}

}  // namespace

Async<Result<>> TokenSampling::load(Options options) {
  WEFT_CO_ASSIGN(
      sampler_,
      co_await kernels::GpuSampler::create(
          setup_.device, {.vocabulary = setup_.config.vocabulary,
                          .rows = setup_.options.sequences,
                          .slots = setup_.options.sequences,
                          .steps = std::bit_ceil(static_cast<std::uint32_t>(options.draws_max)),
                          .later = options.compiles_later}));
  const RowBuffers& buffers = setup_.buffers;
  rows_ = sampler_->bind(buffers.logits, buffers.tokens, buffers.places);
  co_return Result<>();
}

void TokenSampling::set_sampling(SequenceId id, const Sampling& sampling) {
  if (sampler_) sampler_->set_sampling(static_cast<std::uint32_t>(id), row_sampling(sampling));
}

void TokenSampling::set_mask(SequenceId id, std::span<const std::uint64_t> allowed) {
  sampler_->set_mask(static_cast<std::uint32_t>(id), allowed);
}

void TokenSampling::remember(SequenceId id, const Sampling& sampling, std::span<const Token> tokens,
                             std::uint32_t length) {
  if (!sampling.has_penalties()) return;
  const std::size_t count = std::min<std::size_t>(sampling.penalty_window, tokens.size());
  const std::vector<std::uint32_t> last(tokens.end() - static_cast<std::ptrdiff_t>(count),
                                        tokens.end());
  sampler_->remember(static_cast<std::uint32_t>(id), length - static_cast<std::uint32_t>(count),
                     last);
}

Async<Result<>> TokenSampling::prepare(const std::vector<SequenceId>& sequences) {
  return sampler_->prepare(slots_of(sequences));
}

TokenSampling::Draw TokenSampling::record(gpu::Pass& pass,
                                          const std::vector<SequenceId>& sequences) {
  const std::vector<std::uint32_t> slots = slots_of(sequences);
  const std::uint32_t step = sampler_->record(pass, *rows_, slots);
  return {.step = step, .dispatches = sampler_->dispatches(slots)};
}

Drawn TokenSampling::drawn_of(ByteSpan bytes) {
  std::uint32_t token = 0;
  Drawn drawn;
  std::memcpy(&token, bytes.data(), 4);
  std::memcpy(&drawn.logprob, bytes.data() + 4, 4);
  drawn.token = static_cast<Token>(token);
  return drawn;
}

}  // namespace weft::llm
