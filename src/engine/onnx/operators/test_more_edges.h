// More cases for settings of operators that ONNX's own cases do not cover: old versions, inputs
// that are not given, negative axes, empty tensors and rare types. The expected results are worked
// out by hand from the specification.
#pragma once

#include "engine/onnx/operators/test_edges.h"

namespace weft::onnx::test {

// Makes cases. `given` names the inputs that an operator is called with.
class EdgeList {
 public:
  using I = std::vector<std::int64_t>;
  using F = std::vector<float>;
  static Tensor f(Shape shape, const F& values) {
    return tensor_of<float>(std::move(shape), values);
  }
  static Tensor i64(Shape shape, const I& values) {
    return tensor_of<std::int64_t>(std::move(shape), values);
  }
  static Tensor i32(Shape shape, const std::vector<std::int32_t>& values) {
    return tensor_of<std::int32_t>(std::move(shape), values);
  }
  static Tensor u8(Shape shape, const std::vector<std::uint8_t>& values) {
    return tensor_of<std::uint8_t>(std::move(shape), values);
  }
  static Tensor i8(Shape shape, const std::vector<std::int8_t>& values) {
    return tensor_of<std::int8_t>(std::move(shape), values);
  }
  static Tensor truths(Shape shape, const std::vector<int>& values) {
    std::vector<Truth> out;
    for (const int value : values) out.emplace_back(value != 0);
    return tensor_of<Truth>(std::move(shape), out);
  }
  static Tensor halves(Shape shape, const F& values) {
    std::vector<Half> out;
    for (const float value : values) out.emplace_back(value);
    return tensor_of<Half>(std::move(shape), out);
  }
  // Returns a tensor that stands for an input that is not given.
  static Tensor absent() { return Tensor::shape_only(ElementType::f32, {0}).value(); }

  void add(std::string name, std::string op, std::int64_t opset, std::vector<Tensor> inputs,
           Attributes attributes, Tensor expected) {
    cases.push_back(edge(std::move(name), std::move(op), opset, std::move(inputs),
                         std::move(attributes), std::move(expected)));
    ModelNode& node = cases.back().model.nodes[0];
    auto& constants = cases.back().model.initializers;
    for (std::size_t i = 0; i < constants.size();) {
      if (constants[i].second.has_bytes()) {
        ++i;
        continue;
      }
      for (std::string& input : node.inputs)
        if (input == constants[i].first) input.clear();
      constants.erase(constants.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
  // Makes the second output of the latest case's node its result.
  void second() { cases.back().model.nodes[0].outputs = {"first", "y"}; }

  std::vector<EdgeCase> cases;
};

inline void add_window_edges(EdgeList& list) {
  using L = EdgeList;
  using I = L::I;
  const Tensor six = L::f({1, 1, 6}, {1, 2, 3, 4, 5, 6});
  const std::int64_t one = 1;
  list.add("a last window that is not full", "MaxPool", 12, {six},
           {{"kernel_shape", I{3}}, {"strides", I{2}}, {"ceil_mode", one}},
           L::f({1, 1, 3}, {3, 5, 6}));
  list.add("no window that begins behind the input", "MaxPool", 12, {L::f({1, 1, 3}, {1, 2, 3})},
           {{"kernel_shape", I{1}}, {"strides", I{3}}, {"ceil_mode", one}}, L::f({1, 1, 1}, {1}));
  list.add("the largest of a dilated window", "MaxPool", 12, {six},
           {{"kernel_shape", I{2}}, {"strides", I{2}}, {"dilations", I{3}}},
           L::f({1, 1, 2}, {4, 6}));
  list.add("the largest of i8 with padding", "MaxPool", 12, {L::i8({1, 1, 3}, {-5, -7, -6})},
           {{"kernel_shape", I{2}}, {"pads", I{1, 1}}}, L::i8({1, 1, 4}, {-5, -5, -6, -6}));
  list.add("places of the largest", "MaxPool", 12, {L::f({1, 2, 3}, {1, 3, 2, 9, 8, 9})},
           {{"kernel_shape", I{2}}}, L::i64({1, 2, 2}, {1, 1, 3, 5}));
  list.second();
  list.add(
      "an average over the padding alone", "AveragePool", 19, {six},
      {{"kernel_shape", I{3}}, {"strides", I{2}}, {"ceil_mode", one}, {"count_include_pad", one}},
      L::f({1, 1, 3}, {2, 4, 5.5F}));
  list.add("an average with the padding", "AveragePool", 11, {L::f({1, 1, 2}, {4, 8})},
           {{"kernel_shape", I{2}}, {"pads", I{1, 1}}, {"count_include_pad", one}},
           L::f({1, 1, 3}, {2, 6, 4}));
  list.add("an average of a dilated window", "AveragePool", 19, {six},
           {{"kernel_shape", I{2}}, {"dilations", I{2}}}, L::f({1, 1, 4}, {2, 3, 4, 5}));
  list.add("an average padded at its end", "AveragePool", 11, {L::f({1, 1, 3}, {1, 2, 3})},
           {{"kernel_shape", I{2}}, {"auto_pad", std::string("SAME_UPPER")}},
           L::f({1, 1, 3}, {1.5F, 2.5F, 3}));
  const Tensor three = L::f({1, 1, 3}, {1, 2, 3}), ones = L::f({1, 1, 2}, {1, 1});
  list.add("a convolution padded at its end", "Conv", 11, {three, ones},
           {{"auto_pad", std::string("SAME_UPPER")}}, L::f({1, 1, 3}, {3, 5, 3}));
  list.add("a convolution padded at its begin", "Conv", 11, {three, ones},
           {{"auto_pad", std::string("SAME_LOWER")}}, L::f({1, 1, 3}, {1, 3, 5}));
  list.add("a convolution without padding", "Conv", 11, {three, ones},
           {{"auto_pad", std::string("VALID")}}, L::f({1, 1, 2}, {3, 5}));
  list.add("a convolution padded for strides", "Conv", 11, {three, ones},
           {{"auto_pad", std::string("SAME_UPPER")}, {"strides", I{2}}}, L::f({1, 1, 2}, {3, 3}));
  // The whole result is 1 1 3 2 2.
  const Tensor two = L::f({1, 1, 2}, {1, 2}), wide = L::f({1, 1, 3}, {1, 1, 1});
  list.add("a transposed convolution of a given size", "ConvTranspose", 11, {two, wide},
           {{"strides", I{2}}, {"output_shape", I{4}}}, L::f({1, 1, 4}, {1, 3, 2, 2}));
  list.add("a transposed convolution cut at its end", "ConvTranspose", 11, {two, wide},
           {{"strides", I{2}}, {"output_shape", I{4}}, {"auto_pad", std::string("SAME_UPPER")}},
           L::f({1, 1, 4}, {1, 1, 3, 2}));
  list.add("a transposed convolution with more at its end", "ConvTranspose", 11, {two, wide},
           {{"strides", I{3}}, {"output_padding", I{1}}, {"pads", I{1, 0}}},
           L::f({1, 1, 6}, {1, 1, 2, 2, 2, 0}));
  list.add("a quantised convolution by channel", "QLinearConv", 10,
           {L::u8({1, 1, 4}, {2, 4, 6, 8}), L::f({}, {1}), L::u8({}, {0}), L::u8({2, 1, 1}, {2, 4}),
            L::f({2}, {0.5F, 0.5F}), L::u8({2}, {1, 2}), L::f({}, {1}), L::u8({}, {0}),
            L::i32({2}, {10, 20})},
           {}, L::u8({1, 2, 4}, {6, 7, 8, 9, 12, 14, 16, 18}));
  list.add("a convolution of integers", "ConvInteger", 10,
           {L::u8({1, 1, 3}, {2, 3, 4}), L::u8({1, 1, 2}, {1, 2}), L::u8({}, {1})},
           {{"pads", I{1, 0}}}, L::i32({1, 1, 3}, {2, 5, 8}));
  list.add("scales as a setting", "Upsample", 7, {L::f({1, 1, 1, 2}, {1, 2})},
           {{"scales", L::F{1, 1, 2, 2}}, {"mode", std::string("nearest")}},
           L::f({1, 1, 2, 4}, {1, 1, 2, 2, 1, 1, 2, 2}));
  list.add("a resize of the last dimension alone", "Resize", 18,
           {L::f({1, 2}, {1, 3}), L::absent(), L::absent(), L::i64({1}, {4})},
           {{"mode", std::string("linear")}, {"axes", I{-1}}}, L::f({1, 4}, {1, 1.5F, 2.5F, 3}));
  list.add("neighbours across an even size", "LRN", 13, {L::f({1, 3, 1}, {1, 2, 3})},
           {{"size", std::int64_t{2}}, {"alpha", 2.0F}, {"beta", 1.0F}, {"bias", 1.0F}},
           // The sums of the squares of an element and the next one are 5, 13 and 9.
           L::f({1, 3, 1}, {1.0F / 6, 2.0F / 14, 3.0F / 10}));
}

inline void add_reduction_edges(EdgeList& list) {
  using L = EdgeList;
  const Tensor x = L::f({2, 2}, {1, 2, 3, 4});
  const std::int64_t one = 1, zero = 0;
  const float infinity = std::numeric_limits<float>::infinity();
  list.add("no axes and nothing to do", "ReduceSum", 13, {x, L::i64({0}, {})},
           {{"noop_with_empty_axes", one}}, x);
  list.add("no axes and all to do", "ReduceSum", 13, {x, L::i64({0}, {})}, {}, L::f({1, 1}, {10}));
  list.add("axes that are not given", "ReduceMean", 18, {x, L::absent()}, {{"keepdims", zero}},
           L::f({}, {2.5F}));
  list.add("axes as a setting", "ReduceMax", 11, {x}, {{"axes", L::I{-2}}, {"keepdims", zero}},
           L::f({2}, {3, 4}));
  list.add("the largest truth", "ReduceMax", 20,
           {L::truths({2, 2}, {0, 1, 0, 0}), L::i64({1}, {1})}, {{"keepdims", zero}},
           L::truths({2}, {1, 0}));
  const Tensor nothing = L::f({2, 0}, {});
  list.add("a sum of nothing", "ReduceSum", 13, {nothing, L::i64({1}, {1})}, {},
           L::f({2, 1}, {0, 0}));
  list.add("a product of nothing", "ReduceProd", 18, {nothing, L::i64({1}, {1})}, {},
           L::f({2, 1}, {1, 1}));
  list.add("the smallest of nothing", "ReduceMin", 20, {nothing, L::i64({1}, {1})}, {},
           L::f({2, 1}, {infinity, infinity}));
  list.add("the largest of nothing", "ReduceMax", 20, {nothing, L::i64({1}, {1})}, {},
           L::f({2, 1}, {-infinity, -infinity}));
  list.add("the last of equals", "ArgMax", 13, {L::f({2, 3}, {2, 2, 1, 0, 5, 5})},
           {{"axis", std::int64_t{-1}}, {"keepdims", zero}, {"select_last_index", one}},
           L::i64({2}, {1, 2}));
  list.add("the smallest two of equals", "TopK", 11, {L::f({4}, {3, 1, 1, 3}), L::i64({1}, {3})},
           {{"largest", zero}}, L::i64({3}, {1, 2, 0}));
  list.second();
  list.add("none of the largest", "TopK", 11, {L::f({2, 2}, {1, 2, 3, 4}), L::i64({1}, {0})}, {},
           L::f({2, 0}, {}));
  list.add("sums from the end, without its own", "CumSum", 14,
           {L::f({3}, {1, 2, 3}), L::i32({}, {-1})}, {{"reverse", one}, {"exclusive", one}},
           L::f({3}, {5, 3, 0}));
  list.add("a softmax of all dimensions from the first", "Softmax", 11,
           {L::f({1, 2, 2}, {0, 0, 0, 0})}, {}, L::f({1, 2, 2}, {0.25F, 0.25F, 0.25F, 0.25F}));
  list.add("a softmax of the last dimension", "Softmax", 13, {L::f({1, 2, 2}, {0, 0, 0, 0})}, {},
           L::f({1, 2, 2}, {0.5F, 0.5F, 0.5F, 0.5F}));
  list.add("lengths by sums of sizes", "LpNormalization", 1, {L::f({2, 2}, {1, -2, 3, 2})},
           {{"axis", zero}, {"p", one}}, L::f({2, 2}, {0.25F, -0.5F, 0.75F, 0.5F}));
  // The mean is 2.5 and the variance 1.25.
  list.add("two dimensions normalised together", "LayerNormalization", 17,
           {L::f({1, 2, 2}, {1, 2, 3, 4}), L::f({2, 2}, {1, 1, 2, 2})},
           {{"axis", std::int64_t{-2}}, {"epsilon", 0.0F}},
           L::f({1, 2, 2}, {-1.3416408F, -0.4472136F, 0.8944272F, 2.6832816F}));
  const Tensor channels = L::f({1, 4, 1}, {1, 3, 5, 9});
  list.add("groups with a factor each", "GroupNormalization", 18,
           {channels, L::f({2}, {2, 3}), L::f({2}, {0, 10})},
           {{"num_groups", std::int64_t{2}}, {"epsilon", 0.0F}}, L::f({1, 4, 1}, {-2, 2, 7, 13}));
  list.add("groups with a factor for each channel", "GroupNormalization", 21,
           {channels, L::f({4}, {1, 2, 3, 4}), L::f({4}, {0, 0, 0, 1})},
           {{"num_groups", std::int64_t{2}}, {"epsilon", 0.0F}}, L::f({1, 4, 1}, {-1, 2, -3, 5}));
}

inline void add_movement_edges(EdgeList& list) {
  using L = EdgeList;
  using I = L::I;
  const std::int64_t one = 1, zero = 0;
  const Tensor three = L::f({3}, {1, 2, 3});
  list.add("around the end", "Pad", 19, {three, L::i64({2}, {1, 2})},
           {{"mode", std::string("wrap")}}, L::f({6}, {3, 1, 2, 3, 1, 2}));
  list.add("less at the begin, more at the end", "Pad", 13,
           {L::f({4}, {1, 2, 3, 4}), L::i64({2}, {-1, 1}), L::f({}, {9})}, {},
           L::f({4}, {2, 3, 4, 9}));
  list.add("the last dimension reflected", "Pad", 18,
           {L::f({1, 3}, {1, 2, 3}), L::i64({2}, {2, 1}), L::absent(), L::i64({1}, {-1})},
           {{"mode", std::string("reflect")}}, L::f({1, 6}, {3, 2, 1, 2, 3, 2}));
  list.add("pads as a setting", "Pad", 2, {L::f({2}, {1, 2})}, {{"pads", I{1, 0}}, {"value", 7.0F}},
           L::f({3}, {7, 1, 2}));
  list.add("a part that is smaller", "Split", 18, {L::f({5}, {1, 2, 3, 4, 5})},
           {{"num_outputs", std::int64_t{2}}}, L::f({2}, {4, 5}));
  list.second();
  list.add("a dimension of no size that is meant", "Reshape", 14,
           {L::f({0, 3}, {}), L::i64({2}, {3, 0})}, {{"allowzero", one}}, L::f({3, 0}, {}));
  list.add("a size that is copied and one that follows", "Reshape", 13,
           {L::f({2, 3}, {1, 2, 3, 4, 5, 6}), L::i64({3}, {0, -1, 1})}, {},
           L::f({2, 3, 1}, {1, 2, 3, 4, 5, 6}));
  list.add("a part of a shape", "Shape", 15, {L::f({2, 3, 1}, {1, 2, 3, 4, 5, 6})},
           {{"start", std::int64_t{-2}}, {"end", std::int64_t{-1}}}, L::i64({1}, {3}));
  list.add("dimensions at both ends", "Unsqueeze", 13, {three, L::i64({2}, {-1, 0})}, {},
           L::f({1, 3, 1}, {1, 2, 3}));
  list.add("all dimensions of size 1", "Squeeze", 13, {L::f({1, 3, 1}, {1, 2, 3})}, {}, three);
  list.add("everything in one row", "Flatten", 13, {L::f({3, 1}, {1, 2, 3})}, {{"axis", zero}},
           L::f({1, 3}, {1, 2, 3}));
  list.add("a larger rank", "Expand", 13, {L::f({2, 1}, {1, 2}), L::i64({3}, {2, 1, 2})}, {},
           L::f({2, 2, 2}, {1, 1, 2, 2, 1, 1, 2, 2}));
  list.add("no copies", "Tile", 13, {three, L::i64({1}, {0})}, {}, L::f({0}, {}));
  list.add("nothing and something", "Concat", 13, {L::f({2, 0}, {}), L::f({2, 1}, {1, 2})},
           {{"axis", std::int64_t{-1}}}, L::f({2, 1}, {1, 2}));
  list.add("one element by a scalar", "Gather", 13, {L::f({2, 2}, {1, 2, 3, 4}), L::i32({}, {-1})},
           {{"axis", std::int64_t{-1}}}, L::f({2}, {2, 4}));
  list.add("elements counted from the end", "GatherElements", 13,
           {L::f({2, 2}, {1, 2, 3, 4}), L::i64({2, 1}, {-1, 0})}, {{"axis", one}},
           L::f({2, 1}, {2, 3}));
  list.add("rows of batches", "GatherND", 13,
           {L::f({2, 2, 2}, {0, 1, 2, 3, 4, 5, 6, 7}), L::i64({2, 1}, {1, 0})},
           {{"batch_dims", one}}, L::f({2, 2}, {2, 3, 4, 5}));
  list.add("the larger at a place", "ScatterElements", 18,
           {L::f({1, 3}, {1, 2, 3}), L::i64({1, 2}, {-1, 0}), L::f({1, 2}, {5, -1})},
           {{"axis", std::int64_t{-1}}, {"reduction", std::string("max")}},
           L::f({1, 3}, {1, 2, 5}));
  list.add("products at one place", "ScatterElements", 18,
           {L::f({3}, {1, 2, 3}), L::i64({3}, {1, 1, 1}), L::f({3}, {2, 3, 4})},
           {{"reduction", std::string("mul")}}, L::f({3}, {1, 48, 3}));
  list.add("the smaller at one place", "ScatterND", 18,
           {L::f({3}, {5, 5, 5}), L::i64({2, 1}, {1, 1}), L::f({2}, {3, 4})},
           {{"reduction", std::string("min")}}, L::f({3}, {5, 3, 5}));
  list.add("classes out of range", "OneHot", 11,
           {L::i64({3}, {-1, 5, 0}), L::i64({}, {3}), L::f({2}, {0, 1})}, {{"axis", zero}},
           L::f({3, 3}, {0, 0, 1, 0, 0, 0, 1, 0, 0}));
  list.add("below the diagonal", "Trilu", 14, {L::f({2, 3}, {1, 2, 3, 4, 5, 6}), L::i64({}, {-1})},
           {{"upper", zero}}, L::f({2, 3}, {0, 0, 0, 4, 0, 0}));
  list.add("blocks from the depth", "DepthToSpace", 13,
           {L::f({1, 8, 1, 1}, {0, 1, 2, 3, 4, 5, 6, 7})}, {{"blocksize", std::int64_t{2}}},
           L::f({1, 2, 2, 2}, {0, 2, 4, 6, 1, 3, 5, 7}));
  list.add("columns from the depth", "DepthToSpace", 13,
           {L::f({1, 8, 1, 1}, {0, 1, 2, 3, 4, 5, 6, 7})},
           {{"blocksize", std::int64_t{2}}, {"mode", std::string("CRD")}},
           L::f({1, 2, 2, 2}, {0, 1, 2, 3, 4, 5, 6, 7}));
}

inline void add_arithmetic_edges(EdgeList& list) {
  using L = EdgeList;
  const std::int64_t one = 1;
  list.add("an upper bound alone", "Clip", 13, {L::f({2}, {-5, 5}), L::absent(), L::f({}, {2})}, {},
           L::f({2}, {-5, 2}));
  list.add("a lower bound over the upper one", "Clip", 13,
           {L::f({2}, {0, 5}), L::f({}, {3}), L::f({}, {1})}, {}, L::f({2}, {1, 1}));
  list.add("bounds as settings", "Clip", 6, {L::f({3}, {-5, 0, 5})}, {{"max", 1.0F}},
           L::f({3}, {-5, 0, 1}));
  list.add("a rest with the sign of what is divided", "Mod", 13,
           {L::f({2}, {-5, 5}), L::f({2}, {3, -3})}, {{"fmod", one}}, L::f({2}, {-2, 2}));
  list.add("a rest with the sign of the divisor", "Mod", 13,
           {L::i32({2}, {-5, 5}), L::i32({2}, {3, -3})}, {}, L::i32({2}, {1, -1}));
  list.add("a quotient towards zero", "Div", 14, {L::i32({2}, {-7, 7}), L::i32({2}, {2, -2})}, {},
           L::i32({2}, {-3, -3}));
  list.add("bytes that wrap around", "Add", 14, {L::u8({2}, {250, 3}), L::u8({1}, {10})}, {},
           L::u8({2}, {4, 13}));
  list.add("halves", "Add", 14, {L::halves({2}, {1.5F, 2048}), L::halves({}, {1})}, {},
           L::halves({2}, {2.5F, 2048}));
  list.add("operands aligned by a setting", "Add", 6,
           {L::f({2, 3}, {1, 2, 3, 4, 5, 6}), L::f({2}, {10, 20})},
           {{"broadcast", one}, {"axis", std::int64_t{0}}}, L::f({2, 3}, {11, 12, 13, 24, 25, 26}));
  list.add("a negative base", "Pow", 13, {L::f({3}, {-2, -2, 0}), L::i32({3}, {3, 2, 0})}, {},
           L::f({3}, {-8, 4, 1}));
  list.add("the largest of one", "Max", 13, {L::f({2}, {1, 2})}, {}, L::f({2}, {1, 2}));
  list.add("the smallest of three shapes", "Min", 13,
           {L::i32({2, 1}, {1, 5}), L::i32({2}, {3, 4}), L::i32({}, {4})}, {},
           L::i32({2, 2}, {1, 1, 3, 4}));
  list.add("a mean of two shapes", "Mean", 13, {L::f({2, 1}, {1, 5}), L::f({2}, {3, 4})}, {},
           L::f({2, 2}, {2, 2.5F, 4, 4.5F}));
  list.add("truth of floats", "Cast", 13, {L::f({3}, {0.5F, 0, -0.0F})}, {{"to", std::int64_t{9}}},
           L::truths({3}, {1, 0, 0}));
  list.add("floats cut to integers", "Cast", 13, {L::f({2}, {-1.9F, 1.9F})},
           {{"to", std::int64_t{6}}}, L::i32({2}, {-1, 1}));
  list.add("a slope for each channel", "PRelu", 16,
           {L::f({1, 2, 2}, {-1, 2, -3, 4}), L::f({2, 1}, {0.5F, 2})}, {},
           L::f({1, 2, 2}, {-0.5F, 2, -6, 4}));
  list.add("halves to even and what is too large", "QuantizeLinear", 13,
           {L::f({5}, {0.5F, 1.5F, 2.5F, 300, -5}), L::f({}, {1}), L::u8({}, {0})}, {},
           L::u8({5}, {0, 2, 2, 255, 0}));
  list.add("a type without a zero point", "QuantizeLinear", 21,
           {L::f({2}, {1.5F, -200}), L::f({}, {1})}, {{"output_dtype", std::int64_t{3}}},
           L::i8({2}, {2, -128}));
  list.add("a scale for each block", "DequantizeLinear", 21,
           {L::i8({2, 4}, {1, 2, 3, 4, 5, 6, 7, 8}), L::f({2, 2}, {1, 10, 100, 0.5F})},
           {{"axis", one}, {"block_size", std::int64_t{2}}},
           L::f({2, 4}, {1, 2, 30, 40, 500, 600, 3.5F, 4}));
  list.add("a scale for each column", "DequantizeLinear", 13,
           {L::u8({2, 2}, {10, 20, 30, 40}), L::f({2}, {1, 2}), L::u8({2}, {10, 20})},
           {{"axis", std::int64_t{-1}}}, L::f({2, 2}, {0, 0, 20, 40}));
  list.add("a row and a matrix", "MatMul", 13,
           {L::f({2}, {1, 2}), L::f({2, 3}, {1, 2, 3, 4, 5, 6})}, {}, L::f({3}, {9, 12, 15}));
  list.add("two rows", "MatMul", 13, {L::f({2}, {1, 2}), L::f({2}, {3, 4})}, {}, L::f({}, {11}));
  list.add("a product over nothing", "MatMul", 13, {L::f({2, 0}, {}), L::f({0, 2}, {})}, {},
           L::f({2, 2}, {0, 0, 0, 0}));
  list.add("columns and a number", "Gemm", 13,
           {L::f({2, 1}, {1, 2}), L::f({2, 2}, {1, 2, 3, 4}), L::f({}, {10})},
           {{"transA", one}, {"beta", 0.5F}}, L::f({1, 2}, {12, 15}));
  list.add("integers with a zero for each row", "MatMulInteger", 10,
           {L::u8({2, 2}, {1, 2, 3, 4}), L::u8({2, 1}, {1, 2}), L::u8({2}, {1, 2}), L::u8({}, {0})},
           {}, L::i32({2, 1}, {2, 5}));
}

inline std::vector<EdgeCase> more_edge_cases() {
  EdgeList list;
  add_window_edges(list);
  add_reduction_edges(list);
  add_movement_edges(list);
  add_arithmetic_edges(list);
  return std::move(list.cases);
}

}  // namespace weft::onnx::test
