#include "apps/cli/prompt.h"

#include <glaze/glaze.hpp>

#include "apps/cli/files.h"
#include "engine/chat/chat_template.h"

namespace weft::cli {
// This namespace has a name because glaze, compiled by Clang, can name only types with linkage.
namespace documents {

// The input of ChatTemplate::render().
struct ChatInput {
  std::vector<ChatMessage> messages;
};

}  // namespace documents

namespace {

using namespace documents;

// A user's text may contain control characters.
struct WriteEscaped : glz::opts {
  bool escape_control_characters = true;
};

Result<std::vector<llm::Token>> encode_input(const LanguageModel& model, std::string_view input) {
  if (model.tokenizer() == nullptr)
    return fail(ErrorCode::unsupported, "The model has no vocabulary, so it cannot read text.");
  WEFT_ASSIGN(const auto chat,
              chat::ChatTemplate::create(model.file().metadata, model.tokenizer()->vocabulary()));
  WEFT_ASSIGN(const std::string text, chat.render(input, {.now = jinja::WallTime::local_now()}));
  return chat::encode_prompt(*model.tokenizer(), text);
}

}  // namespace

Result<std::vector<llm::Token>> encode_prompt(const LanguageModel& model, std::string_view text) {
  if (model.tokenizer() == nullptr)
    return fail(ErrorCode::unsupported, "The model has no vocabulary, so it cannot read text.");
  return model.tokenizer()->encode(text, {.add_special = true, .parse_special = true});
}

Result<std::vector<llm::Token>> encode_messages(const LanguageModel& model,
                                                const std::vector<ChatMessage>& messages) {
  std::string input;
  // Cannot fail: the input has only strings.
  (void)glz::write<WriteEscaped{}>(ChatInput{messages}, input);
  return encode_input(model, input);
}

Result<std::vector<llm::Token>> encode_messages(const LanguageModel& model,
                                                const std::string& file) {
  WEFT_ASSIGN(const ByteVector bytes, read_file(file));
  const std::string_view text = as_text(bytes);
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  const bool list = first != std::string_view::npos && text[first] == '[';
  auto tokens =
      encode_input(model, list ? "{\"messages\": " + std::string(text) + "}" : std::string(text));
  if (!tokens) return pass(std::move(tokens), "while reading {}", file);
  return tokens;
}

Result<> check_fits(LanguageModel& model, const std::vector<llm::Token>& prompt) {
  const std::uint32_t context = model.engine().options().context;
  if (prompt.size() < context) return {};
  return fail(ErrorCode::invalid_argument,
              "The prompt has {} tokens; at most {} fit into the context of {}, which the answer "
              "shares (--context).",
              prompt.size(), context - 1, context);
}

}  // namespace weft::cli
