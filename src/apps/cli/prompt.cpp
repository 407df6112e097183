#include "apps/cli/prompt.h"

#include "apps/cli/files.h"
#include "common/json/json.h"

namespace weft::cli {
namespace {

Result<std::vector<ChatMessage>> read_messages(const std::string& file) {
  WEFT_ASSIGN(const ByteVector bytes, read_file(file));
  constexpr std::size_t content_bytes_max = std::size_t{16} << 20;
  WEFT_ASSIGN(const json::Value root, json::parse(as_text(bytes), {.bytes_max = 2 * content_bytes_max}));
  WEFT_ASSIGN(const auto list, root.array());
  std::vector<ChatMessage> messages;
  for (const json::Value& value : list) {
    ChatMessage message;
    WEFT_ASSIGN(const json::Object object, value.object({"role", "content"}));
    WEFT_ASSIGN(const json::Value role, object.get("role"));
    WEFT_ASSIGN(message.role, role.string());
    WEFT_ASSIGN(const json::Value content, object.get("content"));
    WEFT_ASSIGN(message.content, content.string({.bytes_max = content_bytes_max}));
    messages.push_back(std::move(message));
  }
  return messages;
}

}  // namespace

Result<std::vector<llm::Token>> encode_prompt(const LanguageModel& model, std::string_view text) {
  if (model.tokenizer() == nullptr) return fail(ErrorCode::unsupported, "The model has no vocabulary, so it cannot read text.");
  return model.tokenizer()->encode(text, {.add_special = true, .parse_special = true});
}

Result<std::vector<llm::Token>> encode_messages(const LanguageModel&, const std::vector<ChatMessage>&) {
  return fail(ErrorCode::unsupported, "Chat templates are not there yet.");
}

Result<std::vector<llm::Token>> encode_messages(const LanguageModel& model, const std::string& file) {
  auto messages = read_messages(file);
  if (!messages) return pass(std::move(messages), "while reading {}", file);
  return encode_messages(model, *messages);
}

}  // namespace weft::cli
