// Reads models' texts for the coordinator in sandboxed children of this program.
#pragma once

#include "apps/coordinator/http/model_texts.h"

namespace weft::cli {

// Makes a reader of texts that runs in a child process, which starts when the reader opens a model.
// A prompt may take two seconds, a model ten.
[[nodiscard]] std::unique_ptr<coordinator::TextReader> make_text_reader();

}  // namespace weft::cli
