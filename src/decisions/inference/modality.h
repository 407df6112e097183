// The output of a model: tokens, or one vector of a text. It follows from the architecture, so that
// a card needs no field for it.
#pragma once

#include "decisions/inference/model_card.h"

namespace weft::inference {

// True if the model is asked at /v1/embeddings and served whole by one worker.
[[nodiscard]] bool makes_vectors(const ModelCard& card);

}  // namespace weft::inference
