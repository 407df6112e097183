// Elementwise operators as WGSL expressions, alone or as a chain after another kernel.
#include "engine/onnx/gpu/elementwise.h"

#include <algorithm>
#include <cmath>

#include "engine/onnx/gpu/narrow.h"
#include "engine/onnx/operators/walk.h"

namespace weft::onnx {
namespace {

float float_setting(const Node& node, std::string_view name, float otherwise) {
  const auto found = node.attributes.find(name);
  return found == node.attributes.end() ? otherwise : std::get<float>(found->second);
}
std::int64_t integer_setting(const Node& node, std::string_view name, std::int64_t otherwise) {
  const auto found = node.attributes.find(name);
  return found == node.attributes.end() ? otherwise : std::get<std::int64_t>(found->second);
}
std::string literal(float value) {
  return weft::format("bitcast<f32>({}u)", std::bit_cast<std::uint32_t>(value));
}

// The error function by formula 7.1.26 of Abramowitz and Stegun, Handbook of Mathematical
// Functions; its error is at most 1.5e-7.
constexpr std::string_view erf_text =
    "fn error_function(x: f32) -> f32 {\n"
    "  let t = 1.0 / (1.0 + 0.3275911 * abs(x));\n"
    "  let p = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + "
    "t * 1.061405429))));\n"
    "  return sign(x) * (1.0 - p * exp(-x * x));\n}\n";
// A power function that accepts negative bases, which WGSL's pow() does not.
constexpr std::string_view power_text =
    "fn power(x: f32, y: f32) -> f32 {\n"
    "  if (y == 0.0) { return 1.0; }\n"
    "  if (x == 0.0) { return select(0.0, 1.0 / x, y < 0.0); }\n"
    "  let size = pow(abs(x), y);\n"
    "  let odd = abs(y % 2.0) == 1.0;\n"
    "  return select(size, -size, x < 0.0 && odd);\n}\n";
constexpr std::string_view softplus_text =
    "fn softplus(x: f32) -> f32 { return max(x, 0.0) + log(1.0 + exp(-abs(x))); }\n";
// A tanh whose argument is clamped, because some drivers return NaN for large arguments.
constexpr std::string_view tanh_text =
    "fn safe_tanh(x: f32) -> f32 { return tanh(clamp(x, -15.0, 15.0)); }\n";
constexpr std::string_view sigmoid_text =
    "fn sigmoid(x: f32) -> f32 { return 1.0 / (1.0 + exp(-x)); }\n";
constexpr std::string_view expm1_text =
    "fn expm1(x: f32) -> f32 { return select(exp(x) - 1.0, x * (1.0 + 0.5 * x), abs(x) < 1e-4); "
    "}\n";

std::string cast_text(const std::string& x, ElementType from, ElementType to) {
  const std::string_view source = storage_type(from), target = storage_type(to);
  if (to == ElementType::boolean) return weft::format("select(0u, 1u, {} != {}(0))", x, source);
  if (to == ElementType::f16)
    return weft::format("unpack2x16float(pack2x16float(vec2f(f32({}), 0.0))).x", x);
  if (source == "f32") {
    switch (to) {
      case ElementType::u8:
        return weft::format("u32(clamp({}, 0.0, 255.0))", x);
      case ElementType::i8:
        return weft::format("i32(clamp({}, -128.0, 127.0))", x);
      case ElementType::u16:
        return weft::format("u32(clamp({}, 0.0, 65535.0))", x);
      case ElementType::i16:
        return weft::format("i32(clamp({}, -32768.0, 32767.0))", x);
      default:
        break;
    }
  }
  return narrowed(to, weft::format("{}({})", target, x));
}

struct Operands {
  const Node& node;
  std::vector<std::string> x;      // Names; empty for an input that is not given.
  std::vector<ElementType> types;  // The element type of each input.
  ElementType out = ElementType::f32;
  std::int64_t opset = 0;
};

std::optional<std::string> unary_text(const Operands& given, KernelText& text) {
  const std::string& op = given.node.op;
  const std::string& x = given.x[0];
  const ElementType type = given.types[0];
  const auto unary = [&](std::string_view pattern) -> std::string {
    std::string out(pattern);
    for (std::size_t at = 0; (at = out.find('$', at)) != std::string::npos; at += x.size())
      out.replace(at, 1, x);
    return out;
  };
  if (op == "Identity" || op == "Dropout") return x;
  if (op == "Cast") return cast_text(x, type, given.out);
  if (op == "Not") return unary("(1u - $)");
  if (op == "Relu")
    return unary(
        storage_type(type) == "u32" ? "$" : "max($, " + std::string(storage_type(type)) + "(0))");
  if (op == "Abs") return storage_type(type) == "u32" ? x : narrowed(type, unary("abs($)"));
  if (op == "Neg")
    return storage_type(type) == "u32" ? narrowed(type, unary("(0u - $)"))
                                       : narrowed(type, unary("(-$)"));
  if (op == "Sign") return storage_type(type) == "u32" ? unary("min($, 1u)") : unary("sign($)");
  if (!is_float(type)) return std::nullopt;
  if (op == "Ceil") return unary("ceil($)");
  if (op == "Floor") return unary("floor($)");
  if (op == "Round") return unary("round($)");
  if (op == "Sqrt") return unary("sqrt($)");
  if (op == "Exp") return unary("exp($)");
  if (op == "Log") return unary("log($)");
  if (op == "Sin") return unary("sin($)");
  if (op == "Cos") return unary("cos($)");
  if (op == "Reciprocal") return unary("(1.0 / $)");
  if (op == "HardSwish") return unary("($ * clamp($ / 6.0 + 0.5, 0.0, 1.0))");
  if (op == "LeakyRelu")
    return unary("select($, $ * " + literal(float_setting(given.node, "alpha", 0.01f)) +
                 ", $ < 0.0)");
  if (op == "HardSigmoid")
    return unary("clamp($ * " + literal(float_setting(given.node, "alpha", 0.2f)) + " + " +
                 literal(float_setting(given.node, "beta", 0.5f)) + ", 0.0, 1.0)");
  if (op == "Tanh") return text.helper(tanh_text), unary("safe_tanh($)");
  if (op == "Sigmoid") return text.helper(sigmoid_text), unary("sigmoid($)");
  if (op == "Erf") return text.helper(erf_text), unary("error_function($)");
  if (op == "Softplus") return text.helper(softplus_text), unary("softplus($)");
  if (op == "Mish") {
    text.helper(softplus_text);
    text.helper(tanh_text);
    return unary("($ * safe_tanh(softplus($)))");
  }
  if (op == "Elu") {
    text.helper(expm1_text);
    return unary("select($, " + literal(float_setting(given.node, "alpha", 1)) +
                 " * expm1($), $ < 0.0)");
  }
  if (op == "Selu") {
    text.helper(expm1_text);
    return unary("(" + literal(float_setting(given.node, "gamma", 1.05070102214813232421875f)) +
                 " * select($, " +
                 literal(float_setting(given.node, "alpha", 1.67326319217681884765625f)) +
                 " * expm1($), $ <= 0.0))");
  }
  if (op == "Swish") {
    text.helper(sigmoid_text);
    return unary("($ * sigmoid(" + literal(float_setting(given.node, "alpha", 1)) + " * $))");
  }
  if (op == "Gelu") {
    const auto how = given.node.attributes.find("approximate");
    if (how != given.node.attributes.end() && std::get<std::string>(how->second) == "tanh") {
      text.helper(tanh_text);
      return unary("(0.5 * $ * (1.0 + safe_tanh(0.7978845608 * ($ + 0.044715 * $ * $ * $))))");
    }
    text.helper(erf_text);
    return unary("(0.5 * $ * (1.0 + error_function($ * 0.70710678)))");
  }
  return std::nullopt;
}

// Returns the expression of Pow; the result has the type of the base. Integer exponents are
// computed by multiplication, because a float power is slightly wrong, and truncation could then
// make an integer result too small by one.
std::optional<std::string> power_of(const Operands& given, KernelText& text) {
  const std::string &a = given.x[0], &b = given.x[1];
  if (is_float(given.types[0])) {
    text.helper(power_text);
    return weft::format("power({}, f32({}))", a, b);
  }
  if (given.types[0] == ElementType::boolean || given.types[1] == ElementType::boolean)
    return std::nullopt;
  const std::string_view word = storage_type(given.types[0]);
  text.helper(power_text);
  text.helper(
      weft::format("fn whole_power(x: {0}, y: f32) -> {0} {{\n"
                   "  if (y < 0.0 || y != floor(y)) {{ return {0}(trunc(power(f32(x), y))); }}\n"
                   "  var base = x;\n  var result = {0}(1);\n"
                   "  for (var rest = u32(y); rest > 0u; rest /= 2u) {{\n"
                   "    if (rest % 2u == 1u) {{ result *= base; }}\n    base *= base;\n  }}\n"
                   "  return result;\n}}\n",
                   word));
  return narrowed(given.types[0], weft::format("whole_power({}, f32({}))", a, b));
}

std::optional<std::string> pair_text(const Operands& given, KernelText& text) {
  const std::string& op = given.node.op;
  const std::string &a = given.x[0], &b = given.x[1];
  const ElementType type = given.types[0];
  const auto compare = [&](std::string_view sign) {
    return weft::format("select(0u, 1u, {} {} {})", a, sign, b);
  };
  if (op == "And") return weft::format("({} & {})", a, b);
  if (op == "Or") return weft::format("({} | {})", a, b);
  if (op == "Xor") return weft::format("({} ^ {})", a, b);
  if (op == "Equal") return compare("==");
  if (op == "Greater") return compare(">");
  if (op == "GreaterOrEqual") return compare(">=");
  if (op == "Less") return compare("<");
  if (op == "LessOrEqual") return compare("<=");
  if (type == ElementType::boolean) return std::nullopt;
  if (op == "Add") return narrowed(type, weft::format("({} + {})", a, b));
  if (op == "Sub") return narrowed(type, weft::format("({} - {})", a, b));
  if (op == "Mul") return narrowed(type, weft::format("({} * {})", a, b));
  if (op == "Div") {
    if (is_float(type)) return weft::format("({} / {})", a, b);
    const std::string_view word = storage_type(type);
    return narrowed(type, weft::format("select({0} / {1}, {2}(0), {1} == {2}(0))", a, b, word));
  }
  if (op == "Mod") {
    if (is_float(type))
      return integer_setting(given.node, "fmod", 0) == 0
                 ? std::nullopt
                 : std::optional(weft::format("({} % {})", a, b));
    if (storage_type(type) == "u32" || integer_setting(given.node, "fmod", 0) != 0)
      return weft::format("select({0} % {1}, {2}(0), {1} == {2}(0))", a, b, storage_type(type));
    text.helper(
        "fn modulo(a: i32, b: i32) -> i32 {\n  if (b == 0) { return 0; }\n  let rest = a % b;\n"
        "  return select(rest, rest + b, rest != 0 && ((rest < 0) != (b < 0)));\n}\n");
    return weft::format("modulo({}, {})", a, b);
  }
  if (op == "PRelu" && storage_type(type) != "u32")
    return narrowed(type,
                    weft::format("select({0}, {0} * {1}, {0} < {2}(0))", a, b, storage_type(type)));
  if (op == "Pow") return power_of(given, text);
  return std::nullopt;
}

std::optional<std::string> element_text(const Operands& given, KernelText& text) {
  const std::string& op = given.node.op;
  const auto fold = [&](std::string_view pattern) {
    std::string out = given.x[0];
    for (std::size_t i = 1; i < given.x.size(); ++i)
      out = weft::format("{}({}, {})", pattern, out, given.x[i]);
    return out;
  };
  if (op == "Where")
    return weft::format("select({}, {}, {} != 0u)", given.x[2], given.x[1], given.x[0]);
  if (op == "Max") return fold("max");
  if (op == "Min") return fold("min");
  if (op == "Clip" && given.types[0] != ElementType::boolean) {
    if (given.node.attributes.contains("min") || given.node.attributes.contains("max")) {
      std::string out = given.x[0];
      if (given.node.attributes.contains("min"))
        out = weft::format("max({}, {})", out, literal(float_setting(given.node, "min", 0)));
      if (given.node.attributes.contains("max"))
        out = weft::format("min({}, {})", out, literal(float_setting(given.node, "max", 0)));
      return out;
    }
    std::string out = given.x[0];
    if (given.x.size() > 1 && !given.x[1].empty())
      out = weft::format("max({}, {})", out, given.x[1]);
    if (given.x.size() > 2 && !given.x[2].empty())
      out = weft::format("min({}, {})", out, given.x[2]);
    return out;
  }
  if (op == "BatchNormalization" && given.x.size() == 5)
    return weft::format("(({0} - {3}) * ({1} / sqrt({4} + {5})) + {2})", given.x[0], given.x[1],
                        given.x[2], given.x[3], given.x[4],
                        literal(float_setting(given.node, "epsilon", 1e-5f)));
  if (op == "Sum" || op == "Mean") {
    // Sums of three or more i64 are not supported, because partial sums could leave the range that
    // is proven for the result. Means of integers are not supported either.
    if ((given.types[0] == ElementType::i64 && given.x.size() > 2) ||
        (op == "Mean" && !is_float(given.types[0])))
      return std::nullopt;
    std::string out = given.x[0];
    for (std::size_t i = 1; i < given.x.size(); ++i) out += " + " + given.x[i];
    out = "(" + out + ")";
    return op == "Sum" ? narrowed(given.types[0], out)
                       : out + " / " + literal(static_cast<float>(given.x.size()));
  }
  if (given.x.size() == 2 && op != "Clip" && op != "Cast" && op != "Dropout" && op != "Not")
    return pair_text(given, text);
  if (!given.x.empty()) return unary_text(given, text);
  return std::nullopt;
}

// Returns the strides of an operand of BatchNormalization, which has one value for each channel or,
// with spatial = 0, one for each place of an image.
std::optional<Shape> normalisation_strides(const Node& node, const Shape& shape, const Shape& out) {
  if (out.size() < 2) return std::nullopt;
  const auto spatial = node.attributes.find("spatial");
  const auto* setting =
      spatial == node.attributes.end() ? nullptr : std::get_if<std::int64_t>(&spatial->second);
  Shape strides(out.size(), 0);
  std::int64_t count = out[1];
  if (setting == nullptr || *setting != 0) {
    strides[1] = out[1] == 1 ? 0 : 1;
  } else {
    strides = row_major_strides(out);
    strides[0] = 0;
    count = element_count(Shape(out.begin() + 1, out.end()));
  }
  if (element_count(shape) != count) return std::nullopt;
  return strides;
}

// Returns the strides of an operand along the output: those of broadcasting or of
// BatchNormalization.
std::optional<Shape> operand_strides(const Node& node, std::size_t input, const Shape& shape,
                                     const Shape& out) {
  if (node.op == "BatchNormalization" && input > 0) return normalisation_strides(node, shape, out);
  if (node.op == "Clip" && input > 0) return Shape(out.size(), 0);
  const auto wide = broadcast(shape, out);
  if (!wide || *wide != out) return std::nullopt;
  return broadcast_strides(shape, out);
}

std::size_t operand_count(const Node& node) {
  return node.op == "Dropout" ? std::min<std::size_t>(1, node.inputs.size()) : node.inputs.size();
}

}  // namespace

bool is_elementwise(const KernelContext& context, const Node& node) {
  if (node.inputs.empty()) return false;
  // Before opset 7, attributes aligned the operands, which these kernels do not support.
  if (context.graph.opset < 7 && (node.inputs.size() > 1 || node.op == "Clip")) return false;
  for (std::size_t i = 1; i < node.outputs.size(); ++i)
    if (node.outputs[i] != no_value) return false;
  if (node.inputs[0] == no_value) return false;
  Operands given{.node = node, .x = {}, .types = {}, .opset = context.graph.opset};
  given.out = context.tensor(node.outputs[0]).type();
  const Shape& out = context.tensor(node.outputs[0]).shape();
  for (std::size_t i = 0; i < operand_count(node); ++i) {
    if (node.inputs[i] == no_value) {
      given.x.emplace_back();
      given.types.push_back(ElementType::f32);
      continue;
    }
    const Tensor& tensor = context.tensor(node.inputs[i]);
    if (!operand_strides(node, i, tensor.shape(), out)) return false;
    given.x.emplace_back("x");
    given.types.push_back(tensor.type());
  }
  KernelText scratch;
  return element_text(given, scratch).has_value();
}

std::optional<std::string> element_of(const KernelContext& context, const Node& node,
                                      std::vector<std::string> operands, KernelText& text) {
  Operands given{.node = node, .x = std::move(operands), .types = {}, .opset = context.graph.opset};
  given.out = context.tensor(node.outputs[0]).type();
  for (std::size_t i = 0; i < given.x.size(); ++i)
    given.types.push_back(given.x[i].empty() ? ElementType::f32
                                             : context.tensor(node.inputs[i]).type());
  return element_text(given, text);
}

std::optional<std::string> apply_chain(const KernelContext& context, const Epilogue& epilogue,
                                       ValueId first, std::string_view value,
                                       std::string_view index, KernelText& text,
                                       std::string& statements) {
  std::vector<std::pair<ValueId, std::string>> names = {{first, std::string(value)}};
  for (const Node* node : epilogue.nodes) {
    Operands given{.node = *node, .x = {}, .types = {}, .opset = context.graph.opset};
    const Tensor& out = context.tensor(node->outputs[0]);
    given.out = out.type();
    for (std::size_t i = 0; i < operand_count(*node); ++i) {
      const ValueId id = node->inputs[i];
      if (id == no_value) {
        given.x.emplace_back();
        given.types.push_back(ElementType::f32);
        continue;
      }
      const Tensor& tensor = context.tensor(id);
      given.types.push_back(tensor.type());
      const auto named = std::ranges::find(names, id, &std::pair<ValueId, std::string>::first);
      if (named != names.end()) {
        given.x.push_back(named->second);
        continue;
      }
      const auto strides = operand_strides(*node, i, tensor.shape(), out.shape());
      if (!strides) return std::nullopt;
      const std::string buffer = text.input(id, tensor.type());
      given.x.push_back(buffer + "[" + strided_index(index, out.shape(), *strides) + "]");
    }
    const auto result = element_text(given, text);
    if (!result) return std::nullopt;
    const std::string name = weft::format("{}_{}", value, names.size());
    statements += weft::format("  let {} = {};\n", name, *result);
    names.emplace_back(node->outputs[0], name);
  }
  return names.back().second;
}

MaybeKernels elementwise_kernels(const KernelContext& context, const Node& node,
                                 const Epilogue& epilogue) {
  KernelText text;
  std::string body;
  Epilogue chain{.nodes = {&node}};
  chain.nodes.insert(chain.nodes.end(), epilogue.nodes.begin(), epilogue.nodes.end());
  const ValueId last = chain.nodes.back()->outputs[0];
  const Tensor& out = context.tensor(last);
  const auto result = apply_chain(context, chain, no_value, "v", "i", text, body);
  if (!result) return std::nullopt;
  body += weft::format("  {}[i] = {};\n", text.output(last, out.type()), *result);
  std::string label = node.op;
  for (const Node* next : epilogue.nodes) label += "+" + next->op;
  return std::vector{text.build(std::move(label), static_cast<std::uint64_t>(out.count()), body)};
}

}  // namespace weft::onnx
