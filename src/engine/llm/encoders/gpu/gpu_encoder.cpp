#include "engine/llm/encoders/gpu/gpu_encoder.h"

#include <algorithm>
#include <cstring>

#include "engine/gpu/readback.h"
#include "engine/llm/encoders/gpu/encoder_program.h"
#include "engine/llm/gpu/gpu_engine.h"

namespace weft::llm {
namespace {

// The most texts of a pass. It bounds the buffer for their vectors, which are read back together.
constexpr std::uint32_t texts_max = 1024;

std::uint32_t rows_of(const gpu::Device& device, const EncoderConfig& config, std::uint32_t rows) {
  const gpu::Limits& limits = device.limits();
  const std::uint64_t bound = std::min(limits.storage_binding_bytes_max, limits.buffer_bytes_max);
  const std::uint64_t widest =
      std::uint64_t{std::max(3 * config.embedding, 2 * config.feed_forward)} * sizeof(float);
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(std::max(rows, config.context), bound / widest));
}

class GpuEncoder final : public Encoder {
 public:
  GpuEncoder(gpu::Device& device, const EncoderConfig& config, GpuEncoderOptions options)
      : device_(device),
        config_(config),
        options_(std::move(options)),
        rows_max_(rows_of(device, config, options_.rows)),
        texts_max_(std::min(texts_max, rows_max_)),
        buffers_(device, encoder_shape(config, rows_max_)),
        vectors_(device.create_buffer(
            {.size = std::uint64_t{texts_max_} * config.embedding * sizeof(float),
             .usage = gpu::BufferUsage::storage | gpu::BufferUsage::copy_source,
             .label = "vectors"})),
        ring_(device,
              {.slots = 1,
               .slot_bytes = std::uint64_t{texts_max_} * config.embedding * sizeof(float)}) {}

  [[nodiscard]] Async<Result<>> load(const EncoderModel& model, const gguf::Source& source);
  const EncoderConfig& config() const override { return config_; }
  std::string device() const override { return device_name(device_); }
  std::size_t rows_together() const override { return std::min(options_.rows, rows_max_); }
  Async<Result<Vectors>> embed(std::vector<std::vector<Token>> texts) override;

 private:
  using Texts = std::span<const std::vector<Token>>;
  // Returns how many of these texts go into one pass; at least 1.
  [[nodiscard]] std::size_t together(Texts texts) const;
  [[nodiscard]] RowCount write(Texts texts) const;
  [[nodiscard]] Async<Result<>> pass(Texts texts, Vectors& out);

  gpu::Device& device_;
  const EncoderConfig config_;
  const GpuEncoderOptions options_;
  const std::uint32_t rows_max_, texts_max_;
  RowBuffers buffers_;
  gpu::Buffer vectors_;  // The shape is [text][embedding].
  std::unique_ptr<EncoderProgram> program_;
  gpu::ReadbackRing ring_;
};

Async<Result<>> GpuEncoder::load(const EncoderModel& model, const gguf::Source& source) {
  device_.push_error_scope(gpu::Device::ErrorFilter::out_of_memory);
  auto program = co_await EncoderProgram::create(
      device_, {.model = model, .source = source, .activations = options_.activations}, buffers_,
      vectors_);
  if (!co_await device_.pop_error_scope())
    co_return fail(ErrorCode::out_of_memory,
                   "The device has no room for the model: choose a smaller one.");
  WEFT_CO_ASSIGN(program_, std::move(program));
  co_return Result<>();
}

std::size_t GpuEncoder::together(Texts texts) const {
  std::size_t rows = texts.front().size(), count = 1;
  while (count < texts.size() && count < texts_max_ &&
         rows + texts[count].size() <= rows_together())
    rows += texts[count++].size();
  return count;
}

RowCount GpuEncoder::write(Texts texts) const {
  std::vector<Token> tokens;
  std::vector<kernels::RowPlace> places;
  std::vector<kernels::Segment> segments;
  for (const std::vector<Token>& text : texts) {
    const auto first = static_cast<std::uint32_t>(tokens.size()),
               rows = static_cast<std::uint32_t>(text.size());
    segments.push_back({.slot = first, .first_row = first, .rows = rows});
    for (std::uint32_t i = 0; i < rows; ++i)
      places.push_back({.slot = first, .position = i, .run = i, .segment_rows = rows});
    tokens.insert(tokens.end(), text.begin(), text.end());
  }
  const auto tiles = kernels::attention_tiles(segments, program_->attention_tuning());
  buffers_.write_tokens(device_, tokens);
  buffers_.write_rows(device_, places, segments);
  device_.write(buffers_.tiles, 0, as_bytes(std::span<const kernels::AttentionTile>(tiles)));
  return {.rows = static_cast<std::uint32_t>(tokens.size()),
          .segments = static_cast<std::uint32_t>(segments.size()),
          .positions = static_cast<std::uint32_t>(tiles.size())};
}

Async<Result<>> GpuEncoder::pass(Texts texts, Vectors& out) {
  const RowCount count = write(texts);
  const std::size_t width = config_.embedding;
  gpu::Encoder encoder = device_.create_encoder("embed");
  {
    gpu::Pass pass = encoder.begin_pass("embed");
    program_->program().record(pass, count);
  }
  WEFT_CO_ASSIGN(gpu::Readback read,
                 ring_.record(encoder, vectors_, 0, texts.size() * width * sizeof(float)));
  device_.submit(std::move(encoder));
  read.begin();
  WEFT_CO_ASSIGN(const ByteSpan bytes, co_await read.bytes());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    std::vector<float>& vector = out.emplace_back(width);
    std::memcpy(vector.data(), bytes.data() + i * width * sizeof(float), width * sizeof(float));
  }
  co_return Result<>();
}

Async<Result<Vectors>> GpuEncoder::embed(std::vector<std::vector<Token>> texts) {
  for (const auto& tokens : texts) {
    WEFT_CO_OK(check_text(config_, tokens));
    if (tokens.size() > rows_max_)
      co_return fail(ErrorCode::resource_exhausted,
                     "The text has {} tokens; the device has room for {}.", tokens.size(),
                     rows_max_);
  }
  Vectors out;
  const Texts all = texts;
  while (out.size() < all.size()) {
    if (options_.between) co_await options_.between();
    if (const auto reason = device_.lost())
      co_return fail(ErrorCode::device_lost, "The GPU was lost: {}", *reason);
    const Texts rest = all.subspan(out.size());
    WEFT_CO_OK(co_await pass(rest.first(together(rest)), out));
  }
  co_return out;
}

}  // namespace

bool gpu_encoder_possible(const EncoderConfig& config) {
  constexpr std::uint32_t head_dim_max = 256;
  return config.head_dim() % 4 == 0 && config.head_dim() <= head_dim_max &&
         config.feed_forward % 4 == 0;
}

Async<Result<std::unique_ptr<Encoder>>> create_gpu_encoder(gpu::Device& device,
                                                           const EncoderModel& model,
                                                           const gguf::Source& source,
                                                           GpuEncoderOptions options) {
  if (!gpu_encoder_possible(model.config))
    co_return fail(ErrorCode::unsupported,
                   "Heads of {} elements and a feed-forward of {} are not supported on a GPU.",
                   model.config.head_dim(), model.config.feed_forward);
  if (rows_of(device, model.config, 1) == 0)
    co_return fail(
        ErrorCode::resource_exhausted,
        "One row of the model's activations is larger than a buffer that the device can bind.");
  auto encoder = std::make_unique<GpuEncoder>(device, model.config, std::move(options));
  WEFT_CO_OK(co_await encoder->load(model, source));
  if (const auto reason = device.lost())
    co_return fail(ErrorCode::device_lost, "The GPU was lost: {}", *reason);
  co_return encoder;
}

}  // namespace weft::llm
