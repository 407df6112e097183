// Tests the inputs and outputs of an ONNX model, and the shapes of requests.
#include "decisions/inference/onnx_interface.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weft::inference {
namespace {

constexpr std::string_view batch =
    R"({"inputs":[{"name":"x","type":"f32","shape":[1,3,"h"]},{"name":"s","type":"i64","shape":[1]}],)"
    R"("outputs":[{"name":"y","type":"f32","shape":[1,"h",2]}]})";
constexpr std::string_view symbolic =
    R"({"inputs":[{"name":"x","type":"f32","shape":["n",4]},{"name":"w","type":"f32","shape":["n"]}],)"
    R"("outputs":[{"name":"y","type":"u8","shape":["n",2]}]})";

TEST(OnnxInterface, IsReadAsItIsWritten) {
  for (const std::string_view text : {batch, symbolic}) {
    const auto read = read_onnx_interface(text);
    ASSERT_TRUE(read.has_value()) << read.error().message;
    EXPECT_EQ(to_json(*read), text);
  }
}

TEST(OnnxInterface, IsRefusedWithOneSentence) {
  const auto refused = [](std::string_view text) {
    const auto read = read_onnx_interface(text);
    return read ? std::string("taken") : read.error().message;
  };
  EXPECT_THAT(refused(R"({"inputs":[],"outputs":[{"name":"y","type":"f32","shape":[1]}]})"),
              testing::HasSubstr("inputs: must not be empty"));
  EXPECT_THAT(
      refused(
          R"({"inputs":[{"name":"x","type":"f64","shape":[1]}],"outputs":[{"name":"y","type":"f32","shape":[1]}]})"),
      testing::HasSubstr("\"f64\" is not a type"));
  EXPECT_THAT(
      refused(
          R"({"inputs":[{"name":"x","type":"f32","shape":[0]}],"outputs":[{"name":"y","type":"f32","shape":[1]}]})"),
      testing::HasSubstr("inputs[0].shape[0]: must be at least 1"));
  EXPECT_THAT(
      refused(
          R"({"inputs":[{"name":"x","type":"f32","shape":[1]}],"outputs":[{"name":"y","type":"f32","shape":["n"]}]})"),
      testing::HasSubstr("\"y\" has the size \"n\", which no input has"));
  EXPECT_THAT(
      refused(
          R"({"inputs":[{"name":"x","type":"f32","shape":[1]},{"name":"x","type":"f32","shape":[1]}],"outputs":[{"name":"y","type":"f32","shape":[1]}]})"),
      testing::HasSubstr("\"x\" occurs twice"));
}

TEST(OnnxInterface, BindsTheShapesOfARequest) {
  const auto interface = read_onnx_interface(symbolic).value();
  const auto bound = bind(interface, {{5, 4}, {5}});
  ASSERT_TRUE(bound.has_value()) << bound.error().message;
  EXPECT_EQ(bound->items, 1u);
  EXPECT_FALSE(bound->stacked);
  EXPECT_THAT(bound->outputs, testing::ElementsAre(TensorShape{5, 2}));
  EXPECT_EQ(bind(interface, {{5, 4}, {6}}).error().message,
            "The input 'w' has the shape [6]; the model takes [n].");
  EXPECT_EQ(bind(interface, {{0, 4}, {0}}).error().message,
            "The input 'x' has no elements: its shape is [0,4].");
  EXPECT_EQ(bind(interface, {{std::uint64_t{1} << 40, 4}, {1}}).error().code,
            ErrorCode::invalid_argument);
}

TEST(OnnxInterface, RunsAModelOfABatchOfOneForEachItem) {
  const auto interface = read_onnx_interface(batch).value();
  const auto one = bind(interface, {{1, 3, 7}, {1}});
  ASSERT_TRUE(one.has_value()) << one.error().message;
  EXPECT_FALSE(one->stacked);
  const auto three = bind(interface, {{3, 3, 7}, {3}});
  ASSERT_TRUE(three.has_value()) << three.error().message;
  EXPECT_TRUE(three->stacked);
  EXPECT_EQ(three->items, 3u);
  EXPECT_THAT(three->outputs, testing::ElementsAre(TensorShape{3, 7, 2}));
  for (const std::vector<TensorShape>& wrong :
       {std::vector<TensorShape>{{3, 3, 7}, {2}}, {{3, 4, 7}, {3}}, {{3, 7}, {3}}, {{}, {}}}) {
    const auto bound = bind(interface, wrong);
    ASSERT_FALSE(bound.has_value());
    EXPECT_THAT(bound.error().message, testing::HasSubstr("or several of them along the first"));
  }
  EXPECT_THAT(bind(interface, {{5000, 3, 7}, {5000}}).error().message,
              testing::HasSubstr("at most 4096"));
}

}  // namespace
}  // namespace weft::inference
