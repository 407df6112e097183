// Grammars of calls of tools, for answers that have to be calls (tool_choice): in the format in
// which the model's template asks for them, with arguments as the tools' schemas say.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/result.h"

namespace weft::chat {

// How a template writes a call; common/tools/answer_parser.h shows each.
enum class CallFormat : std::uint8_t { hermes, functions, bare, list, deepseek };

// By what stands in the template. bare (a JSON object, as Llama 3.1 writes it) where it says
// nothing of tools.
[[nodiscard]] CallFormat call_format(std::string_view template_source);

struct CallGrammar {
  std::string gbnf;
  std::string mark;  // A token that comes before; empty: none.
};
// `input` is what the template is rendered with, `name` the tool that is to be called, empty for
// any; `many`: one call or more. invalid_argument without tools; unsupported for a schema that a
// grammar cannot hold, with the tool.
[[nodiscard]] Result<CallGrammar> grammar_of_calls(std::string_view template_source,
                                                   std::string_view input, std::string_view name,
                                                   bool many);

}  // namespace weft::chat
