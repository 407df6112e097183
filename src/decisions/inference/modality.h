// What a model gives: tokens, or one vector of a text. Derived from its architecture, so that a
// card says it with no field of its own.
#pragma once

#include "decisions/inference/model_card.h"

namespace weft::inference {

// It is asked at /v1/embeddings, and served whole by one worker.
[[nodiscard]] bool makes_vectors(const ModelCard& card);

}  // namespace weft::inference
