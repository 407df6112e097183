// Text to tokens and back, as the model's file says. Exact against llama.cpp for byte-level BPE
// (llama-bpe, qwen2, qwen35, tekken, gpt-2, default), SentencePiece (llama) and WordPiece (bert,
// see word_piece.h, which forgets accents, capitals and spaces); unlike there, bytes that are not
// UTF-8 survive in the first two.
//
//   WEFT_ASSIGN(const auto tokenizer, Tokenizer::create(file.metadata));
//   WEFT_ASSIGN(const auto tokens, tokenizer->encode(text, {.add_special = true}));
//
// Threading: const after create(); encode and decode may run on many threads.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "engine/gguf/metadata.h"
#include "engine/tokenizer/bpe.h"
#include "engine/tokenizer/special.h"
#include "engine/tokenizer/token.h"
#include "engine/tokenizer/vocabulary.h"

namespace weft::tokenizer {

class Tokenizer {
 public:
  struct EncodeOptions {
    bool add_special = false;    // BOS and EOS, where the model wants them.
    bool parse_special = false;  // Control tokens written in the text are those tokens; otherwise
                                 // they are plain text.
  };
  struct DecodeOptions {
    bool show_special = true;  // Control tokens are written as their names; otherwise left out.
    // decode() takes away the spaces before punctuation where llama.cpp does (the families of
    // gpt-2, llama-bpe and default).
    bool clean_spaces = true;
  };
  // The longest text, so that positions fit into 32 bits.
  static constexpr std::size_t text_bytes_max = std::size_t{1} << 30;

  [[nodiscard]] static Result<std::unique_ptr<const Tokenizer>> create(
      const gguf::Metadata& metadata);
  Tokenizer(const Tokenizer&) = delete;

  // Fails only for a text beyond text_bytes_max.
  [[nodiscard]] Result<std::vector<Token>> encode(std::string_view text,
                                                  EncodeOptions options) const;

  // The bytes of the tokens; the space that encode() puts before the first word is taken away
  // again. What encode() was given comes back byte for byte when clean_spaces is off. Fails for a
  // number that is no token.
  [[nodiscard]] Result<std::string> decode(std::span<const Token> tokens,
                                           DecodeOptions options) const;

  // One token's bytes at the end of `out`, as they are in the middle of a text. The token is in the
  // vocabulary.
  void append_piece(Token token, DecodeOptions options, std::string& out) const;

  [[nodiscard]] const Vocabulary& vocabulary() const { return vocabulary_; }

 private:
  explicit Tokenizer(Vocabulary vocabulary)
      : vocabulary_(std::move(vocabulary)), special_(vocabulary_) {}

  const Vocabulary vocabulary_;
  const SpecialTokens special_;
  std::optional<BytePairEncoder> byte_pairs_;
};

}  // namespace weft::tokenizer
