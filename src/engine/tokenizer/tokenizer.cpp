#include "engine/tokenizer/tokenizer.h"

#include <charconv>

#include "engine/tokenizer/byte_alphabet.h"
#include "engine/tokenizer/clean_spaces.h"
#include "engine/tokenizer/sentence_piece.h"
#include "engine/tokenizer/word_piece.h"

namespace weft::tokenizer {
namespace {

constexpr std::string_view piece_space = "\xE2\x96\x81";  // U+2581, which stands for a space.

std::string escape_spaces(std::string_view text, bool with_prefix) {
  std::string out;
  out.reserve(text.size() + text.size() / 4 + piece_space.size());
  if (with_prefix) out += piece_space;
  for (const char c : text) {
    if (c == ' ') {
      out += piece_space;
    } else {
      out.push_back(c);
    }
  }
  return out;
}

void append_unescaped(std::string& out, std::string_view piece) {
  for (std::size_t at = 0; at < piece.size();) {
    if (piece.substr(at).starts_with(piece_space)) {
      out.push_back(' ');
      at += piece_space.size();
    } else {
      out.push_back(piece[at++]);
    }
  }
}

// Appends the byte of a token's text like "<0x0A>".
void append_byte(std::string& out, std::string_view text) {
  unsigned byte = 0;
  if (text.size() == 6 &&
      std::from_chars(text.data() + 3, text.data() + 5, byte, 16).ptr == text.data() + 5) {
    out.push_back(static_cast<char>(byte));
  } else {
    out += text;
  }
}

}  // namespace

Result<std::unique_ptr<const Tokenizer>> Tokenizer::create(const gguf::Metadata& metadata) {
  WEFT_ASSIGN(Vocabulary vocabulary, Vocabulary::create(metadata));
  std::unique_ptr<Tokenizer> tokenizer(new Tokenizer(std::move(vocabulary)));
  if (tokenizer->vocabulary_.model() == Vocabulary::Model::byte_pair) {
    WEFT_ASSIGN(tokenizer->byte_pairs_, BytePairEncoder::create(tokenizer->vocabulary_, metadata));
  }
  return tokenizer;
}

Result<std::vector<Token>> Tokenizer::encode(std::string_view text, EncodeOptions options) const {
  if (text.size() > text_bytes_max)
    return fail(ErrorCode::resource_exhausted,
                "The text has {} bytes; at most {} are tokenized at once.", text.size(),
                text_bytes_max);
  std::vector<Token> tokens;
  if (options.add_special && vocabulary_.adds_begin()) tokens.push_back(*vocabulary_.begin());
  bool after_special =
      true;  // SentencePiece puts a space before the text and after every special token.
  for (const auto& fragment : special_.split(vocabulary_, text, options.parse_special)) {
    if (fragment.token != no_token) {
      tokens.push_back(fragment.token);
      after_special = true;
      continue;
    }
    if (byte_pairs_) {
      byte_pairs_->encode(vocabulary_, fragment.text, tokens);
    } else if (vocabulary_.model() == Vocabulary::Model::word_piece) {
      encode_words(vocabulary_, fragment.text, tokens);
    } else {
      encode_pieces(vocabulary_,
                    escape_spaces(fragment.text, after_special && vocabulary_.adds_space_prefix()),
                    tokens);
    }
    after_special = false;
  }
  if (options.add_special && vocabulary_.adds_end()) tokens.push_back(*vocabulary_.end());
  return tokens;
}

void Tokenizer::append_piece(Token token, DecodeOptions options, std::string& out) const {
  const std::string_view text = vocabulary_.text(token);
  const TokenKind kind = vocabulary_.kind(token);
  if (vocabulary_.is_control(token)) {
    if (options.show_special) out += text;
  } else if (kind == TokenKind::user_defined) {
    out += text;
  } else if (kind == TokenKind::byte) {
    append_byte(out, text);
  } else if (kind == TokenKind::normal) {
    if (byte_pairs_) {
      append_bytes(out, text);
    } else {
      append_unescaped(out, text);
    }
  }
}

Result<std::string> Tokenizer::decode(std::span<const Token> tokens, DecodeOptions options) const {
  std::string text;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (!vocabulary_.has(tokens[i]))
      return fail(ErrorCode::invalid_argument, "Token {} is not in the vocabulary of {} tokens.",
                  tokens[i], vocabulary_.size());
    append_piece(tokens[i], options, text);
    if (i == 0 && !byte_pairs_ && vocabulary_.adds_space_prefix() && text.starts_with(' '))
      text.erase(0, 1);
  }
  const bool cleans = byte_pairs_ && byte_pairs_->rule() != PreTokenizer::qwen2 &&
                      byte_pairs_->rule() != PreTokenizer::qwen35 &&
                      byte_pairs_->rule() != PreTokenizer::tekken;
  if (cleans && options.clean_spaces) clean_spaces(text);
  return text;
}

}  // namespace weft::tokenizer
