// Scaled dot-product attention and rotary embeddings.
#include "engine/onnx/operators/attention.h"

#include <cmath>
#include <limits>

#include "engine/onnx/operators/operator.h"
#include "engine/onnx/operators/walk.h"

namespace weft::onnx {
namespace {

// Past and present keys or values, joined in this order as [batch][heads][length][size].
struct Cached {
  Heads heads;
  std::vector<float> values;
};
Result<Cached> joined(const Call& call, std::size_t input, std::size_t past, bool shapes_only) {
  WEFT_ASSIGN(const Heads now, heads_of(call, input, "kv_num_heads"));
  const Tensor* before = call.optional_input(past);
  std::int64_t old = 0;
  if (before != nullptr) {
    const Shape& shape = before->shape();
    if (shape.size() != 4 || shape[0] != now.batch || shape[1] != now.heads ||
        shape[3] != now.size || before->type() != call.input(input).type())
      return call.error("the past of shape {} does not fit input {} of shape {}.", to_string(shape),
                        input, to_string(call.input(input).shape()));
    old = shape[2];
  }
  Cached out{.heads = now, .values = {}};
  out.heads.flat = false;
  out.heads.length += old;
  if (shapes_only) return out;
  const std::vector<float> fresh = floats_of(call.input(input));
  const std::vector<float> kept = before == nullptr ? std::vector<float>() : floats_of(*before);
  out.values.resize(static_cast<std::size_t>(now.batch * now.heads * out.heads.length * now.size));
  for (std::int64_t b = 0; b < now.batch; ++b)
    for (std::int64_t h = 0; h < now.heads; ++h)
      for (std::int64_t i = 0; i < out.heads.length; ++i)
        for (std::int64_t k = 0; k < now.size; ++k)
          out.values[out.heads.place(b, h, i, k)] =
              i < old
                  ? kept[static_cast<std::size_t>(((b * now.heads + h) * old + i) * now.size + k)]
                  : fresh[now.place(b, h, i - old, k)];
  return out;
}

// The number that is added to a score: the number of the mask, or -infinity for a key that the mask
// forbids.
class Mask {
 public:
  static Result<Mask> create(const Call& call, const Heads& q, std::int64_t keys,
                             bool shapes_only) {
    Mask mask;
    const Tensor* given = call.optional_input(3);
    if (given == nullptr) return mask;
    if (!is_float(given->type()) && given->type() != ElementType::boolean) return call.bad_type(3);
    Shape shape = given->shape();
    if (shape.empty()) return call.error("its mask must have dimensions.");
    // If there are fewer columns than keys, the other keys are masked out.
    mask.columns_ = shape.back();
    if (mask.columns_ > keys)
      return call.error("its mask of shape {} is wider than {} keys.", to_string(shape), keys);
    if (mask.columns_ == 1) mask.columns_ = keys;
    Shape target = {q.batch, q.heads, q.length, mask.columns_};
    const auto wide = broadcast(shape, target);
    if (!wide || *wide != target)
      return call.error("its mask of shape {} does not fit {}.", to_string(shape),
                        to_string(target));
    mask.strides_ = broadcast_strides(shape, target);
    if (shapes_only) return mask;
    if (given->type() == ElementType::boolean) {
      for (const Truth value : given->values<Truth>())
        mask.values_.push_back(static_cast<bool>(value) ? 0 : -infinity);
    } else {
      mask.values_ = floats_of(*given);
    }
    return mask;
  }
  [[nodiscard]] float at(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t k) const {
    if (strides_.empty()) return 0;
    if (k >= columns_) return -infinity;
    return values_[static_cast<std::size_t>(b * strides_[0] + h * strides_[1] + i * strides_[2] +
                                            k * strides_[3])];
  }
  static constexpr float infinity = std::numeric_limits<float>::infinity();

 private:
  Shape strides_;
  std::int64_t columns_ = 0;
  std::vector<float> values_;
};

Result<> run_attention(Call& call) {
  for (const std::size_t i : {0, 1, 2})
    if (!is_float(call.input(i).type())) return call.bad_type(i);
  WEFT_ASSIGN(const Heads q, heads_of(call, 0, "q_num_heads"));
  WEFT_ASSIGN(const Cached key, joined(call, 1, 4, call.shapes_only()));
  WEFT_ASSIGN(const Cached value, joined(call, 2, 5, call.shapes_only()));
  const Heads &kh = key.heads, &vh = value.heads;
  if (kh.batch != q.batch || vh.batch != q.batch || kh.size != q.size || kh.length != vh.length ||
      kh.heads != vh.heads || kh.heads < 1 || q.heads % kh.heads != 0)
    return call.error("queries {}, keys {} and values {} do not fit.",
                      to_string(call.input(0).shape()), to_string(call.input(1).shape()),
                      to_string(call.input(2).shape()));
  WEFT_ASSIGN(const Mask mask, Mask::create(call, q, kh.length, call.shapes_only()));
  const ElementType type = call.input(0).type();
  Shape shape = q.flat ? Shape{q.batch, q.length, q.heads * vh.size}
                       : Shape{q.batch, q.heads, q.length, vh.size};
  WEFT_ASSIGN(Tensor * out, call.make(0, type, std::move(shape)));
  Tensor *present_key = nullptr, *present_value = nullptr, *scores_out = nullptr;
  if (call.wants(1)) {
    WEFT_ASSIGN(present_key,
                call.make(1, call.input(1).type(), {kh.batch, kh.heads, kh.length, kh.size}));
  }
  if (call.wants(2)) {
    WEFT_ASSIGN(present_value,
                call.make(2, call.input(2).type(), {vh.batch, vh.heads, vh.length, vh.size}));
  }
  if (call.wants(3)) {
    WEFT_ASSIGN(scores_out, call.make(3, type, {q.batch, q.heads, q.length, kh.length}));
  }
  std::vector<std::int64_t> valid;  // Number of keys of each batch that are not padding.
  if (call.optional_input(6) != nullptr && !call.shapes_only()) {
    WEFT_ASSIGN(valid, call.integers_of(6));
    if (static_cast<std::int64_t>(valid.size()) != q.batch)
      return call.error("{} lengths are given for {} batches.", valid.size(), q.batch);
  }
  if (call.shapes_only()) return {};
  if (present_key != nullptr) store_floats(*present_key, key.values);
  if (present_value != nullptr) store_floats(*present_value, value.values);

  const bool causal = call.integer("is_causal", 0) != 0;
  const Tensor* past = call.optional_input(4);
  const float softcap = call.number("softcap", 0);
  const std::int64_t mode = call.integer("qk_matmul_output_mode", 0);
  const double scale =
      call.has("scale") ? call.number("scale", 1) : 1 / std::sqrt(static_cast<double>(q.size));
  const std::vector<float> queries = floats_of(call.input(0));
  std::vector<float> result(static_cast<std::size_t>(out->count()));
  std::vector<float> kept(scores_out == nullptr ? 0
                                                : static_cast<std::size_t>(scores_out->count()));
  Heads to = q;
  to.size = vh.size;
  std::vector<double> row(static_cast<std::size_t>(kh.length));
  for (std::int64_t b = 0; b < q.batch; ++b) {
    // The number of keys before the first query.
    std::int64_t offset = past != nullptr ? past->shape()[2] : 0;
    if (past == nullptr && !valid.empty()) offset = valid[static_cast<std::size_t>(b)] - q.length;
    for (std::int64_t h = 0; h < q.heads; ++h)
      for (std::int64_t i = 0; i < q.length; ++i) {
        const std::int64_t group = h / (q.heads / kh.heads);
        const auto keep = [&](std::int64_t when, std::int64_t k, double score) {
          if (scores_out != nullptr && mode == when)
            kept[static_cast<std::size_t>(((b * q.heads + h) * q.length + i) * kh.length + k)] =
                static_cast<float>(score);
        };
        double largest = -Mask::infinity;
        for (std::int64_t k = 0; k < kh.length; ++k) {
          double score = 0;
          for (std::int64_t d = 0; d < q.size; ++d)
            score += static_cast<double>(queries[q.place(b, h, i, d)]) *
                     key.values[kh.place(b, group, k, d)];
          score *= scale;
          keep(0, k, score);
          if (softcap > 0) score = std::tanh(score / softcap) * softcap;
          keep(1, k, score);
          const bool hidden = (causal && k > i + offset) ||
                              (!valid.empty() && k >= valid[static_cast<std::size_t>(b)]);
          const float bias = mask.at(b, h, i, k);
          score = hidden ? -Mask::infinity : score + bias;
          keep(2, k, score);
          row[static_cast<std::size_t>(k)] = score;
          largest = std::max(largest, score);
        }
        // A row without a visible key becomes zeros.
        double sum = 0;
        for (double& score : row) {
          score = largest == -Mask::infinity ? 0 : std::exp(score - largest);
          sum += score;
        }
        for (std::int64_t k = 0; k < kh.length; ++k) {
          double& weight = row[static_cast<std::size_t>(k)];
          weight = sum == 0 ? 0 : weight / sum;
          keep(3, k, weight);
        }
        for (std::int64_t d = 0; d < vh.size; ++d) {
          double total = 0;
          for (std::int64_t k = 0; k < kh.length; ++k) {
            const double weight = row[static_cast<std::size_t>(k)];
            // The value of a hidden key is skipped because it may be anything, even NaN.
            if (weight != 0) total += weight * value.values[vh.place(b, group, k, d)];
          }
          result[to.place(b, h, i, d)] = static_cast<float>(total);
        }
      }
  }
  store_floats(*out, result);
  if (scores_out != nullptr) store_floats(*scores_out, kept);
  return {};
}

// Rotates pairs of elements by the angle of their position; the inputs hold the cosines and sines
// of the angles.
Result<> run_rotary_embedding(Call& call) {
  const Tensor &x = call.input(0), &cosines = call.input(1), &sines = call.input(2);
  const Tensor* positions = call.optional_input(3);
  for (const std::size_t i : {0, 1, 2})
    if (!is_float(call.input(i).type())) return call.bad_type(i);
  WEFT_ASSIGN(const Heads heads, heads_of(call, 0, "num_heads"));
  std::int64_t turned = call.integer("rotary_embedding_dim", 0);
  if (turned == 0) turned = heads.size;
  const std::int64_t half = turned / 2;
  const bool fits =
      turned > 0 && turned <= heads.size && turned % 2 == 0 && cosines.shape() == sines.shape() &&
      !cosines.shape().empty() && cosines.shape().back() == half &&
      (positions != nullptr
           ? cosines.rank() == 2 && positions->shape() == Shape{heads.batch, heads.length}
           : cosines.shape() == Shape{heads.batch, heads.length, half});
  if (!fits)
    return call.error("caches of shapes {} and {} do not fit the input {}.",
                      to_string(cosines.shape()), to_string(sines.shape()), to_string(x.shape()));
  WEFT_ASSIGN(Tensor * out, call.make(0, x.type(), x.shape()));
  if (call.shapes_only()) return {};
  const bool interleaved = call.integer("interleaved", 0) != 0;
  const std::vector<float> cosine = floats_of(cosines), sine = floats_of(sines);
  std::vector<float> values = floats_of(x);
  std::vector<std::int64_t> rows;
  if (positions != nullptr) {
    WEFT_ASSIGN(rows, call.integers_of(3));
  }
  for (std::int64_t b = 0; b < heads.batch; ++b)
    for (std::int64_t i = 0; i < heads.length; ++i) {
      std::int64_t row = b * heads.length + i;
      if (positions != nullptr) {
        row = rows[static_cast<std::size_t>(row)];
        if (row < 0 || row >= cosines.shape()[0])
          return call.error("the position {} lies outside of a cache of {}.", row,
                            cosines.shape()[0]);
      }
      for (std::int64_t h = 0; h < heads.heads; ++h)
        for (std::int64_t k = 0; k < half; ++k) {
          const auto angle = static_cast<std::size_t>(row * half + k);
          float& first = values[heads.place(b, h, i, interleaved ? 2 * k : k)];
          float& second = values[heads.place(b, h, i, interleaved ? 2 * k + 1 : k + half)];
          const float real = cosine[angle] * first - sine[angle] * second;
          second = sine[angle] * first + cosine[angle] * second;
          first = real;
        }
    }
  store_floats(*out, values);
  return {};
}

}  // namespace

Result<Heads> heads_of(const Call& call, std::size_t input, std::string_view count) {
  const Shape& shape = call.input(input).shape();
  if (shape.size() == 4) return Heads{shape[0], shape[1], shape[2], shape[3], false};
  const std::int64_t heads = call.integer(count, 0);
  if (shape.size() != 3 || heads < 1 || shape[2] % heads != 0)
    return call.error("input {} of shape {} cannot be cut into {} heads.", input, to_string(shape),
                      heads);
  return Heads{shape[0], heads, shape[1], shape[2] / heads, true};
}

std::span<const Operator> attention_operators() {
  static constexpr Operator rows[] = {
      {"Attention", run_attention, 3, 7, 4,
       "is_causal:i kv_num_heads:i q_num_heads:i qk_matmul_output_mode:i scale:f softcap:f "
       "softmax_precision:i"},
      {"RotaryEmbedding", run_rotary_embedding, 3, 4, 1,
       "interleaved:i num_heads:i rotary_embedding_dim:i"},
  };
  return rows;
}

}  // namespace weft::onnx
