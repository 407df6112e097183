// Reads models' texts for the coordinator in sandboxed children of this program.
#pragma once

#include "apps/coordinator/http/model_texts.h"

namespace weft::cli {

// Each reader starts its child when it opens a model. A prompt may take two seconds, a model ten.
[[nodiscard]] std::unique_ptr<coordinator::TextReader> make_text_reader();

}  // namespace weft::cli
