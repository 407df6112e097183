#include "engine/tokenizer/bpe.h"

#include <algorithm>
#include <map>

#include "common/base/utf8.h"
#include "engine/tokenizer/byte_alphabet.h"

namespace weft::tokenizer {
namespace {

constexpr std::uint32_t nothing = 0xFFFFFFFF;

std::size_t hash_of(std::uint64_t pair) {
  return static_cast<std::size_t>((pair * 0x9E3779B97F4A7C15ULL) >> 32);
}

}  // namespace

struct BytePairEncoder::Scratch {
  struct Part {
    Symbol symbol;
    std::uint32_t previous, next;  // `nothing` at the first and last part.
  };
  struct Candidate {
    std::uint32_t rank, left;
    Symbol left_symbol, right_symbol, merged;
    // Orders by the best rank, then by the leftmost position. (The standard heap has its greatest
    // element on top.)
    bool operator<(const Candidate& other) const {
      return rank != other.rank ? rank > other.rank : left > other.left;
    }
  };
  std::vector<Part> parts;
  std::vector<Candidate> heap;
  std::string alphabet;
};

Result<BytePairEncoder> BytePairEncoder::create(const Vocabulary& vocabulary,
                                                const gguf::Metadata& metadata) {
  BytePairEncoder encoder;
  WEFT_ASSIGN(const std::string_view name, metadata.string_or("tokenizer.ggml.pre", "default"));
  const auto rule = find_pretokenizer(name);
  if (!rule)
    return fail(
        ErrorCode::unsupported,
        "The pre-tokenizer '{}' is not supported; llama-bpe, qwen2, qwen35, tekken, gpt-2 and "
        "default are.",
        name);
  encoder.rule_ = *rule;
  encoder.takes_whole_words_ = *rule == PreTokenizer::llama3 || *rule == PreTokenizer::tekken;
  WEFT_ASSIGN(const gguf::Array* merges,
              metadata.array("tokenizer.ggml.merges", gguf::ValueType::string));
  WEFT_OK(encoder.load_merges(vocabulary, merges->strings));
  return encoder;
}

Result<> BytePairEncoder::load_merges(const Vocabulary& vocabulary,
                                      const gguf::StringList& merges) {
  std::map<std::string, Symbol, std::less<>> extras;
  const auto symbol_of = [&](std::string_view text) -> Symbol {
    if (const auto token = vocabulary.find(text)) return static_cast<Symbol>(*token);
    const auto [found, is_new] = extras.try_emplace(
        std::string(text), static_cast<Symbol>(vocabulary.size() + extra_texts_.size()));
    if (is_new) extra_texts_.emplace_back(text);
    return found->second;
  };
  for (unsigned byte = 0; byte < 256; ++byte)
    byte_symbols_[byte] = symbol_of(alphabet_character(static_cast<std::uint8_t>(byte)));

  constexpr std::size_t merges_max = 1u << 24;
  if (merges.size() > merges_max)
    return fail(ErrorCode::invalid_argument, "The tokenizer has {} merges; at most {} are read.",
                merges.size(), merges_max);
  std::size_t capacity = 16;
  while (capacity < merges.size() * 2) capacity *= 2;
  merges_.resize(capacity);
  std::string merged;
  for (std::size_t rank = 0; rank < merges.size(); ++rank) {
    const std::string_view text = merges[rank];
    const std::size_t cut = text.find(' ', 1);  // The left text may itself begin with a space.
    if (text.empty() || cut == std::string_view::npos)
      return fail(ErrorCode::invalid_argument,
                  "Merge {} ('{}') is not two texts with a space between.", rank, text);
    const std::string_view left = text.substr(0, cut), right = text.substr(cut + 1);
    merged.assign(left).append(right);
    const std::uint64_t pair = std::uint64_t{symbol_of(left)} << 32 | symbol_of(right);
    std::size_t at = hash_of(pair) & (capacity - 1);
    while (merges_[at].pair != ~std::uint64_t{0} && merges_[at].pair != pair)
      at = (at + 1) & (capacity - 1);
    if (merges_[at].pair == pair) continue;  // If a merge occurs twice, its first rank is used.
    merges_[at] = {
        .pair = pair, .rank = static_cast<std::uint32_t>(rank), .merged = symbol_of(merged)};
  }
  return {};
}

const BytePairEncoder::Merge* BytePairEncoder::find_merge(Symbol left, Symbol right) const {
  const std::uint64_t pair = std::uint64_t{left} << 32 | right;
  for (std::size_t at = hash_of(pair) & (merges_.size() - 1);;
       at = (at + 1) & (merges_.size() - 1)) {
    if (merges_[at].pair == pair) return &merges_[at];
    if (merges_[at].pair == ~std::uint64_t{0}) return nullptr;
  }
}

void BytePairEncoder::encode(const Vocabulary& vocabulary, std::string_view text,
                             std::vector<Token>& out) const {
  std::vector<std::string_view> words;
  split_words(rule_, text, words);
  Scratch scratch;
  for (const std::string_view word : words) encode_word(vocabulary, word, scratch, out);
}

void BytePairEncoder::encode_word(const Vocabulary& vocabulary, std::string_view word,
                                  Scratch& scratch, std::vector<Token>& out) const {
  if (takes_whole_words_ && word.size() <= vocabulary.text_bytes_max()) {
    scratch.alphabet.clear();
    append_alphabet(scratch.alphabet, word);
    if (const auto token = vocabulary.find(scratch.alphabet)) {
      out.push_back(*token);
      return;
    }
  }
  auto& parts = scratch.parts;
  auto& heap = scratch.heap;
  parts.clear();
  heap.clear();
  for (std::size_t i = 0; i < word.size(); ++i) {
    parts.push_back({.symbol = byte_symbols_[static_cast<std::uint8_t>(word[i])],
                     .previous = i == 0 ? nothing : static_cast<std::uint32_t>(i - 1),
                     .next = i + 1 == word.size() ? nothing : static_cast<std::uint32_t>(i + 1)});
  }
  const auto propose = [&](std::uint32_t left) {
    if (left == nothing || parts[left].next == nothing) return false;
    const Symbol right_symbol = parts[parts[left].next].symbol;
    const Merge* merge = find_merge(parts[left].symbol, right_symbol);
    if (merge == nullptr) return false;
    heap.push_back({.rank = merge->rank,
                    .left = left,
                    .left_symbol = parts[left].symbol,
                    .right_symbol = right_symbol,
                    .merged = merge->merged});
    return true;
  };
  for (std::uint32_t i = 0; i + 1 < parts.size(); ++i) propose(i);
  std::make_heap(heap.begin(), heap.end());
  const auto propose_and_sift = [&](std::uint32_t left) {
    if (propose(left)) std::push_heap(heap.begin(), heap.end());
  };
  while (!heap.empty()) {
    std::pop_heap(heap.begin(), heap.end());
    const Scratch::Candidate best = heap.back();
    heap.pop_back();
    Scratch::Part& left = parts[best.left];
    // A candidate is stale if either of its parts has merged since it was made. A part that was
    // merged into another is marked `nothing`.
    if (left.symbol != best.left_symbol || left.next == nothing ||
        parts[left.next].symbol != best.right_symbol)
      continue;
    Scratch::Part& right = parts[left.next];
    left.symbol = best.merged;
    right.symbol = nothing;
    left.next = right.next;
    if (left.next != nothing) parts[left.next].previous = best.left;
    propose_and_sift(left.previous);
    propose_and_sift(best.left);
  }
  for (std::uint32_t i = 0; i != nothing && i < parts.size(); i = parts[i].next)
    append_symbol(vocabulary, parts[i].symbol, out);
}

void BytePairEncoder::append_symbol(const Vocabulary& vocabulary, Symbol symbol,
                                    std::vector<Token>& out) const {
  if (symbol < vocabulary.size()) {
    out.push_back(static_cast<Token>(symbol));
    return;
  }
  // A symbol that is not a token is written byte by byte; a byte without a token becomes the
  // unknown token.
  std::string bytes;
  append_bytes(bytes, extra_texts_[symbol - vocabulary.size()]);
  for (const char byte : bytes) {
    auto token = vocabulary.find(alphabet_character(static_cast<std::uint8_t>(byte)));
    if (!token) token = vocabulary.find_byte(static_cast<std::uint8_t>(byte));
    if (!token) token = vocabulary.unknown();
    if (token) out.push_back(*token);
  }
}

}  // namespace weft::tokenizer
