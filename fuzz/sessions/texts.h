// The texts of the histories' models: 300 tokens, of which the first 256 are bytes. They replace
// the confined process that reads a model's own tokenizer.
#pragma once

#include <memory>

#include "apps/coordinator/http/model_texts.h"

namespace weft::sessions {

[[nodiscard]] std::unique_ptr<coordinator::TextReader> make_text_reader();

}  // namespace weft::sessions
