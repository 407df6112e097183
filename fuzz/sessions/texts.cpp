#include "fuzz/sessions/texts.h"

#include <algorithm>

namespace weft::sessions {

namespace {

std::vector<std::int32_t> tokens_of(const std::string& text) {
  std::vector<std::int32_t> out;
  for (const char c : text) out.push_back(static_cast<std::uint8_t>(c));
  return out;
}

class Reader final : public coordinator::TextReader {
 public:
  Result<coordinator::TokenTexts> open(std::uint64_t, ByteSpan head) override {
    // One model of eight cannot be read.
    if (!head.empty() && head[0] % 8 == 7)
      return fail(ErrorCode::invalid_argument, "The model's tokenizer cannot be read.");
    coordinator::TokenTexts out;
    for (int i = 0; i < 300; ++i) {
      const bool control = i >= 256;
      WEFT_OK(out.add(control ? "<control>" : std::string(1, static_cast<char>(i)),
                      {.is_control = control, .ends_answer = i == 256, .marks_a_call = i == 257}));
    }
    return out;
  }
  Result<coordinator::ReadPrompt> prompt(const coordinator::TextRequest& request,
                                         const std::string& prompt) override {
    if (request.format == "gbnf" && request.rule.size() % 5 == 4)
      return fail(ErrorCode::invalid_argument, "The grammar cannot be read.");
    auto tokens = tokens_of(prompt.substr(0, 400));
    if (tokens.empty()) tokens.push_back(1);
    return coordinator::ReadPrompt{.tokens = std::move(tokens),
                                   .begins_in_thought = prompt.size() % 7 == 3};
  }
  Result<coordinator::Told> look(const coordinator::TextRequest& request) override {
    coordinator::Told out;
    if (!request.prompts.empty()) {
      out.tokens = tokens_of(request.prompts[0]);
      out.text = request.prompts[0];
    }
    for (const std::int32_t token : request.look.tokens) {
      if (token >= 0 && token < 256) out.text += static_cast<char>(token);
    }
    return out;
  }
  bool alive() const override { return true; }
};

}  // namespace

std::unique_ptr<coordinator::TextReader> make_text_reader() { return std::make_unique<Reader>(); }

}  // namespace weft::sessions
