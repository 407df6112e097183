#include "decisions/inference/modality.h"

namespace weft::inference {

// The architectures of engine/llm/encoders (served_models_test.cpp in apps/cli compares the two).
bool makes_vectors(const ModelCard& card) {
  return card.architecture == "bert" || card.architecture == "nomic-bert";
}

}  // namespace weft::inference
