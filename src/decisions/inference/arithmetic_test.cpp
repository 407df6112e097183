#include "decisions/inference/arithmetic.h"

#include <gtest/gtest.h>

#include "decisions/inference/test_model_card.h"

namespace weft::inference {
namespace {

// A model with 1,000 tokens of 64 numbers each, whose embedding takes `bytes`.
ModelCard embedding_of(std::uint64_t bytes) {
  ModelCard out = card("m");
  out.vocabulary = 1000;
  out.embedding = 64;
  out.first_bytes = bytes;
  return out;
}

TEST(Arithmetic, IsWhatTheOperatorSays) {
  EXPECT_EQ(activations_of(embedding_of(128'000), "int8"), "int8");
  EXPECT_EQ(activations_of(embedding_of(36'000), "f32"), "f32");
}

TEST(Arithmetic, IsInt8ForNarrowWeightsAlone) {
  EXPECT_EQ(activations_of(embedding_of(1000 * 64 / 32 * 18), "auto"), "int8") << "Q4_0";
  EXPECT_EQ(activations_of(embedding_of(1000 * 64 / 32 * 34), "auto"), "int8") << "Q8_0";
  EXPECT_EQ(activations_of(embedding_of(1000 * 64 * 2), "auto"), "f32") << "F16";
  EXPECT_EQ(activations_of(embedding_of(1000 * 64 * 4), "auto"), "f32") << "F32";
}

TEST(Arithmetic, IsF32ForACardWithoutSizes) {
  EXPECT_EQ(activations_of(embedding_of(0), "auto"), "f32");
  ModelCard empty = embedding_of(1000);
  empty.vocabulary = 0;
  EXPECT_EQ(activations_of(empty, "auto"), "f32");
}

}  // namespace
}  // namespace weft::inference
