// Tests that the coordinator takes exactly those architectures for embedding models that the engine
// runs as embedding models.
#include <gtest/gtest.h>

#include "decisions/inference/modality.h"
#include "engine/llm/encoders/encoder_model.h"

namespace weft::cli {
namespace {

TEST(ServedModels, MakeVectorsWhereTheEngineHasAnEncoder) {
  for (const char* const name :
       {"bert", "nomic-bert", "nomic-bert-moe", "jina-bert-v2", "llama", "qwen2", "qwen3", "qwen35",
        "gemma3", "gemma-embedding", "mistral3", "qwen3moe", ""}) {
    inference::ModelCard card;
    card.architecture = name;
    EXPECT_EQ(inference::makes_vectors(card), llm::is_encoder(name)) << name;
  }
}

}  // namespace
}  // namespace weft::cli
