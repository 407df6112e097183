// The coordinator's readers of models' texts: confined children of this program.
#pragma once

#include "apps/coordinator/http/model_texts.h"

namespace weft::cli {

// Each starts its child when it opens a model. A prompt has two seconds, a model ten.
[[nodiscard]] std::unique_ptr<coordinator::TextReader> make_text_reader();

}  // namespace weft::cli
