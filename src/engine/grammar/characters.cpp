#include "engine/grammar/characters.h"

#include <algorithm>

#include "common/base/utf8.h"

namespace weft::grammar {
namespace {

constexpr CharacterRange surrogates{0xD800, 0xDFFF};

void add_sequences(char32_t first, char32_t last, std::vector<ByteSequence>& out) {
  for (const char32_t bound : {char32_t{0x7F}, char32_t{0x7FF}, char32_t{0xFFFF}}) {
    if (first <= bound && bound < last) {
      add_sequences(first, bound, out);
      return add_sequences(bound + 1, last, out);
    }
  }
  const unsigned bytes = last <= 0x7F ? 1 : last <= 0x7FF ? 2 : last <= 0xFFFF ? 3 : 4;
  for (unsigned i = 1; i < bytes; ++i) {
    const char32_t low = (char32_t{1} << (6 * i)) - 1;
    if ((first & ~low) == (last & ~low)) continue;
    if ((first & low) != 0) {
      add_sequences(first, first | low, out);
      return add_sequences((first | low) + 1, last, out);
    }
    if ((last & low) != low) {
      add_sequences(first, (last & ~low) - 1, out);
      return add_sequences(last & ~low, last, out);
    }
  }
  const std::string from = utf8::encode(first), to = utf8::encode(last);
  ByteSequence sequence;
  for (std::size_t i = 0; i < from.size(); ++i)
    sequence.push_back({static_cast<std::uint8_t>(from[i]), static_cast<std::uint8_t>(to[i])});
  out.push_back(std::move(sequence));
}

}  // namespace

CharacterSet normalized(const std::vector<CharacterRange>& ranges) {
  std::vector<CharacterRange> cut;
  for (CharacterRange range : ranges) {
    range.last = std::min(range.last, character_max);
    if (range.first < surrogates.first)
      cut.push_back({range.first, std::min<char32_t>(range.last, surrogates.first - 1)});
    if (range.last > surrogates.last)
      cut.push_back({std::max<char32_t>(range.first, surrogates.last + 1), range.last});
  }
  std::erase_if(cut, [](const CharacterRange& range) { return range.first > range.last; });
  std::ranges::sort(cut);
  CharacterSet out;
  for (const CharacterRange& range : cut) {
    if (!out.empty() && range.first <= out.back().last + 1) {
      out.back().last = std::max(out.back().last, range.last);
    } else {
      out.push_back(range);
    }
  }
  return out;
}

CharacterSet complement(const CharacterSet& set) {
  std::vector<CharacterRange> out;
  char32_t next = 0;
  for (const CharacterRange& range : set) {
    if (range.first > next) out.push_back({next, range.first - 1});
    next = range.last + 1;
  }
  if (next <= character_max) out.push_back({next, character_max});
  return normalized(out);
}

CharacterSet difference(const CharacterSet& set, const CharacterSet& without) {
  std::vector<CharacterRange> gone = complement(set);
  gone.insert(gone.end(), without.begin(), without.end());
  return complement(normalized(gone));
}

bool contains(const CharacterSet& set, char32_t character) {
  return std::ranges::any_of(set, [character](const CharacterRange& range) {
    return range.first <= character && character <= range.last;
  });
}

std::vector<ByteSequence> utf8_sequences(const CharacterSet& set) {
  std::vector<ByteSequence> out;
  for (const CharacterRange& range : set) add_sequences(range.first, range.last, out);
  return out;
}

}  // namespace weft::grammar
