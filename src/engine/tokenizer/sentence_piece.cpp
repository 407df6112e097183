#include "engine/tokenizer/sentence_piece.h"

#include <algorithm>

#include "common/base/utf8.h"

namespace weft::tokenizer {
namespace {

constexpr std::uint32_t nothing = 0xFFFFFFFF;

struct Part {
  std::uint32_t begin, bytes;    // bytes is 0 after the part was merged into another.
  std::uint32_t previous, next;  // `nothing` at the first and last part.
};

struct Candidate {
  float score;
  std::uint32_t left;
  std::uint32_t bytes;  // Length of both parts; shows whether either has merged since.
  // Orders by the best score, then by the leftmost position. (The standard heap has its greatest
  // element on top.)
  bool operator<(const Candidate& other) const {
    return score != other.score ? score < other.score : left > other.left;
  }
};

void append_piece(const Vocabulary& vocabulary, std::string_view piece, std::vector<Token>& out) {
  if (const auto token = vocabulary.find(piece)) {
    out.push_back(*token);
    return;
  }
  for (const char byte : piece) {
    auto token = vocabulary.find_byte(static_cast<std::uint8_t>(byte));
    if (!token) token = vocabulary.unknown();
    if (token) out.push_back(*token);
  }
}

}  // namespace

void encode_pieces(const Vocabulary& vocabulary, std::string_view text, std::vector<Token>& out) {
  std::vector<Part> parts;
  for (std::size_t at = 0; at < text.size();) {
    const auto bytes = static_cast<std::uint32_t>(utf8::decode(text, at).bytes);
    const auto index = static_cast<std::uint32_t>(parts.size());
    parts.push_back({.begin = static_cast<std::uint32_t>(at),
                     .bytes = bytes,
                     .previous = index == 0 ? nothing : index - 1,
                     .next = index + 1});
    at += bytes;
  }
  if (parts.empty()) return;
  parts.back().next = nothing;

  std::vector<Candidate> heap;
  const auto propose = [&](std::uint32_t left) {
    if (left == nothing || parts[left].next == nothing) return false;
    const std::uint32_t bytes = parts[left].bytes + parts[parts[left].next].bytes;
    if (bytes > vocabulary.text_bytes_max()) return false;
    const auto token = vocabulary.find(text.substr(parts[left].begin, bytes));
    if (!token) return false;
    heap.push_back({.score = vocabulary.score(*token), .left = left, .bytes = bytes});
    return true;
  };
  for (std::uint32_t i = 0; i + 1 < parts.size(); ++i) propose(i);
  std::make_heap(heap.begin(), heap.end());
  while (!heap.empty()) {
    std::pop_heap(heap.begin(), heap.end());
    const Candidate best = heap.back();
    heap.pop_back();
    Part& left = parts[best.left];
    if (left.bytes == 0 || left.next == nothing ||
        left.bytes + parts[left.next].bytes != best.bytes)
      continue;
    Part& right = parts[left.next];
    left.bytes = best.bytes;
    right.bytes = 0;
    left.next = right.next;
    if (left.next != nothing) parts[left.next].previous = best.left;
    if (propose(left.previous)) std::push_heap(heap.begin(), heap.end());
    if (propose(best.left)) std::push_heap(heap.begin(), heap.end());
  }
  for (std::uint32_t i = 0; i != nothing; i = parts[i].next)
    append_piece(vocabulary, text.substr(parts[i].begin, parts[i].bytes), out);
}

}  // namespace weft::tokenizer
