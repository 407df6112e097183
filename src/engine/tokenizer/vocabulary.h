// The tokens of a model in the order of its file, and their rules: which are special, which begin
// and end a text, and which end a generation.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "engine/gguf/metadata.h"
#include "engine/tokenizer/text_index.h"
#include "engine/tokenizer/token.h"

namespace weft::tokenizer {

// The numbers are those of GGUF files.
enum class TokenKind : std::uint8_t {
  normal = 1,
  unknown = 2,
  control = 3,
  user_defined = 4,
  unused = 5,
  byte = 6
};

class Vocabulary {
 public:
  enum class Model : std::uint8_t { byte_pair, sentence_piece, word_piece };

  // Reads the metadata tokenizer.ggml.*. Fails with unsupported if the file has no tokenizer or one
  // of an unknown model, and with invalid_argument if its lists contradict one another.
  [[nodiscard]] static Result<Vocabulary> create(const gguf::Metadata& metadata);

  [[nodiscard]] std::size_t size() const { return texts_.size(); }
  [[nodiscard]] bool has(Token token) const {
    return token >= 0 && static_cast<std::size_t>(token) < size();
  }
  // Returns the text of a token as the file writes it: in the byte alphabet for byte_pair, with
  // U+2581 for a space for sentence_piece.
  [[nodiscard]] std::string_view text(Token token) const {
    return texts_[static_cast<std::size_t>(token)];
  }
  [[nodiscard]] TokenKind kind(Token token) const {
    return kinds_[static_cast<std::size_t>(token)];
  }
  // Returns the score of a token, or 0 if the file has no scores.
  [[nodiscard]] float score(Token token) const {
    return scores_.empty() ? 0 : scores_[static_cast<std::size_t>(token)];
  }
  [[nodiscard]] std::optional<Token> find(std::string_view text) const;
  // Returns the token for one byte: that of the text "<0x0A>", or that of the byte's character.
  [[nodiscard]] std::optional<Token> find_byte(std::uint8_t byte) const;
  [[nodiscard]] std::size_t text_bytes_max() const { return text_bytes_max_; }

  [[nodiscard]] Model model() const { return model_; }
  [[nodiscard]] std::optional<Token> begin() const { return begin_; }  // Returns the BOS token.
  [[nodiscard]] std::optional<Token> end() const { return end_; }      // Returns the EOS token.
  [[nodiscard]] std::optional<Token> unknown() const { return unknown_; }
  [[nodiscard]] bool adds_begin() const { return adds_begin_; }
  [[nodiscard]] bool adds_end() const { return adds_end_; }
  [[nodiscard]] bool adds_space_prefix() const { return adds_space_prefix_; }

  // True for control tokens and unknown tokens. They have no text of their own, and encode() finds
  // them in a text only on request.
  [[nodiscard]] bool is_control(Token token) const {
    return kind(token) == TokenKind::control || kind(token) == TokenKind::unknown;
  }
  // True for EOS and all other tokens that end a turn or an answer.
  [[nodiscard]] bool ends_generation(Token token) const {
    return has(token) && ends_generation_[static_cast<std::size_t>(token)];
  }

 private:
  Vocabulary() = default;
  [[nodiscard]] Result<> load_tokens(const gguf::Metadata& metadata);
  [[nodiscard]] Result<> load_rules(const gguf::Metadata& metadata);
  void mark_known_names();

  Model model_ = Model::byte_pair;
  gguf::StringList texts_;
  std::vector<TokenKind> kinds_;
  std::vector<float> scores_;
  TextIndex index_;
  std::size_t text_bytes_max_ = 0;
  std::optional<Token> begin_, end_, unknown_;
  bool adds_begin_ = false, adds_end_ = false, adds_space_prefix_ = false;
  std::vector<bool> ends_generation_;
};

}  // namespace weft::tokenizer
