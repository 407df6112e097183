#include "engine/tokenizer/word_piece.h"

#include <algorithm>
#include <string>

#include "common/base/utf8.h"
#include "engine/unicode/character.h"

namespace weft::tokenizer {
namespace {

// U+2581, which marks the beginning of a word.
constexpr std::string_view word_begin = "\xE2\x96\x81";

bool is_chinese(char32_t code) {
  constexpr struct {
    char32_t first, last;
  } ranges[] = {{0x4E00, 0x9FFF},   {0x3400, 0x4DBF},   {0x20000, 0x2A6DF}, {0x2A700, 0x2B73F},
                {0x2B740, 0x2B81F}, {0x2B920, 0x2CEAF}, {0xF900, 0xFAFF},   {0x2F800, 0x2FA1F}};
  return std::ranges::any_of(
      ranges, [code](const auto& range) { return code >= range.first && code <= range.last; });
}

// True for characters that are words of their own: Unicode's punctuation and ASCII's symbols.
bool is_alone(char32_t code) {
  constexpr std::u32string_view symbols = U"$+<=>^`|~";
  return unicode::is(code, unicode::Class::punctuation) ||
         symbols.find(code) != std::u32string_view::npos || is_chinese(code);
}

// Appends the longest tokens from the left. A word that cannot be cut completely becomes one
// unknown token.
void encode_word(const Vocabulary& vocabulary, std::string_view word, std::vector<Token>& out) {
  const std::size_t before = out.size();
  for (std::size_t at = 0; at < word.size();) {
    std::size_t bytes = std::min(word.size() - at, vocabulary.text_bytes_max());
    std::optional<Token> found;
    for (; bytes > 0 && !found; --bytes) found = vocabulary.find(word.substr(at, bytes));
    if (!found) {
      out.resize(before);
      out.push_back(*vocabulary.unknown());
      return;
    }
    out.push_back(*found);
    at += bytes + 1;
  }
}

}  // namespace

void encode_words(const Vocabulary& vocabulary, std::string_view text, std::vector<Token>& out) {
  std::string word(word_begin);
  const auto end_word = [&] {
    if (word.size() > word_begin.size()) encode_word(vocabulary, word, out);
    word.resize(word_begin.size());
  };
  for (std::size_t at = 0; at < text.size();) {
    const utf8::Decoded read = utf8::decode(text, at);
    at += read.bytes;
    const char32_t code = unicode::base_of(read.code);
    if (unicode::is(code, unicode::Class::space)) {
      end_word();
      continue;
    }
    if (code == 0xFFFD || unicode::is(code, unicode::Class::mark) ||
        !unicode::is(code, unicode::Class::printable))
      continue;
    if (!is_alone(code)) {
      unicode::append_lower(word, code);
      continue;
    }
    end_word();
    unicode::append_lower(word, code);
    end_word();
  }
  end_word();
}

}  // namespace weft::tokenizer
