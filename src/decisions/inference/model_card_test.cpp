// The JSON form of a model's card keeps the width of the weights, and cards that older programs
// wrote are still read.
#include "decisions/inference/model_card.h"

#include <gtest/gtest.h>

#include "decisions/inference/test_model_card.h"

namespace weft::inference {
namespace {

TEST(ModelCardText, KeepsTheWidthOfTheWeights) {
  for (const auto width :
       {store::WeightWidth::unknown, store::WeightWidth::narrow, store::WeightWidth::wide}) {
    ModelCard made = card("m");
    made.weights = width;
    const auto read = read_model_card(to_json(made));
    ASSERT_TRUE(read.has_value()) << read.error().message;
    EXPECT_EQ(*read, made);
  }
}

TEST(ModelCardText, WithoutTheWidthOrWithAnotherWord) {
  ModelCard made = card("m");
  made.weights = store::WeightWidth::wide;
  const std::string text = to_json(made), word = R"(,"weights":"wide")";
  const auto at = text.find(word);
  ASSERT_NE(at, std::string::npos) << text;

  const auto older = read_model_card(std::string(text).erase(at, word.size()));
  const auto wrong =
      read_model_card(std::string(text).replace(at, word.size(), R"(,"weights":"huge")"));

  ASSERT_TRUE(older.has_value()) << older.error().message;
  EXPECT_EQ(older->weights, store::WeightWidth::unknown);
  ASSERT_FALSE(wrong.has_value());
  EXPECT_TRUE(wrong.error().message.contains(
      R"("huge" is not a width of weights: wide, narrow or unknown)"))
      << wrong.error().message;
}

}  // namespace
}  // namespace weft::inference
