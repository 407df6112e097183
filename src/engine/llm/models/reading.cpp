#include "engine/llm/models/reading.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "common/base/format.h"
#include "engine/gguf/dequantize.h"
#include "engine/llm/models/yarn.h"

namespace weft::llm {
namespace {

std::string shape_text(std::initializer_list<std::uint64_t> shape) {
  std::string text;
  for (const std::uint64_t size : shape) text += (text.empty() ? "" : " x ") + std::to_string(size);
  return text;
}
std::string shape_text(const gguf::Tensor& tensor) {
  std::string text;
  for (std::uint32_t i = 0; i < tensor.dimension_count; ++i)
    text += (text.empty() ? "" : " x ") + std::to_string(tensor.dimensions[i]);
  return text;
}

}  // namespace

Result<std::uint32_t> ModelReader::count(std::string_view name, std::uint64_t max) const {
  WEFT_ASSIGN(const std::uint64_t value, file_.metadata.unsigned_integer(key(name), max));
  if (value == 0)
    return fail(ErrorCode::invalid_argument, "{} is 0; it must be at least 1.", key(name));
  return static_cast<std::uint32_t>(value);
}

Result<std::uint32_t> ModelReader::count_or(std::string_view name, std::uint64_t otherwise,
                                            std::uint64_t max) const {
  if (!file_.metadata.has(key(name))) return static_cast<std::uint32_t>(otherwise);
  return count(name, max);
}

Result<double> ModelReader::number_or(std::string_view name, double otherwise) const {
  return file_.metadata.number_or(key(name), otherwise);
}

Result<Config> ModelReader::common() const {
  Config config;
  config.architecture = architecture_;
  WEFT_ASSIGN(const std::string_view name, file_.metadata.string_or("general.name", ""));
  config.name = name;
  WEFT_ASSIGN(config.layers, count("block_count", layers_max));
  WEFT_ASSIGN(config.embedding, count("embedding_length", width_max));
  WEFT_ASSIGN(config.feed_forward, count("feed_forward_length", width_max));
  WEFT_ASSIGN(config.context, count("context_length", context_max));
  WEFT_ASSIGN(const double epsilon, file_.metadata.number(key("attention.layer_norm_rms_epsilon")));
  if (!(epsilon > 0 && epsilon < 1))
    return fail(ErrorCode::invalid_argument, "{} is {}; it must lie between 0 and 1.",
                key("attention.layer_norm_rms_epsilon"), epsilon);
  config.norm_epsilon = static_cast<float>(epsilon);

  AttentionShape& attention = config.attention;
  WEFT_ASSIGN(attention.heads, count("attention.head_count", heads_max));
  WEFT_ASSIGN(attention.kv_heads, count_or("attention.head_count_kv", attention.heads, heads_max));
  if (attention.heads % attention.kv_heads != 0)
    return fail(ErrorCode::invalid_argument, "{} query heads cannot share {} key heads evenly.",
                attention.heads, attention.kv_heads);
  if (!file_.metadata.has(key("attention.key_length")) && config.embedding % attention.heads != 0)
    return fail(ErrorCode::invalid_argument, "The width {} is not a multiple of the {} heads.",
                config.embedding, attention.heads);
  WEFT_ASSIGN(attention.head_dim,
              count_or("attention.key_length", config.embedding / attention.heads, head_dim_max));
  WEFT_ASSIGN(const std::uint32_t value_dim,
              count_or("attention.value_length", attention.head_dim, head_dim_max));
  if (value_dim != attention.head_dim)
    return fail(ErrorCode::unsupported,
                "Values of {} elements with keys of {} elements are not supported.", value_dim,
                attention.head_dim);
  if (attention.head_dim % 4 != 0)
    return fail(ErrorCode::unsupported,
                "Heads of {} elements are not supported (not a multiple of 4).",
                attention.head_dim);
  attention.scale = 1 / std::sqrt(static_cast<float>(attention.head_dim));
  return config;
}

Result<Rope> ModelReader::rope(Rope::Pairs pairs, std::uint32_t head_dim, std::string_view base_key,
                               double scale) const {
  WEFT_ASSIGN(const std::uint32_t dimensions,
              count_or("rope.dimension_count", head_dim, head_dim_max));
  if (dimensions % 2 != 0 || dimensions > head_dim)
    return fail(ErrorCode::invalid_argument, "{} is {}; it must be even and at most the head's {}.",
                key("rope.dimension_count"), dimensions, head_dim);
  WEFT_ASSIGN(const double base, number_or(base_key, 10000.0));
  if (!(base > 0))
    return fail(ErrorCode::invalid_argument, "{} is {}; it must be above 0.", key(base_key), base);
  Rope rope{.pairs = pairs, .frequencies = {}};
  for (std::uint32_t pair = 0; pair < dimensions / 2; ++pair)
    rope.frequencies.push_back(scale * std::pow(base, -2.0 * pair / dimensions));
  return rope;
}

Result<Rope> ModelReader::yarn_rope(Rope::Pairs pairs, std::uint32_t head_dim) const {
  WEFT_ASSIGN(Rope out, rope(pairs, head_dim, "rope.freq_base", 1));
  WEFT_ASSIGN(const double base, number_or("rope.freq_base", 10000.0));
  Yarn yarn;
  WEFT_ASSIGN(yarn.trained, count("rope.scaling.original_context_length", context_max));
  WEFT_ASSIGN(yarn.factor, number_or("rope.scaling.factor", 1));
  WEFT_ASSIGN(yarn.fast, number_or("rope.scaling.yarn_beta_fast", yarn.fast));
  WEFT_ASSIGN(yarn.slow, number_or("rope.scaling.yarn_beta_slow", yarn.slow));
  WEFT_ASSIGN(yarn.log_multiplier, number_or("rope.scaling.yarn_log_multiplier", 0));
  WEFT_ASSIGN(yarn.attention_factor, number_or("rope.scaling.attn_factor", 1));
  if (!(yarn.factor >= 1 && yarn.factor <= 1e6 && yarn.fast > 0 && yarn.fast <= 1e6 &&
        yarn.slow > 0 && yarn.slow <= 1e6 && base > 1 && yarn.log_multiplier >= 0 &&
        yarn.log_multiplier <= 1e3 && yarn.attention_factor > 0 && yarn.attention_factor <= 1e3))
    return fail(ErrorCode::invalid_argument, "The values of {}* are not valid for YaRN.",
                key("rope.scaling."));
  stretch(out, yarn, base);
  return out;
}

Result<Rope> ModelReader::local_rope(Rope::Pairs pairs, std::uint32_t head_dim) const {
  return rope(pairs, head_dim, "rope.freq_base_swa", 1);
}

Result<Rope> ModelReader::rope(Rope::Pairs pairs, std::uint32_t head_dim) const {
  WEFT_ASSIGN(const std::string_view scaling,
              file_.metadata.string_or(key("rope.scaling.type"), "none"));
  double scale = 1;
  if (scaling == "yarn") return yarn_rope(pairs, head_dim);
  if (scaling == "linear") {
    WEFT_ASSIGN(const double factor, file_.metadata.number(key("rope.scaling.factor")));
    if (!(factor > 0))
      return fail(ErrorCode::invalid_argument, "{} is {}; it must be above 0.",
                  key("rope.scaling.factor"), factor);
    scale = 1 / factor;
  } else if (scaling != "none") {
    return fail(ErrorCode::unsupported,
                "The rope scaling '{}' is not supported; Weft knows 'none', 'linear', 'yarn' and "
                "the factors of rope_freqs.",
                scaling);
  }
  return rope(pairs, head_dim, "rope.freq_base", scale);
}

Result<Weight> ModelReader::tensor(std::string_view name,
                                   std::initializer_list<std::uint64_t> shape) const {
  const gguf::Tensor* found = file_.find_tensor(name);
  if (found == nullptr)
    return fail(ErrorCode::invalid_argument, "The file has no tensor '{}', which {} needs.", name,
                architecture_);
  bool same = true;
  for (std::size_t i = 0; i < gguf::Tensor::dimensions_max; ++i)
    same = same && found->dimensions[i] == (i < shape.size() ? shape.begin()[i] : 1);
  if (!same)
    return fail(ErrorCode::invalid_argument, "Tensor '{}' is {}; the model needs {}.", name,
                shape_text(*found), shape_text(shape));
  if (!gguf::can_dequantize(found->type))
    return fail(ErrorCode::unsupported,
                "Tensor '{}' has the weight format {}, which is not supported.", name,
                gguf::to_string(found->type));
  return found;
}

Result<Weight> ModelReader::tensor(std::uint32_t layer, std::string_view name,
                                   std::initializer_list<std::uint64_t> shape) const {
  return tensor(weft::format("blk.{}.{}", layer, name), shape);
}

Result<Weight> ModelReader::tensor_or_none(std::uint32_t layer, std::string_view name,
                                           std::initializer_list<std::uint64_t> shape) const {
  const std::string full = weft::format("blk.{}.{}", layer, name);
  if (file_.find_tensor(full) == nullptr) return Weight{nullptr};
  return tensor(full, shape);
}

Result<> ModelReader::read_ends(Model& model) const {
  Config& config = model.config;
  const gguf::Tensor* embedding = file_.find_tensor("token_embd.weight");
  if (embedding == nullptr)
    return fail(ErrorCode::invalid_argument,
                "The file has no tensor 'token_embd.weight', which {} needs.", architecture_);
  constexpr std::uint64_t vocabulary_max = 1u << 24;
  if (embedding->rows() == 0 || embedding->rows() > vocabulary_max)
    return fail(ErrorCode::invalid_argument,
                "Tensor 'token_embd.weight' has {} rows; from 1 to {} are possible.",
                embedding->rows(), vocabulary_max);
  config.vocabulary = static_cast<std::uint32_t>(embedding->rows());
  WEFT_ASSIGN(model.token_embedding,
              tensor("token_embd.weight", {config.embedding, config.vocabulary}));
  WEFT_ASSIGN(model.output_norm, tensor("output_norm.weight", {config.embedding}));
  model.output = model.token_embedding;
  if (file_.find_tensor("output.weight") != nullptr) {
    WEFT_ASSIGN(model.output, tensor("output.weight", {config.embedding, config.vocabulary}));
  }
  return {};
}

Result<FeedForward> ModelReader::feed_forward(std::uint32_t layer, const Config& config) const {
  FeedForward out;
  WEFT_ASSIGN(out.gate, tensor(layer, "ffn_gate.weight", {config.embedding, config.feed_forward}));
  WEFT_ASSIGN(out.up, tensor(layer, "ffn_up.weight", {config.embedding, config.feed_forward}));
  WEFT_ASSIGN(out.down, tensor(layer, "ffn_down.weight", {config.feed_forward, config.embedding}));
  return out;
}

Result<ExpertsShape> ModelReader::experts() const {
  ExpertsShape out;
  WEFT_ASSIGN(out.count, count("expert_count", experts_max));
  WEFT_ASSIGN(out.used,
              count("expert_used_count", std::min<std::uint64_t>(out.count, experts_used_max)));
  WEFT_ASSIGN(out.feed_forward, count("expert_feed_forward_length", width_max));
  if (out.feed_forward % 4 != 0)
    return fail(ErrorCode::unsupported, "{} is {}; it must be a multiple of 4.",
                key("expert_feed_forward_length"), out.feed_forward);
  if (std::uint64_t{out.used} * out.feed_forward > width_max)
    return fail(ErrorCode::unsupported,
                "{} experts of {} elements for each position are not supported; at most {} "
                "elements together are.",
                out.used, out.feed_forward, width_max);
  return out;
}

Result<Experts> ModelReader::experts(std::uint32_t layer, const Config& config) const {
  const ExpertsShape& shape = *config.experts;
  Experts out;
  WEFT_ASSIGN(out.router, tensor(layer, "ffn_gate_inp.weight", {config.embedding, shape.count}));
  WEFT_ASSIGN(out.gate, tensor(layer, "ffn_gate_exps.weight",
                               {config.embedding, shape.feed_forward, shape.count}));
  WEFT_ASSIGN(out.up, tensor(layer, "ffn_up_exps.weight",
                             {config.embedding, shape.feed_forward, shape.count}));
  WEFT_ASSIGN(out.down, tensor(layer, "ffn_down_exps.weight",
                               {shape.feed_forward, config.embedding, shape.count}));
  return out;
}

Result<Attention> ModelReader::attention(std::uint32_t layer, const Config& config) const {
  const AttentionShape& shape = config.attention;
  Attention out;
  WEFT_ASSIGN(out.q, tensor(layer, "attn_q.weight", {config.embedding, shape.q_rows()}));
  WEFT_ASSIGN(out.k, tensor(layer, "attn_k.weight", {config.embedding, shape.kv_rows()}));
  WEFT_ASSIGN(out.v, tensor(layer, "attn_v.weight", {config.embedding, shape.kv_rows()}));
  WEFT_ASSIGN(out.output, tensor(layer, "attn_output.weight",
                                 {std::uint64_t{shape.heads} * shape.head_dim, config.embedding}));
  return out;
}

}  // namespace weft::llm
