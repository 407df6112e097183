// Byte-pair encoding: a word starts as its bytes, and the neighbours with the best rank are merged
// until no pair can be merged. A heap and a linked list make this O(n log n) for any word of n
// bytes.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "engine/gguf/metadata.h"
#include "engine/tokenizer/pretokenizer.h"
#include "engine/tokenizer/token.h"
#include "engine/tokenizer/vocabulary.h"

namespace weft::tokenizer {

class BytePairEncoder {
 public:
  // Reads tokenizer.ggml.merges and tokenizer.ggml.pre. The vocabulary outlives the encoder. Fails
  // with unsupported for an unknown pre-tokenizer.
  [[nodiscard]] static Result<BytePairEncoder> create(const Vocabulary& vocabulary,
                                                      const gguf::Metadata& metadata);

  void encode(const Vocabulary& vocabulary, std::string_view text, std::vector<Token>& out) const;
  [[nodiscard]] PreTokenizer rule() const { return rule_; }

 private:
  // A token or, from vocabulary.size() on, a text that occurs only in merges.
  using Symbol = std::uint32_t;
  struct Merge {
    std::uint64_t pair = ~std::uint64_t{0};  // left << 32 | right; all bits are 1 in an empty slot.
    std::uint32_t rank = 0;
    Symbol merged = 0;
  };
  struct Scratch;

  [[nodiscard]] Result<> load_merges(const Vocabulary& vocabulary, const gguf::StringList& merges);
  [[nodiscard]] const Merge* find_merge(Symbol left, Symbol right) const;
  void encode_word(const Vocabulary& vocabulary, std::string_view word, Scratch& scratch,
                   std::vector<Token>& out) const;
  void append_symbol(const Vocabulary& vocabulary, Symbol symbol, std::vector<Token>& out) const;

  PreTokenizer rule_ = PreTokenizer::gpt2;
  bool takes_whole_words_ = false;  // True if a word that is a token is not merged (Llama 3).
  std::array<Symbol, 256> byte_symbols_{};
  // Texts of symbols that are not tokens, in the byte alphabet.
  std::vector<std::string> extra_texts_;
  std::vector<Merge> merges_;  // A hash table whose size is a power of two, at most half full.
};

}  // namespace weft::tokenizer
