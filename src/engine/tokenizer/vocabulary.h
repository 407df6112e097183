// The tokens of a model as its file lists them, and the rules that go with them: which ones are
// special, which begin and end a text, which end a generation.
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

// Numbers as they stand in files.
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

  // Reads tokenizer.ggml.*. Fails with unsupported for a file without tokenizer or of another
  // model, with invalid_argument for lists that contradict one another.
  [[nodiscard]] static Result<Vocabulary> create(const gguf::Metadata& metadata);

  [[nodiscard]] std::size_t size() const { return texts_.size(); }
  [[nodiscard]] bool has(Token token) const {
    return token >= 0 && static_cast<std::size_t>(token) < size();
  }
  // As the file writes it: in byte_alphabet.h for byte_pair, with U+2581 for a space for
  // sentence_piece.
  [[nodiscard]] std::string_view text(Token token) const {
    return texts_[static_cast<std::size_t>(token)];
  }
  [[nodiscard]] TokenKind kind(Token token) const {
    return kinds_[static_cast<std::size_t>(token)];
  }
  // 0 where the file gives none.
  [[nodiscard]] float score(Token token) const {
    return scores_.empty() ? 0 : scores_[static_cast<std::size_t>(token)];
  }
  [[nodiscard]] std::optional<Token> find(std::string_view text) const;
  // The token that stands for one byte, "<0x0A>", or for the character that it is.
  [[nodiscard]] std::optional<Token> find_byte(std::uint8_t byte) const;
  [[nodiscard]] std::size_t text_bytes_max() const { return text_bytes_max_; }

  [[nodiscard]] Model model() const { return model_; }
  [[nodiscard]] std::optional<Token> begin() const { return begin_; }  // BOS
  [[nodiscard]] std::optional<Token> end() const { return end_; }      // EOS
  [[nodiscard]] std::optional<Token> unknown() const { return unknown_; }
  [[nodiscard]] bool adds_begin() const { return adds_begin_; }
  [[nodiscard]] bool adds_end() const { return adds_end_; }
  [[nodiscard]] bool adds_space_prefix() const { return adds_space_prefix_; }

  // Control tokens and unknown: parsed in text only when asked for, and without text of their own.
  [[nodiscard]] bool is_control(Token token) const {
    return kind(token) == TokenKind::control || kind(token) == TokenKind::unknown;
  }
  // EOS, and whatever else ends a turn or an answer.
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
