// Cuts text into words; byte pairs are merged only within a word. Each family of models has its own
// rule, given as a regular expression that is matched repeatedly from the left. Here each rule is a
// small hand-written matcher that is linear in the text. A byte that is not UTF-8 counts as a
// character that is not a letter, a number or a space.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace weft::tokenizer {

enum class PreTokenizer : std::uint8_t {
  // GPT-2. The alternatives of its expression:
  //   '(s|t|re|ve|m|ll|d)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
  gpt2,
  // Llama 3. The alternatives of its expression:
  //   (?i:'(s|t|re|ve|m|ll|d))|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|
  //    ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
  llama3,
  // The expression of llama3 with \p{N}, one digit at a time, for \p{N}{1,3}.
  qwen2,
  // The expression of qwen2 with [\p{L}\p{M}] for \p{L}.
  qwen35,
  // Mistral's Tekken. U is any letter except a-z, and L is any letter except A-Z:
  //   [^\r\n\p{L}\p{N}]?U*L+|[^\r\n\p{L}\p{N}]?U+L*|\p{N}|
  //    ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+
  tekken,
  // Separates [\p{P}$+<=>^~|]+ first, then cuts each part as gpt2, then separates numbers, and cuts
  // their digits in threes.
  standard
};

// Finds the rule by the name in tokenizer.ggml.pre. Returns nullopt for an unknown name.
[[nodiscard]] std::optional<PreTokenizer> find_pretokenizer(std::string_view name);

// Cuts the text into words, in order. All words together are the whole text.
void split_words(PreTokenizer rule, std::string_view text, std::vector<std::string_view>& words);

}  // namespace weft::tokenizer
