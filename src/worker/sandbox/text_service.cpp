#include "worker/sandbox/text_service.h"

#include <cstring>
#include <ranges>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/gguf/file.h"

namespace weft::worker {
namespace {

using tokenizer::Token;

// The most tokens of a `look_text` request.
constexpr std::size_t tokens_max = std::size_t{1} << 18;

// A model's file of which only the head is present.
class HeadSource final : public gguf::Source {
 public:
  HeadSource(ByteSpan head, std::uint64_t bytes) : head_(head), bytes_(bytes) {}

  [[nodiscard]] std::uint64_t bytes() const override { return bytes_; }
  [[nodiscard]] Result<> read(std::uint64_t offset, std::span<std::uint8_t> out) const override {
    return head_.read(offset, out);
  }
  [[nodiscard]] std::optional<ByteSpan> view(std::uint64_t offset,
                                             std::uint64_t bytes) const override {
    return head_.view(offset, bytes);
  }

 private:
  const gguf::MemorySource head_;
  const std::uint64_t bytes_;
};

void pack_tokens(Packer& out, std::span<const Token> tokens) {
  out.number(tokens.size());
  for (const Token token : tokens) out.number(static_cast<std::uint64_t>(token));
}

}  // namespace

Result<ByteVector> TextService::answer(const Frame& request) {
  if (request.kind == FrameKind::open_text) return open(request.payload);
  if (!text_) return fail(ErrorCode::internal, "The child for texts has no open model.");
  if (request.kind == FrameKind::read_prompt) return prompt(request.payload);
  if (request.kind == FrameKind::look_text) return look(request.payload);
  return fail(ErrorCode::internal, "The child for texts does not know the request {}.",
              static_cast<std::uint32_t>(request.kind));
}

Result<ByteVector> TextService::open(ByteSpan payload) {
  Unpacker in(payload);
  WEFT_ASSIGN(const std::uint64_t bytes, in.number());
  WEFT_ASSIGN(const ByteSpan head, in.bytes());
  const HeadSource source(head, bytes);
  WEFT_ASSIGN(const gguf::File file, gguf::read_file(source, {.header_bytes_max = head.size()}));
  WEFT_ASSIGN(text_, chat::ModelText::create(file.metadata));
  const tokenizer::Tokenizer& tokenizer = text_->tokenizer();
  const tokenizer::Vocabulary& vocabulary = tokenizer.vocabulary();
  const std::vector<Token> marks = text_->call_marks();
  Packer out;
  out.number(vocabulary.size());
  for (std::size_t i = 0; i < vocabulary.size(); ++i) {
    const auto token = static_cast<Token>(i);
    std::uint64_t flags = 0;
    if (vocabulary.is_control(token)) flags |= token_is_control;
    if (vocabulary.ends_generation(token)) flags |= token_ends_answer;
    if (std::ranges::find(marks, token) != marks.end()) flags |= token_marks_a_call;
    std::string text;
    tokenizer.append_piece(token, {.show_special = true}, text);
    out.number(flags).text(text);
  }
  return out.take();
}

Result<ByteVector> TextService::prompt(ByteSpan payload) {
  Unpacker in(payload);
  WEFT_ASSIGN(const std::uint64_t chat, in.number());
  WEFT_ASSIGN(const std::string text, in.text());
  WEFT_ASSIGN(const std::uint64_t now, in.number());
  WEFT_ASSIGN(const std::string format, in.text());
  WEFT_ASSIGN(const std::string rule, in.text());
  WEFT_ASSIGN(
      const std::vector<Token> tokens,
      text_->prompt({.chat = chat != 0, .text = text, .now = static_cast<std::int64_t>(now)}));
  WEFT_OK(text_->constraint({.format = format, .rule = rule, .calls = text}, tokens));
  Packer out;
  out.number(chat != 0 && text_->is_thinking(tokens) ? 1 : 0);
  pack_tokens(out, tokens);
  return out.take();
}

Result<ByteVector> TextService::look(ByteSpan payload) {
  Unpacker in(payload);
  WEFT_ASSIGN(const std::string what, in.text());
  WEFT_ASSIGN(const std::uint64_t add_special, in.number());
  WEFT_ASSIGN(const std::uint64_t parse_special, in.number());
  WEFT_ASSIGN(const std::string given, in.text());
  WEFT_ASSIGN(const std::uint64_t now, in.number());
  WEFT_ASSIGN(const std::uint64_t count, in.number());
  if (count > tokens_max)
    return fail(ErrorCode::internal, "The request has {} tokens; at most {} are read.", count,
                tokens_max);
  const tokenizer::Tokenizer& tokenizer = text_->tokenizer();
  std::vector<Token> tokens;
  for (std::uint64_t i = 0; i < count; ++i) {
    WEFT_ASSIGN(const std::uint64_t number, in.number());
    const auto token = static_cast<Token>(number);
    if (!tokenizer.vocabulary().has(token))
      return fail(ErrorCode::invalid_argument, "The token {} is not one of the model's {} tokens.",
                  number, tokenizer.vocabulary().size());
    tokens.push_back(token);
  }
  std::string text;
  std::vector<Token> found;
  if (what == "tokens") {
    WEFT_ASSIGN(found, tokenizer.encode(given, {.add_special = add_special != 0,
                                                .parse_special = parse_special != 0}));
  } else if (what == "text") {
    WEFT_ASSIGN(text, tokenizer.decode(tokens, {.show_special = true}));
  } else {
    WEFT_ASSIGN(text, text_->render(given, static_cast<std::int64_t>(now)));
  }
  Packer out;
  out.text(text);
  pack_tokens(out, found);
  return out.take();
}

}  // namespace weft::worker
