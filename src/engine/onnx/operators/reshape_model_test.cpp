// Tests that a detector's head that was exported for one size is changed to another size: the
// targets of reshapes and the grid follow.
#include "engine/onnx/operators/reshape_model.h"

#include <gtest/gtest.h>

#include "engine/onnx/operators/interpreter.h"
#include "engine/onnx/operators/prepare.h"

namespace weft::onnx {
namespace {

using List = std::vector<std::int64_t>;

ModelNode head_node(std::string op, std::vector<std::string> inputs, std::string output,
                    Attributes attributes = {}) {
  return {.name = output,
          .op = std::move(op),
          .domain = {},
          .inputs = std::move(inputs),
          .outputs = {std::move(output)},
          .attributes = std::move(attributes)};
}
Tensor head_numbers(Shape shape) {
  std::vector<float> values(static_cast<std::size_t>(element_count(shape)));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(static_cast<int>(i * 37 % 101) - 50) / 50.0f;
  return Tensor::of<float>(std::move(shape), values);
}
Tensor head_integers(const List& values) {
  return Tensor::of<std::int64_t>({static_cast<std::int64_t>(values.size())}, values);
}
// A head like YOLO's for pictures of `size`: [1, 3 anchors * 2, s, s] becomes [1, 3 * s * s, 2]. A
// grid of places is added, and the result is multiplied by factors of the anchors.
Graph head(std::int64_t size, bool even_grid = true) {
  const std::int64_t s = size / 2;
  std::vector<float> grid, anchors;
  for (int anchor = 0; anchor < 3; ++anchor)
    for (std::int64_t y = 0; y < s; ++y)
      for (std::int64_t x = 0; x < s; ++x)
        for (int k = 0; k < 2; ++k) {
          const float place = static_cast<float>(k == 0 ? x : y) - 0.5f;
          grid.push_back(even_grid ? place : place * place);
          anchors.push_back(static_cast<float>(10 * anchor + k));
        }
  Model model;
  model.opset = 17;
  ValueInfo input{.name = "x", .type = ElementType::f32, .shape = std::vector<Dimension>()};
  for (const std::int64_t dimension : {std::int64_t{1}, std::int64_t{3}, size, size})
    input.shape->push_back({.size = dimension, .symbol = {}});
  model.inputs = {input};
  model.outputs = {{.name = "y", .type = ElementType::f32, .shape = std::nullopt}};
  model.initializers = {{"w", head_numbers({6, 3, 2, 2})},
                        {"cut", head_integers({1, 3, 2, s, s})},
                        {"grid", Tensor::of<float>({1, 3, s, s, 2}, grid)},
                        {"anchors", Tensor::of<float>({1, 3, s, s, 2}, anchors)},
                        {"rows", head_integers({1, 3 * s * s, 2})}};
  model.nodes = {head_node("Conv", {"x", "w"}, "c", {{"strides", List{2, 2}}}),
                 head_node("Reshape", {"c", "cut"}, "r"),
                 head_node("Transpose", {"r"}, "t", {{"perm", List{0, 1, 3, 4, 2}}}),
                 head_node("Add", {"t", "grid"}, "placed"),
                 head_node("Mul", {"placed", "anchors"}, "scaled"),
                 head_node("Reshape", {"scaled", "rows"}, "y")};
  return prepare(std::move(model)).value();
}

TEST(ReshapeModel, GivesWhatAModelExportedForThatSizeGives) {
  for (const auto& [height, width] : {std::pair(12, 12), {4, 4}, {16, 16}}) {
    const Tensor input = head_numbers({1, 3, height, width});

    const auto reshaped = reshape_model(head(8), {input.without_bytes()});

    ASSERT_TRUE(reshaped.has_value()) << reshaped.error().message;
    EXPECT_EQ(reshaped->changes.size(), 4u);
    const auto got = interpret(reshaped->graph, {input}, {});
    const auto expected = interpret(head(height), {input}, {}).value();
    ASSERT_TRUE(got.has_value()) << got.error().message;
    ASSERT_EQ((*got)[0].shape(), expected[0].shape());
    for (std::int64_t i = 0; i < expected[0].count(); ++i)
      EXPECT_NEAR((*got)[0].number(i), expected[0].number(i), 1e-3);
  }
}

TEST(ReshapeModel, KeepsWhatDoesNotChange) {
  const auto reshaped = reshape_model(head(8), {head_numbers({1, 3, 8, 8})});

  ASSERT_TRUE(reshaped.has_value()) << reshaped.error().message;
  EXPECT_TRUE(reshaped->changes.empty());
}

TEST(ReshapeModel, RefusesAGridThatDoesNotGrowEvenly) {
  const auto reshaped = reshape_model(head(8, false), {head_numbers({1, 3, 12, 12})});

  ASSERT_FALSE(reshaped.has_value());
  EXPECT_EQ(
      reshaped.error().message,
      "Node 'placed' (Add): its constant 'grid' neither stays the same nor grows evenly along "
      "a dimension that changes; export the model for the size that is wanted.");
}

}  // namespace
}  // namespace weft::onnx
