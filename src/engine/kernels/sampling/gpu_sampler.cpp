#include "engine/kernels/sampling/gpu_sampler.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "common/base/bytes.h"
#include "common/base/check.h"
#include "engine/kernels/shader.h"

namespace weft::kernels {

DrawSettings draw_settings(const RowSampling& sampling, std::uint32_t vocabulary) {
  DrawSettings out{.temperature = sampling.temperature,
                   .top_k = sampling.top_k < vocabulary ? sampling.top_k : 0,
                   .top_p = sampling.top_p,
                   .repetition_penalty = sampling.repetition_penalty,
                   .presence_penalty = sampling.presence_penalty,
                   .frequency_penalty = sampling.frequency_penalty,
                   .penalty_window = sampling.penalty_window,
                   .seed_low = static_cast<std::uint32_t>(sampling.seed),
                   .seed_high = static_cast<std::uint32_t>(sampling.seed >> 32)};
  if (sampling.min_p > 0) out.log_min_p = std::log(sampling.min_p);
  const bool penalized = sampling.penalty_window > 0 &&
                         (sampling.repetition_penalty != 1 || sampling.presence_penalty != 0 ||
                          sampling.frequency_penalty != 0);
  if (penalized) out.flags |= DrawSettings::penalized;
  if (sampling.temperature > 0 && sampling.top_k != 1) {  // top_k = 1 needs no noise.
    out.flags |= DrawSettings::noisy;
    if (out.top_k > 0 || sampling.top_p < 1 || sampling.min_p > 0)
      out.flags |= DrawSettings::restricted;
  }
  return out;
}

Async<Result<std::unique_ptr<GpuSampler>>> GpuSampler::create(gpu::Device& device,
                                                              Options options) {
  check(options.rows > 0 && options.slots > 0 && std::has_single_bit(options.steps),
        "a sampler has rows, slots and a power of two of steps");
  if (options.vocabulary == 0 || options.vocabulary > draw_vocabulary_max)
    co_return fail(ErrorCode::invalid_argument,
                   "The vocabulary has {} tokens; a GPU can draw from 1 to {}.", options.vocabulary,
                   draw_vocabulary_max);
  const DrawSpec spec{
      .vocabulary = options.vocabulary, .rows = options.rows, .steps = options.steps};
  const std::uint64_t scratch_bytes = DrawLayout(spec).words * 4;
  const std::uint64_t bytes_max =
      std::min(device.limits().storage_binding_bytes_max, device.limits().buffer_bytes_max);
  if (scratch_bytes > bytes_max)
    co_return fail(ErrorCode::invalid_argument,
                   "Drawing {} rows of {} tokens takes {} bytes; the device binds at most {}.",
                   options.rows, options.vocabulary, scratch_bytes, bytes_max);

  std::unique_ptr<GpuSampler> out(new GpuSampler(device, options));
  using enum gpu::BufferUsage;
  const std::uint64_t slots = options.slots;
  out->settings_of_.resize(options.slots);
  out->settings_ = device.create_buffer({.size = slots * sizeof(DrawSettings),
                                         .usage = storage | copy_destination,
                                         .label = "draw settings"});
  out->scratch_ = device.create_buffer(
      {.size = scratch_bytes, .usage = storage | copy_destination, .label = "draw scratch"});
  out->history_ = device.create_buffer({.size = slots * draw_slot_words(options.vocabulary) * 4,
                                        .usage = storage | copy_destination,
                                        .label = "draw history"});
  out->drawn_ =
      device.create_buffer({.size = std::uint64_t{options.steps} * options.rows * sizeof(GpuDrawn),
                            .usage = storage | copy_source,
                            .label = "drawn"});
  out->steps_ = device.create_buffer(
      {.size = 16, .usage = storage | copy_destination, .label = "draw steps"});
  device.write(out->settings_, 0, as_bytes(std::span<const DrawSettings>(out->settings_of_)));
  // The buffers are cleared here, because trusted devices do not clear new buffers.
  gpu::Encoder encoder = device.create_encoder("draw");
  for (const gpu::Buffer* buffer : {&out->scratch_, &out->history_, &out->steps_})
    encoder.clear(*buffer, 0, buffer->size());
  device.submit(std::move(encoder));

  WEFT_CO_ASSIGN(out->tiles_, co_await device.create_pipeline(draw_tiles_pipeline(spec)));
  if (!options.later)
    WEFT_CO_OK(
        co_await out->compile(DrawSettings::penalized | DrawSettings::restricted | any_draw));
  co_return out;
}

Async<Result<>> GpuSampler::compile(std::uint32_t flags) {
  const DrawSpec spec{
      .vocabulary = options_.vocabulary, .rows = options_.rows, .steps = options_.steps};
  if ((flags & DrawSettings::penalized) != 0 && !count_) {
    WEFT_CO_ASSIGN(count_, co_await device_.create_pipeline(draw_count_pipeline(spec)));
  }
  if ((flags & any_draw) != 0 && !pick_) {
    WEFT_CO_ASSIGN(pick_, co_await device_.create_pipeline(draw_pick_pipeline(spec, false, 64)));
  }
  if ((flags & DrawSettings::restricted) != 0 && !pick_restricted_) {
    WEFT_CO_ASSIGN(pick_restricted_, co_await device_.create_pipeline(draw_pick_pipeline(
                                         spec, true, workgroup_size(device_, 512))));
  }
  co_return Result<>();
}

Async<Result<>> GpuSampler::prepare(std::vector<std::uint32_t> slots) {
  const std::uint32_t flags = flags_of(slots);
  co_return co_await compile((flags & DrawSettings::restricted) != 0 ? flags : flags | any_draw);
}

GpuSampler::Rows GpuSampler::bind(const gpu::Buffer& logits, const gpu::Buffer& tokens,
                                  const gpu::Buffer& places) {
  // One bind group fits all pipelines, because they have the same layout.
  return {device_.create_bind_group(tiles_, 0,
                                    {{0, logits},
                                     {1, settings_},
                                     {2, scratch_},
                                     {3, history_},
                                     {4, tokens},
                                     {5, places},
                                     {6, drawn_},
                                     {7, steps_}})};
}

void GpuSampler::set_sampling(std::uint32_t slot, const RowSampling& sampling) {
  check(slot < options_.slots, "a sampler has this slot");
  const std::uint32_t masked = settings_of_[slot].flags & DrawSettings::masked;
  settings_of_[slot] = draw_settings(sampling, options_.vocabulary);
  settings_of_[slot].flags |= masked;
  device_.write(settings_, slot * sizeof(DrawSettings),
                as_bytes(std::span<const DrawSettings>(&settings_of_[slot], 1)));
}

void GpuSampler::set_mask(std::uint32_t slot, std::span<const std::uint64_t> allowed) {
  check(slot < options_.slots, "a sampler has this slot");
  DrawSettings& settings = settings_of_[slot];
  const bool masked = !allowed.empty();
  if (masked) {
    std::vector<std::uint32_t> words((options_.vocabulary + 31) / 32);
    for (std::size_t i = 0; i < words.size() && i / 2 < allowed.size(); ++i)
      words[i] = static_cast<std::uint32_t>(allowed[i / 2] >> (i % 2 * 32));
    device_.write(history_,
                  (std::uint64_t{slot} * draw_slot_words(options_.vocabulary) + draw_history) * 4,
                  as_bytes(std::span<const std::uint32_t>(words)));
  }
  if (masked == ((settings.flags & DrawSettings::masked) != 0)) return;
  settings.flags ^= DrawSettings::masked;
  device_.write(settings_, slot * sizeof(DrawSettings),
                as_bytes(std::span<const DrawSettings>(&settings, 1)));
}

void GpuSampler::remember(std::uint32_t slot, std::uint32_t position,
                          std::span<const std::uint32_t> tokens) {
  check(slot < options_.slots, "a sampler has this slot");
  if (tokens.size() > draw_history) {
    position += static_cast<std::uint32_t>(tokens.size() - draw_history);
    tokens = tokens.last(draw_history);
  }
  while (!tokens.empty()) {
    const std::uint32_t at = position % draw_history;
    const auto count = std::min<std::size_t>(tokens.size(), draw_history - at);
    device_.write(history_, (std::uint64_t{slot} * draw_slot_words(options_.vocabulary) + at) * 4,
                  as_bytes(tokens.first(count)));
    position += static_cast<std::uint32_t>(count);
    tokens = tokens.subspan(count);
  }
}

std::uint32_t GpuSampler::flags_of(std::span<const std::uint32_t> slots) const {
  std::uint32_t flags = 0;
  for (const std::uint32_t slot : slots) {
    check(slot < options_.slots, "a sampler has this slot");
    flags |= settings_of_[slot].flags;
  }
  return flags;
}

std::uint32_t GpuSampler::dispatches(std::span<const std::uint32_t> slots) const {
  const bool penalized = std::ranges::any_of(slots, [&](std::uint32_t slot) {
    return (settings_of_[slot].flags & DrawSettings::penalized) != 0;
  });
  return penalized ? 3 : 2;
}

std::uint32_t GpuSampler::record(gpu::Pass& pass, const Rows& rows,
                                 std::span<const std::uint32_t> slots) {
  check(!slots.empty() && slots.size() <= options_.rows,
        "a draw has rows, and not more than there is room for");
  const std::uint32_t flags = flags_of(slots);
  const auto count = static_cast<std::uint32_t>(slots.size());
  if ((flags & DrawSettings::penalized) != 0)
    pass.run(count_, {&rows.group}, {.x = count, .y = 1, .z = 1});
  pass.run(tiles_, {&rows.group},
           {.x = (options_.vocabulary + draw_tile - 1) / draw_tile, .y = count, .z = 1});
  const gpu::Pipeline& pick = (flags & DrawSettings::restricted) != 0 ? pick_restricted_ : pick_;
  check(static_cast<bool>(pick), "prepare() compiled what a draw needs");
  pass.run(pick, {&rows.group}, {.x = count, .y = 1, .z = 1});
  return step_++;
}

std::uint64_t GpuSampler::drawn_offset(std::uint32_t step) const {
  return std::uint64_t{step % options_.steps} * options_.rows * sizeof(GpuDrawn);
}

std::uint64_t GpuSampler::buffer_bytes() const {
  return settings_.size() + scratch_.size() + history_.size() + drawn_.size() + steps_.size();
}

}  // namespace weft::kernels
