#include "engine/tokenizer/pretokenizer.h"

#include <algorithm>

#include "common/base/utf8.h"
#include "engine/unicode/character.h"

namespace weft::tokenizer {
namespace {

using unicode::Class;

constexpr std::uint16_t bits(Class value) { return static_cast<std::uint16_t>(value); }
constexpr std::uint16_t letter = bits(Class::letter), mark = bits(Class::mark),
                        number = bits(Class::number), space = bits(Class::space),
                        punctuation = bits(Class::punctuation);

struct Character {
  char32_t code = 0;
  std::uint16_t classes = 0;
  std::uint32_t bytes = 0;  // 0 at the end of the text.

  [[nodiscard]] bool exists() const { return bytes != 0; }
  [[nodiscard]] bool is(std::uint16_t any) const { return (classes & any) != 0; }
  [[nodiscard]] bool is_newline() const { return exists() && (code == '\r' || code == '\n'); }
};

Character character_at(std::string_view text, std::size_t at) {
  if (at >= text.size()) return {};
  const utf8::Decoded decoded = utf8::decode(text, at);
  return {.code = decoded.code,
          .classes = decoded.valid ? unicode::classes(decoded.code) : std::uint16_t{0},
          .bytes = static_cast<std::uint32_t>(decoded.bytes)};
}

// Returns the end of the run of characters of the classes `any` that begins at `at`.
std::size_t end_of_run(std::string_view text, std::size_t at, std::uint16_t any) {
  for (Character next = character_at(text, at); next.exists() && next.is(any);
       next = character_at(text, at))
    at += next.bytes;
  return at;
}
std::size_t end_of_run_without(std::string_view text, std::size_t at, std::uint16_t none) {
  for (Character next = character_at(text, at); next.exists() && !next.is(none);
       next = character_at(text, at))
    at += next.bytes;
  return at;
}
std::size_t end_of_bytes(std::string_view text, std::size_t at, std::string_view any) {
  return std::min(text.find_first_not_of(any, at), text.size());
}

// Returns the end of the contraction 's 't 're 've 'm 'll 'd at `at`, or `at` itself if there is
// none.
std::size_t end_of_contraction(std::string_view text, std::size_t at, bool any_case) {
  if (text[at] != '\'') return at;
  const auto letter_at = [&](std::size_t i) -> char {
    if (i >= text.size()) return '\0';
    const char c = text[i];
    return any_case && c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
  };
  const char first = letter_at(at + 1), second = letter_at(at + 2);
  if (first == 's' || first == 't' || first == 'm' || first == 'd') return at + 2;
  if ((first == 'r' && second == 'e') || (first == 'v' && second == 'e') ||
      (first == 'l' && second == 'l'))
    return at + 3;
  return at;
}

// Matches \s+(?!\S)|\s+ : a run of spaces without its last space, which belongs to the word after
// it.
std::size_t end_of_spaces(std::string_view text, std::size_t at) {
  std::size_t end = at, last = at;
  std::size_t count = 0;
  for (Character next = character_at(text, end); next.exists() && next.is(space);
       next = character_at(text, end)) {
    last = end;
    end += next.bytes;
    ++count;
  }
  return count > 1 && end < text.size() ? last : end;
}

std::size_t end_of_word_gpt2(std::string_view text, std::size_t at) {
  if (const std::size_t end = end_of_contraction(text, at, false); end != at) return end;
  const std::size_t body = text[at] == ' ' ? at + 1 : at;
  const Character first = character_at(text, body);
  if (first.exists()) {
    if (first.is(letter)) return end_of_run(text, body, letter);
    if (first.is(number)) return end_of_run(text, body, number);
    if (!first.is(space)) return end_of_run_without(text, body, space | letter | number);
  }
  return end_of_spaces(text, at);
}

struct ModernRule {
  std::uint16_t letters;
  int digits_max;
  std::string_view behind_symbols = "\r\n";
};

// Returns the end of a word that is not letters or a contraction.
std::size_t end_of_other(std::string_view text, std::size_t at, const ModernRule& rule) {
  if (character_at(text, at).is(number)) {
    std::size_t end = at;
    for (int i = 0; i < rule.digits_max; ++i) {
      const Character next = character_at(text, end);
      if (!next.is(number)) break;
      end += next.bytes;
    }
    return end;
  }
  const std::uint16_t not_symbol = space | number | rule.letters;
  const std::size_t body = text[at] == ' ' ? at + 1 : at;
  if (const Character next = character_at(text, body); next.exists() && !next.is(not_symbol))
    return end_of_bytes(text, end_of_run_without(text, body, not_symbol), rule.behind_symbols);
  // Matches \s*[\r\n]+ : spaces up to the last newline among them.
  std::size_t newline_end = at;
  std::size_t end = at;
  for (Character next = character_at(text, end); next.exists() && next.is(space);
       next = character_at(text, end)) {
    end += next.bytes;
    if (next.is_newline()) newline_end = end;
  }
  if (newline_end != at) return newline_end;
  return end_of_spaces(text, at);
}

std::size_t end_of_word_modern(std::string_view text, std::size_t at, ModernRule rule) {
  if (const std::size_t end = end_of_contraction(text, at, true); end != at) return end;
  const Character first = character_at(text, at);
  // Matches letters, with at most one character before them that is not a letter, a number or a
  // newline.
  if (first.is(rule.letters)) return end_of_run(text, at, rule.letters);
  if (!first.is_newline() && !first.is(number)) {
    const std::size_t body = at + first.bytes;
    if (const std::size_t end = end_of_run(text, body, rule.letters); end != body) return end;
  }
  return end_of_other(text, at, rule);
}

// Returns the end of U*L+|U+L* at `at`, or `at` itself if there is no match. A letter beyond ASCII
// is both U and L.
std::size_t end_of_cased(std::string_view text, std::size_t at) {
  const auto is_upper = [](const Character& one) {
    return one.is(letter) && !(one.code >= 'a' && one.code <= 'z');
  };
  const auto is_lower = [](const Character& one) {
    return one.is(letter) && !(one.code >= 'A' && one.code <= 'Z');
  };
  std::size_t upper_end = at, last_both = std::string_view::npos;
  for (Character next = character_at(text, upper_end); is_upper(next);
       next = character_at(text, upper_end)) {
    if (is_lower(next)) last_both = upper_end;
    upper_end += next.bytes;
  }
  std::size_t end = upper_end;
  if (!is_lower(character_at(text, end))) {
    // U* of the first alternative gives characters back until the next one is also an L.
    if (last_both == std::string_view::npos) return upper_end;
    end = last_both;
  }
  for (Character next = character_at(text, end); is_lower(next); next = character_at(text, end))
    end += next.bytes;
  return end;
}

std::size_t end_of_word_tekken(std::string_view text, std::size_t at) {
  const Character first = character_at(text, at);
  if (first.is(letter)) return end_of_cased(text, at);
  if (!first.is_newline() && !first.is(number)) {
    const std::size_t body = at + first.bytes;
    if (const std::size_t end = end_of_cased(text, body); end != body) return end;
  }
  return end_of_other(text, at, {.letters = letter, .digits_max = 1, .behind_symbols = "\r\n/"});
}

template <class EndOfWord>
void split(std::string_view text, std::vector<std::string_view>& words, EndOfWord end_of_word) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = end_of_word(text, at);
    words.push_back(text.substr(at, end - at));
    at = end;
  }
}

// Passes each match in a text to `match` and the text between matches to `rest`.
template <class EndOfMatch, class Match, class Rest>
void cut(std::string_view text, EndOfMatch end_of_match, Match match, Rest rest) {
  std::size_t from = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = end_of_match(text, at);
    if (end == at) {
      at += character_at(text, at).bytes;
      continue;
    }
    if (from != at) rest(text.substr(from, at - from));
    match(text.substr(at, end - at));
    at = from = end;
  }
  if (from != text.size()) rest(text.substr(from));
}

std::size_t end_of_punctuation(std::string_view text, std::size_t at) {
  constexpr std::string_view symbols = "$+<=>^~|";
  for (Character next = character_at(text, at); next.exists(); next = character_at(text, at)) {
    if (!next.is(punctuation) &&
        (next.code >= 0x80 || symbols.find(static_cast<char>(next.code)) == std::string_view::npos))
      break;
    at += next.bytes;
  }
  return at;
}

std::size_t end_of_three_digits(std::string_view text, std::size_t at) {
  for (std::size_t i = 0; i < 3; ++i)
    if (at + i >= text.size() || text[at + i] < '0' || text[at + i] > '9') return at;
  return at + 3;
}

void split_standard(std::string_view text, std::vector<std::string_view>& words) {
  const auto emit = [&](std::string_view part) { words.push_back(part); };
  const auto digits = [&](std::string_view part) { cut(part, end_of_three_digits, emit, emit); };
  const auto number_run = [](std::string_view part, std::size_t at) {
    return end_of_run(part, at, number);
  };
  const auto words_of = [&](std::string_view part) {
    for (std::size_t at = 0; at < part.size();) {
      const std::size_t end = end_of_word_gpt2(part, at);
      cut(part.substr(at, end - at), number_run, digits, digits);
      at = end;
    }
  };
  cut(text, end_of_punctuation, words_of, words_of);
}

}  // namespace

std::optional<PreTokenizer> find_pretokenizer(std::string_view name) {
  struct Row {
    std::string_view name;
    PreTokenizer rule;
  };
  static constexpr Row rows[] = {
      {"llama-bpe", PreTokenizer::llama3},       {"llama3", PreTokenizer::llama3},
      {"llama-v3", PreTokenizer::llama3},        {"qwen2", PreTokenizer::qwen2},
      {"deepseek-r1-qwen", PreTokenizer::qwen2}, {"qwen35", PreTokenizer::qwen35},
      {"tekken", PreTokenizer::tekken},          {"gpt-2", PreTokenizer::gpt2},
      {"default", PreTokenizer::standard}};
  for (const Row& row : rows)
    if (row.name == name) return row.rule;
  return std::nullopt;
}

void split_words(PreTokenizer rule, std::string_view text, std::vector<std::string_view>& words) {
  const auto modern = [](ModernRule how) {
    return
        [how](std::string_view part, std::size_t at) { return end_of_word_modern(part, at, how); };
  };
  switch (rule) {
    case PreTokenizer::gpt2:
      return split(text, words, end_of_word_gpt2);
    case PreTokenizer::llama3:
      return split(text, words, modern({.letters = letter, .digits_max = 3}));
    case PreTokenizer::qwen2:
      return split(text, words, modern({.letters = letter, .digits_max = 1}));
    case PreTokenizer::qwen35:
      return split(text, words,
                   modern({.letters = static_cast<std::uint16_t>(letter | mark), .digits_max = 1}));
    case PreTokenizer::tekken:
      return split(text, words, end_of_word_tekken);
    case PreTokenizer::standard:
      return split_standard(text, words);
  }
}

}  // namespace weft::tokenizer
