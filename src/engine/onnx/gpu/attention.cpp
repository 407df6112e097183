// Kernels of attention and rotary embeddings.
#include "engine/onnx/operators/attention.h"

#include <bit>
#include <cmath>

#include "engine/onnx/gpu/kernel.h"
#include "engine/onnx/gpu/team.h"
#include "engine/onnx/operators/walk.h"

namespace weft::onnx {
namespace {

constexpr std::int64_t value_size_max = 1024;  // A thread keeps at most sixteen sums.

std::string float_text(float value) {
  return weft::format("bitcast<f32>({}u)", std::bit_cast<std::uint32_t>(value));
}

// Returns the index of an element of a tensor of heads, from names of its batch, head, position and
// component.
std::string head_index(const Heads& heads, std::string_view b, std::string_view h,
                       std::string_view i, std::string_view k) {
  return heads.flat ? weft::format("(({} * {}u + {}) * {}u + {}) * {}u + {}", b, heads.length, i,
                                   heads.heads, h, heads.size, k)
                    : weft::format("(({} * {}u + {}) * {}u + {}) * {}u + {}", b, heads.heads, h,
                                   heads.length, i, heads.size, k);
}

// The parts of an attention kernel's text that read inputs: scores, masks, past keys and values.
class AttentionText {
 public:
  AttentionText(const KernelContext& context, const Node& node, const Call& call)
      : context_(context), node_(node), call_(call) {}

  // Plans the kernel. Returns false if there is no kernel for the node.
  bool plan() {
    const auto q = heads_of(call_, 0, "q_num_heads"), k = heads_of(call_, 1, "kv_num_heads"),
               v = heads_of(call_, 2, "kv_num_heads");
    if (!q || !k || !v || v->size > value_size_max) return false;
    q_ = *q;
    k_ = *k;
    v_ = *v;
    if (const Tensor* past = call_.optional_input(4)) old_keys_ = past->shape()[2];
    if (const Tensor* past = call_.optional_input(5)) old_values_ = past->shape()[2];
    return q_.batch * q_.heads * q_.length * v_.size > 0 && keys() > 0;
  }
  [[nodiscard]] std::int64_t keys() const { return k_.length + old_keys_; }
  [[nodiscard]] std::int64_t rows() const { return q_.batch * q_.heads * q_.length; }
  [[nodiscard]] const Heads& queries() const { return q_; }
  [[nodiscard]] const Heads& values() const { return v_; }

  // Adds the WGSL functions `raw_score`, `capped_score` and `score` with the arguments (b, h, i,
  // k).
  void add_scores(KernelText& text) const {
    const std::string query = input(text, 0), key = input(text, 1);
    const std::string size = std::to_string(q_.size);
    const float scale =
        static_cast<float>(call_.has("scale") ? call_.number("scale", 1)
                                              : 1 / std::sqrt(static_cast<double>(q_.size)));
    std::string out = "fn raw_score(b: u32, h: u32, i: u32, k: u32) -> f32 {\n";
    out += weft::format("  let g = h / {}u;\n  var score = 0.0;\n", q_.heads / k_.heads);
    const std::string from = query + "[" + head_index(q_, "b", "h", "i", "d") + "]";
    if (old_keys_ > 0) {
      const std::string past = input(text, 4);
      out += weft::format(
          "  if (k < {0}u) {{\n    for (var d = 0u; d < {1}u; d++) {{ score += {2} * {3}[{4}]; }}\n"
          "    return score * {5};\n  }}\n",
          old_keys_, size, from, past,
          head_index({q_.batch, k_.heads, old_keys_, k_.size, false}, "b", "g", "k", "d"),
          float_text(scale));
    }
    out += weft::format(
        "  let fresh = k - {0}u;\n  for (var d = 0u; d < {1}u; d++) {{ score += {2} * {3}[{4}]; "
        "}}\n"
        "  return score * {5};\n}}\n",
        old_keys_, size, from, key, head_index(k_, "b", "g", "fresh", "d"), float_text(scale));
    const float cap = call_.number("softcap", 0);
    out +=
        "fn capped_score(b: u32, h: u32, i: u32, k: u32) -> f32 {\n  let score = raw_score(b, h, "
        "i, k);\n";
    out += cap > 0 ? weft::format("  return tanh(clamp(score / {0}, -15.0, 15.0)) * {0};\n}}\n",
                                  float_text(cap))
                   : "  return score;\n}\n";
    out +=
        "fn score(b: u32, h: u32, i: u32, k: u32) -> f32 {\n"
        "  let nothing = bitcast<f32>(0xff800000u | (k & 0u));\n";
    const bool causal = call_.integer("is_causal", 0) != 0;
    const bool bounded = call_.optional_input(6) != nullptr;
    if (bounded) {
      const std::string lengths = input(text, 6);
      out += weft::format(
          "  let valid = i32({}[b]);\n  if (i32(k) >= valid) {{ return nothing; }}\n", lengths);
    }
    if (causal) {
      const bool from_valid = call_.optional_input(4) == nullptr && bounded;
      out += weft::format(
          "  if (i32(k) > i32(i) + {}) {{ return nothing; }}\n",
          from_valid ? weft::format("valid - {}", q_.length) : std::to_string(old_keys_));
    }
    const Tensor* mask = call_.optional_input(3);
    if (mask == nullptr) {
      out += "  return capped_score(b, h, i, k);\n}\n";
    } else {
      const std::int64_t columns = mask->shape().back() == 1 ? keys() : mask->shape().back();
      const Shape strides =
          broadcast_strides(mask->shape(), {q_.batch, q_.heads, q_.length, columns});
      if (columns < keys()) out += weft::format("  if (k >= {}u) {{ return nothing; }}\n", columns);
      const std::string at =
          weft::format("{}[b * {}u + h * {}u + i * {}u + k * {}u]", input(text, 3), strides[0],
                       strides[1], strides[2], strides[3]);
      out += mask->type() == ElementType::boolean
                 ? weft::format(
                       "  if ({} == 0u) {{ return nothing; }}\n"
                       "  return capped_score(b, h, i, k);\n}}\n",
                       at)
                 : weft::format("  return capped_score(b, h, i, k) + {};\n}}\n", at);
    }
    text.helper(out);
  }

  // Adds the WGSL function `value` with the arguments (b, h, k, d).
  void add_values(KernelText& text) const {
    const std::string fresh = input(text, 2);
    std::string out =
        weft::format("fn value(b: u32, h: u32, k: u32, d: u32) -> f32 {{\n  let g = h / {}u;\n",
                     q_.heads / v_.heads);
    if (old_values_ > 0) {
      const std::string past = input(text, 5);
      out += weft::format(
          "  if (k < {}u) {{ return {}[{}]; }}\n", old_values_, past,
          head_index({q_.batch, v_.heads, old_values_, v_.size, false}, "b", "g", "k", "d"));
    }
    out += weft::format("  let fresh = k - {}u;\n  return {}[{}];\n}}\n", old_values_, fresh,
                        head_index(v_, "b", "g", "fresh", "d"));
    text.helper(out);
  }

  // The kernel that joins past and new keys or values as [batch][heads][length][size].
  [[nodiscard]] Kernel present(std::size_t from, std::size_t past, ValueId to) const {
    const Heads& now = from == 1 ? k_ : v_;
    const std::int64_t old = from == 1 ? old_keys_ : old_values_;
    KernelText text;
    const std::string fresh = input(text, from);
    const std::string before = old > 0 ? input(text, past) : "";
    const std::string out = text.output(to, context_.tensor(to).type());
    const std::int64_t length = now.length + old;
    std::string body = weft::format(
        "  let d = i % {0}u;\n  let k = i / {0}u % {1}u;\n  let g = i / {2}u % {3}u;\n"
        "  let b = i / {4}u;\n",
        now.size, length, now.size * length, now.heads, now.size * length * now.heads);
    if (old > 0)
      body += weft::format(
          "  if (k < {}u) {{ {}[i] = {}[{}]; return; }}\n", old, out, before,
          head_index({now.batch, now.heads, old, now.size, false}, "b", "g", "k", "d"));
    body += weft::format("  let place = k - {}u;\n  {}[i] = {}[{}];\n", old, out, fresh,
                         head_index(now, "b", "g", "place", "d"));
    return text.build(node_.op + " present",
                      static_cast<std::uint64_t>(now.batch * now.heads * length * now.size), body);
  }

 private:
  std::string input(KernelText& text, std::size_t i) const {
    return text.input(node_.inputs[i], call_.input(i).type());
  }
  const KernelContext& context_;
  const Node& node_;
  const Call& call_;
  Heads q_, k_, v_;
  std::int64_t old_keys_ = 0;
  std::int64_t old_values_ = 0;
};

std::string row_names(const Heads& q, std::string_view row) {
  return weft::format(
      "  let b = {0} / {1}u;\n  let h = {0} / {2}u % {3}u;\n  let place = {0} % {2}u;\n", row,
      q.heads * q.length, q.length, q.heads);
}

// The kernel that computes the results. A workgroup computes one query. It processes 64 keys at a
// time: each thread computes the score of one key, and then each thread adds up its components of
// the values. The sums are scaled again whenever a larger score is found.
Kernel result_kernel(const KernelContext& context, const Node& node, const AttentionText& about) {
  KernelText text;
  about.add_scores(text);
  about.add_values(text);
  const Heads &q = about.queries(), &v = about.values();
  const std::string out = text.output(node.outputs[0], context.tensor(node.outputs[0]).type());
  const std::int64_t sums = (v.size + 63) / 64;
  std::string body = row_names(q, "group");
  body += weft::format("  var largest = {};\n  var sum = 0.0;\n", lowest);
  for (std::int64_t s = 0; s < sums; ++s) body += weft::format("  var sum{} = 0.0;\n", s);
  body += weft::format(
      "  for (var first = 0u; first < {0}u; first += 64u) {{\n    let k = first + lane;\n"
      "    var here = {1};\n    if (k < {0}u) {{ here = score(b, h, place, k); }}\n"
      "    let next = max(largest, team_max(here, lane));\n"
      "    let weight = select(0.0, exp(here - next), here > -3.0e38);\n"
      "    let change = exp(largest - next);\n"
      "    sum = sum * change + team_sum(weight, lane);\n"
      "    weights[lane] = weight;\n    workgroupBarrier();\n",
      about.keys(), lowest);
  for (std::int64_t s = 0; s < sums; ++s) body += weft::format("    sum{} *= change;\n", s);
  body += weft::format(
      "    for (var t = 0u; t < min(64u, {}u - first); t++) {{\n      let w = weights[t];\n"
      "      if (w == 0.0) {{ continue; }}\n",
      about.keys());
  for (std::int64_t s = 0; s < sums; ++s)
    body += weft::format(
        "      if (lane + {0}u < {1}u) {{ sum{2} += w * value(b, h, first + t, lane + {0}u); }}\n",
        s * 64, v.size, s);
  body += "    }\n    workgroupBarrier();\n    largest = next;\n  }\n";
  Heads to = q;
  to.size = v.size;
  for (std::int64_t s = 0; s < sums; ++s)
    body += weft::format(
        "  {{\n    let d = lane + {}u;\n    if (d < {}u) {{ {}[{}] = select(sum{} / sum, 0.0, sum "
        "== 0.0); }}\n  }}\n",
        s * 64, v.size, out, head_index(to, "b", "h", "place", "d"), s);
  return text.build_groups(node.op, static_cast<std::uint64_t>(about.rows()),
                           std::string(team_text) + "var<workgroup> weights: array<f32, 64>;\n",
                           body);
}

Kernel scores_kernel(const KernelContext& context, const Node& node, const Call& call,
                     const AttentionText& about) {
  KernelText text;
  about.add_scores(text);
  const std::string out = text.output(node.outputs[3], context.tensor(node.outputs[3]).type());
  const std::int64_t mode = call.integer("qk_matmul_output_mode", 0), keys = about.keys();
  if (mode != 3) {
    std::string body = weft::format("  let row = i / {0}u;\n  let k = i % {0}u;\n", keys);
    body += row_names(about.queries(), "row");
    body += weft::format("  {}[i] = {}(b, h, place, k);\n", out,
                         mode == 0   ? "raw_score"
                         : mode == 1 ? "capped_score"
                                     : "score");
    return text.build(node.op + " scores", static_cast<std::uint64_t>(about.rows() * keys), body);
  }
  std::string body = row_names(about.queries(), "group");
  const std::string each = weft::format("  for (var k = lane; k < {}u; k += 64u) {{ ", keys);
  body += weft::format("  var here = {};\n", lowest) + each +
          "here = max(here, score(b, h, place, k)); }\n"
          "  let largest = team_max(here, lane);\n  var sum_here = 0.0;\n" +
          each +
          "let s = score(b, h, place, k); sum_here += select(0.0, exp(s - largest), s > -3.0e38); "
          "}\n  let sum = team_sum(sum_here, lane);\n" +
          each +
          weft::format(
              "let s = score(b, h, place, k); {}[group * {}u + k] = select(0.0, exp(s - "
              "largest) / sum, s > -3.0e38); }}\n",
              out, keys);
  return text.build_groups(node.op + " scores", static_cast<std::uint64_t>(about.rows()), team_text,
                           body);
}

MaybeKernels scaled_product_kernels(const KernelContext& context, const Node& node,
                                    const Call& call) {
  AttentionText about(context, node, call);
  if (!about.plan()) return std::nullopt;
  std::vector<Kernel> kernels;
  if (call.wants(1)) kernels.push_back(about.present(1, 4, node.outputs[1]));
  if (call.wants(2)) kernels.push_back(about.present(2, 5, node.outputs[2]));
  if (call.wants(3)) kernels.push_back(scores_kernel(context, node, call, about));
  if (call.wants(0)) kernels.push_back(result_kernel(context, node, about));
  return kernels;
}

// A thread rotates one element by the angle of its position.
MaybeKernels rotary_kernels(const Node& node, const Call& call) {
  const Tensor& x = call.input(0);
  const auto heads = heads_of(call, 0, "num_heads");
  if (!heads || x.count() == 0) return std::nullopt;
  std::int64_t turned = call.integer("rotary_embedding_dim", 0);
  if (turned == 0) turned = heads->size;
  const std::int64_t half = turned / 2;
  const Tensor* positions = call.optional_input(3);
  KernelText text;
  const std::string in = text.input(node.inputs[0], x.type());
  const std::string cosines = text.input(node.inputs[1], call.input(1).type());
  const std::string sines = text.input(node.inputs[2], call.input(2).type());
  std::string row = weft::format("b * {}u + place", heads->length);
  std::string body = weft::format("  let d = i % {}u;\n", heads->size);
  body += heads->flat ? weft::format("  let place = i / {}u % {}u;\n", heads->heads * heads->size,
                                     heads->length)
                      : weft::format("  let place = i / {}u % {}u;\n", heads->size, heads->length);
  body += weft::format("  let b = i / {}u;\n", heads->heads * heads->length * heads->size);
  if (positions != nullptr) {
    const std::int64_t rows = call.input(1).shape()[0];
    // If a position is out of range, the processor runs the node and reports the error.
    if (positions->has_bytes()) {
      for (const std::int64_t position : positions->integers())
        if (position < 0 || position >= rows) return std::nullopt;
    }
    row = weft::format("u32(clamp(i32({}[b * {}u + place]), 0, {}))",
                       text.input(node.inputs[3], positions->type()), heads->length, rows - 1);
  }
  const std::string out = text.output(node.outputs[0], x.type());
  const bool interleaved = call.integer("interleaved", 0) != 0;
  if (turned < heads->size)
    body += weft::format("  if (d >= {}u) {{ {}[i] = {}[i]; return; }}\n", turned, out, in);
  body += interleaved ? "  let pair = d / 2u;\n  let is_first = d % 2u == 0u;\n"
                        "  let other = select(i - 1u, i + 1u, is_first);\n"
                      : weft::format(
                            "  let pair = d % {0}u;\n  let is_first = d < {0}u;\n"
                            "  let other = select(i - {0}u, i + {0}u, is_first);\n",
                            half);
  body += weft::format(
      "  let angle = ({0}) * {1}u + pair;\n"
      "  {2}[i] = {3}[angle] * {4}[i] + select({5}[angle], -{5}[angle], is_first) * {4}[other];\n",
      row, half, out, cosines, in, sines);
  return std::vector{text.build(node.op, static_cast<std::uint64_t>(x.count()), body)};
}

}  // namespace

MaybeKernels attention_kernels(const KernelContext& context, const Node& node) {
  if (node.op != "Attention" && node.op != "RotaryEmbedding") return std::nullopt;
  const CallOf call(context, node);
  return node.op == "Attention" ? scaled_product_kernels(context, node, *call)
                                : rotary_kernels(node, *call);
}

}  // namespace weft::onnx
