// Grammars for answers that must be tool calls (tool_choice), in the format that the model's
// template asks for and with the arguments that the tools' schemas allow.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/result.h"

namespace weft::chat {

// The formats in which templates write a call; common/tools/answer_parser.h shows each.
enum class CallFormat : std::uint8_t { hermes, functions, bare, list, deepseek };

// Finds the format from the text of the template. If the template does not mention tools, the
// format is `bare` (a JSON object, as Llama 3.1 writes it).
[[nodiscard]] CallFormat call_format(std::string_view template_source);

struct CallGrammar {
  std::string gbnf;
  std::string mark;  // The token before the calls; empty if there is none.
};
// Returns the grammar of the calls. `input` is the input of render(); `name` is the tool to call,
// or empty for any tool; `many` allows several calls. Fails with invalid_argument if there are no
// tools, and with unsupported and the tool's name for a schema that a grammar cannot express.
[[nodiscard]] Result<CallGrammar> grammar_of_calls(std::string_view template_source,
                                                   std::string_view input, std::string_view name,
                                                   bool many);

}  // namespace weft::chat
