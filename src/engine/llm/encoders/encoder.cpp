#include "engine/llm/encoders/encoder.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <thread>

#include "common/base/check.h"
#include "engine/kernels/reference/activation.h"
#include "engine/kernels/reference/attention.h"
#include "engine/kernels/reference/rotate.h"
#include "engine/llm/cpu/matrix.h"
#include "engine/llm/cpu/workers.h"

namespace weft::llm {
namespace {

namespace reference = kernels::reference;

// The most positions of a pass of several texts; it bounds the scratch memory.
constexpr std::size_t rows_max = 1024;

Result<std::vector<float>> floats_of(const gguf::Source& source, Weight weight) {
  if (weight == nullptr) return std::vector<float>();
  return read_floats(source, *weight);
}

struct Linear {
  Matrix matrix;
  std::vector<float> bias;

  [[nodiscard]] static Result<Linear> load(const gguf::Source& source, const Affine& weights) {
    Linear out;
    WEFT_ASSIGN(out.matrix, Matrix::load(source, *weights.weight));
    WEFT_ASSIGN(out.bias, floats_of(source, weights.bias));
    return out;
  }
  [[nodiscard]] std::vector<float> operator()(std::span<const float> x, Workers& workers) const {
    std::vector<float> y(x.size() / matrix.columns() * matrix.rows());
    matrix.multiply(x, y, workers);
    if (!bias.empty()) {
      for (std::size_t i = 0; i < y.size(); ++i) y[i] += bias[i % bias.size()];
    }
    return y;
  }
};

struct LayerNorm {
  std::vector<float> weight, bias;

  [[nodiscard]] static Result<LayerNorm> load(const gguf::Source& source, const Affine& weights) {
    LayerNorm out;
    WEFT_ASSIGN(out.weight, floats_of(source, weights.weight));
    WEFT_ASSIGN(out.bias, floats_of(source, weights.bias));
    return out;
  }
  void operator()(std::span<float> rows, float epsilon) const {
    const std::size_t width = weight.size();
    for (std::size_t begin = 0; begin < rows.size(); begin += width) {
      const std::span<float> row = rows.subspan(begin, width);
      double sum = 0, squares = 0;
      for (const float x : row) sum += x;
      const double mean = sum / static_cast<double>(width);
      for (const float x : row) squares += (x - mean) * (x - mean);
      const double scale = 1 / std::sqrt(squares / static_cast<double>(width) + epsilon);
      for (std::size_t i = 0; i < width; ++i)
        row[i] = static_cast<float>((row[i] - mean) * scale) * weight[i] + bias[i];
    }
  }
};

void add(std::span<float> to, std::span<const float> more) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] += more[i];
}

void to_length_1(std::span<float> vector) {
  double squares = 0;
  for (const float x : vector) squares += double{x} * x;
  const double scale = squares > 0 ? 1 / std::sqrt(squares) : 0;
  for (float& x : vector) x = static_cast<float>(x * scale);
}

struct LoadedLayer {
  std::optional<Linear> qkv, q, k, v;
  Linear output, up, down;
  std::optional<Matrix> gate;
  LayerNorm output_norm, layer_norm;
};

class CpuEncoder final : public Encoder {
 public:
  CpuEncoder(const EncoderConfig& config, EncoderOptions options)
      : config_(config), between_(std::move(options.between)), workers_(options.threads) {}

  [[nodiscard]] Result<> load(const EncoderModel& model, const gguf::Source& source);
  [[nodiscard]] const EncoderConfig& config() const override { return config_; }
  [[nodiscard]] std::string device() const override { return "cpu"; }
  [[nodiscard]] std::size_t rows_together() const override { return rows_max; }
  [[nodiscard]] Async<Result<Vectors>> embed(std::vector<std::vector<Token>> texts) override;

 private:
  [[nodiscard]] std::vector<float> begin(std::span<const std::vector<Token>> texts) const;
  void run(const LoadedLayer& layer, std::span<const std::size_t> begins, std::span<float> hidden);
  [[nodiscard]] std::vector<float> attend(const LoadedLayer& layer,
                                          std::span<const std::size_t> begins,
                                          std::span<const float> x);
  [[nodiscard]] std::vector<float> pool(std::span<const float> rows) const;

  const EncoderConfig config_;
  const std::function<Async<>()> between_;
  Workers workers_;
  Matrix tokens_;
  std::vector<float> type_, positions_;  // positions_ is empty if the model has rotary positions.
  LayerNorm norm_;
  std::vector<LoadedLayer> layers_;
};

Result<> CpuEncoder::load(const EncoderModel& model, const gguf::Source& source) {
  WEFT_ASSIGN(tokens_, Matrix::load(source, *model.token_embedding));
  WEFT_ASSIGN(type_, floats_of(source, model.token_types));
  type_.resize(std::min<std::size_t>(type_.size(), config_.embedding));
  WEFT_ASSIGN(positions_, floats_of(source, model.position_embedding));
  WEFT_ASSIGN(norm_, LayerNorm::load(source, model.embedding_norm));
  for (const EncoderLayer& weights : model.layers) {
    LoadedLayer& layer = layers_.emplace_back();
    if (weights.qkv.weight != nullptr) {
      WEFT_ASSIGN(layer.qkv, Linear::load(source, weights.qkv));
    } else {
      WEFT_ASSIGN(layer.q, Linear::load(source, weights.q));
      WEFT_ASSIGN(layer.k, Linear::load(source, weights.k));
      WEFT_ASSIGN(layer.v, Linear::load(source, weights.v));
    }
    WEFT_ASSIGN(layer.output, Linear::load(source, weights.output));
    WEFT_ASSIGN(layer.up, Linear::load(source, weights.up));
    WEFT_ASSIGN(layer.down, Linear::load(source, weights.down));
    if (weights.gate != nullptr) {
      WEFT_ASSIGN(layer.gate, Matrix::load(source, *weights.gate));
    }
    WEFT_ASSIGN(layer.output_norm, LayerNorm::load(source, weights.output_norm));
    WEFT_ASSIGN(layer.layer_norm, LayerNorm::load(source, weights.layer_norm));
  }
  return {};
}

std::vector<float> CpuEncoder::begin(std::span<const std::vector<Token>> texts) const {
  const std::size_t width = config_.embedding;
  std::size_t rows = 0;
  for (const auto& tokens : texts) rows += tokens.size();
  std::vector<float> hidden(rows * width);
  std::size_t row = 0;
  for (const auto& tokens : texts) {
    for (std::size_t position = 0; position < tokens.size(); ++position, ++row) {
      const std::span<float> out = std::span(hidden).subspan(row * width, width);
      tokens_.row(static_cast<std::size_t>(tokens[position]), out);
      if (!type_.empty()) add(out, type_);
      if (!positions_.empty()) add(out, std::span(positions_).subspan(position * width, width));
    }
  }
  norm_(hidden, config_.norm_epsilon);
  return hidden;
}

// `begins` has the row at which each text begins, and at its end the number of all rows.
std::vector<float> CpuEncoder::attend(const LoadedLayer& layer, std::span<const std::size_t> begins,
                                      std::span<const float> x) {
  const std::size_t width = config_.embedding, dim = config_.head_dim(), rows = begins.back();
  std::vector<float> q, k, v;
  std::size_t stride = width;
  if (layer.qkv) {
    stride = 3 * width;
    q = (*layer.qkv)(x, workers_);
  } else {
    q = (*layer.q)(x, workers_);
    k = (*layer.k)(x, workers_);
    v = (*layer.v)(x, workers_);
  }
  float* const queries = q.data();
  float* const keys = layer.qkv ? q.data() + width : k.data();
  const float* const values = layer.qkv ? q.data() + 2 * width : v.data();
  std::vector<float> mixed(rows * width);
  const float scale = 1 / std::sqrt(static_cast<float>(dim));
  const auto turn = [&](float* head, std::size_t position) {
    if (!config_.rope.frequencies.empty())
      reference::rotate({head, dim}, config_.rope.frequencies, static_cast<std::uint32_t>(position),
                        reference::RotaryPairs::halves);
  };
  // A task is one head of one text.
  const std::size_t texts = begins.size() - 1;
  workers_.share(texts * config_.heads, [&](std::size_t begin, std::size_t end) {
    std::vector<float> scores;
    for (std::size_t task = begin; task < end; ++task) {
      const std::size_t text = task / config_.heads, offset = task % config_.heads * dim;
      const std::size_t first = begins[text], count = begins[text + 1] - first;
      scores.resize(count);
      for (std::size_t i = 0; i < count; ++i) {
        turn(queries + (first + i) * stride + offset, i);
        turn(keys + (first + i) * stride + offset, i);
      }
      for (std::size_t i = 0; i < count; ++i) {
        reference::attention({queries + (first + i) * stride + offset, dim},
                             {keys + first * stride + offset, stride, count},
                             {values + first * stride + offset, stride, count}, scale, scores,
                             std::span(mixed).subspan((first + i) * width + offset, dim));
      }
    }
  });
  return layer.output(mixed, workers_);
}

void CpuEncoder::run(const LoadedLayer& layer, std::span<const std::size_t> begins,
                     std::span<float> hidden) {
  add(hidden, attend(layer, begins, hidden));
  layer.output_norm(hidden, config_.norm_epsilon);
  std::vector<float> up = layer.up(hidden, workers_);
  if (layer.gate) {
    std::vector<float> gate(up.size());
    layer.gate->multiply(hidden, gate, workers_);
    reference::swiglu(gate, up, up);
  } else {
    for (float& x : up) x = reference::gelu(x);
  }
  add(hidden, layer.down(up, workers_));
  layer.layer_norm(hidden, config_.norm_epsilon);
}

std::vector<float> CpuEncoder::pool(std::span<const float> rows) const {
  const std::size_t width = config_.embedding, count = rows.size() / width;
  std::vector<float> out(width);
  switch (config_.pooling) {
    case Pooling::first:
      std::ranges::copy(rows.first(width), out.begin());
      break;
    case Pooling::last:
      std::ranges::copy(rows.last(width), out.begin());
      break;
    case Pooling::mean:
      for (std::size_t i = 0; i < rows.size(); ++i)
        out[i % width] += rows[i] / static_cast<float>(count);
      break;
  }
  to_length_1(out);
  return out;
}

Async<Result<Vectors>> CpuEncoder::embed(std::vector<std::vector<Token>> texts) {
  for (const auto& tokens : texts) WEFT_CO_OK(check_text(config_, tokens));
  const std::size_t width = config_.embedding;
  const std::span<const std::vector<Token>> all = texts;
  Vectors out;
  while (out.size() < all.size()) {
    std::vector<std::size_t> begins{0};
    const std::size_t first = out.size();
    std::size_t count = 0;
    while (first + count < all.size() &&
           (count == 0 || begins.back() + all[first + count].size() <= rows_max)) {
      begins.push_back(begins.back() + all[first + count].size());
      ++count;
    }
    std::vector<float> hidden = begin(all.subspan(first, count));
    for (const LoadedLayer& layer : layers_) {
      if (between_) co_await between_();
      run(layer, begins, hidden);
    }
    for (std::size_t i = 0; i < count; ++i)
      out.push_back(
          pool(std::span(hidden).subspan(begins[i] * width, (begins[i + 1] - begins[i]) * width)));
  }
  co_return out;
}

}  // namespace

Result<std::unique_ptr<Encoder>> Encoder::create(const EncoderModel& model,
                                                 const gguf::Source& source,
                                                 EncoderOptions options) {
  if (options.threads == 0) options.threads = std::max(1u, std::thread::hardware_concurrency());
  auto encoder = std::make_unique<CpuEncoder>(model.config, std::move(options));
  WEFT_OK(encoder->load(model, source));
  return encoder;
}

Result<> check_text(const EncoderConfig& config, std::span<const Token> tokens) {
  if (tokens.empty())
    return fail(ErrorCode::invalid_argument, "A text without tokens has no vector.");
  if (tokens.size() > config.context)
    return fail(ErrorCode::invalid_argument, "The text has {} tokens; the model reads at most {}.",
                tokens.size(), config.context);
  for (const Token token : tokens) {
    if (token < 0 || static_cast<std::uint32_t>(token) >= config.vocabulary)
      return fail(ErrorCode::invalid_argument, "The token {} is not one of the model's {} tokens.",
                  token, config.vocabulary);
  }
  return {};
}

std::vector<float> shortened(std::span<const float> vector, std::size_t dimensions) {
  check(dimensions > 0 && dimensions <= vector.size(), "dimensions are within the vector");
  std::vector<float> out(vector.begin(), vector.begin() + static_cast<std::ptrdiff_t>(dimensions));
  to_length_1(out);
  return out;
}

}  // namespace weft::llm
