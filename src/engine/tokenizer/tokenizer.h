// Encodes text to tokens and decodes tokens to text, by the metadata of a model's file. The results
// equal llama.cpp's for byte-level BPE (llama-bpe, qwen2, qwen35, tekken, gpt-2, default),
// SentencePiece (llama) and WordPiece (bert; see word_piece.h, it loses accents, capitals and
// spaces). Unlike llama.cpp, bytes that are not UTF-8 are kept by BPE and SentencePiece.
//
//   WEFT_ASSIGN(const auto tokenizer, Tokenizer::create(file.metadata));
//   WEFT_ASSIGN(const auto tokens, tokenizer->encode(text, {.add_special = true}));
//
// Threading: const after create(); encode and decode may run on many threads at once.
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
    bool add_special = false;  // Adds BOS and EOS if the model wants them.
    // True: the name of a control token in the text becomes that token. False: it stays plain text.
    bool parse_special = false;
  };
  struct DecodeOptions {
    bool show_special = true;  // Writes control tokens as their names; false leaves them out.
    // Lets decode() remove the spaces before punctuation for the families for which llama.cpp does
    // it (gpt-2, llama-bpe and default).
    bool clean_spaces = true;
  };
  // The length of the longest text, which makes positions fit into 32 bits.
  static constexpr std::size_t text_bytes_max = std::size_t{1} << 30;

  [[nodiscard]] static Result<std::unique_ptr<const Tokenizer>> create(
      const gguf::Metadata& metadata);
  Tokenizer(const Tokenizer&) = delete;

  // Fails only for a text longer than text_bytes_max.
  [[nodiscard]] Result<std::vector<Token>> encode(std::string_view text,
                                                  EncodeOptions options) const;

  // Returns the bytes of the tokens, without the space that encode() adds before the first word.
  // With clean_spaces off the result is the text that encode() was given, byte for byte. Fails for
  // a number that is not a token.
  [[nodiscard]] Result<std::string> decode(std::span<const Token> tokens,
                                           DecodeOptions options) const;

  // Appends the bytes of one token, as in the middle of a text. The token must be in the
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
