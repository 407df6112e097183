// Cuts text into the words inside which byte pairs are merged. Each family of models has its own
// rule, given as a regular expression that is matched again and again from the left; here each is a
// small matcher by hand, linear in the text. Bytes that are not UTF-8 count as characters that are
// neither letter, number nor space.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace weft::tokenizer {

enum class PreTokenizer : std::uint8_t {
  gpt2,     // '(s|t|re|ve|m|ll|d)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
  llama3,   // (?i:'(s|t|re|ve|m|ll|d))|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|
            // ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
  qwen2,    // as llama3, but \p{N} one at a time
  qwen35,   // as qwen2, but with [\p{L}\p{M}] for \p{L}
  tekken,   // [^\r\n\p{L}\p{N}]?U*L+|[^\r\n\p{L}\p{N}]?U+L*|\p{N}|
            // ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+ with letters but a-z as U, letters
            // but A-Z as L
  standard  // [\p{P}$+<=>^~|]+ apart, the rest as gpt2, numbers apart, digits in threes
};

// By the name in tokenizer.ggml.pre; nullopt for one that is not known.
[[nodiscard]] std::optional<PreTokenizer> find_pretokenizer(std::string_view name);

// The words of the text, in order; together they are the text.
void split_words(PreTokenizer rule, std::string_view text, std::vector<std::string_view>& words);

}  // namespace weft::tokenizer
