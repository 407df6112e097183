// The data behind character.h; generated (see scripts/generate_unicode_tables.py).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace weft::unicode::tables {

// Sorted; a row says what every code point from (row >> 10) on to the next row is: the flags of
// ClassFlag in the low 10 bits.
extern const std::span<const std::uint32_t> class_rows;

// first, first + step, ... last map to themselves + delta.
struct CaseRange {
  char32_t first, last;
  std::uint8_t step;
  std::int32_t delta;
};
struct CaseSequence {
  char32_t from;
  std::u32string_view to;
};
extern const std::span<const CaseRange> lower_ranges, upper_ranges, title_ranges;
extern const std::span<const CaseSequence> lower_sequences, upper_sequences, title_sequences;

// Sorted: first to last decompose (NFD) into something that begins with `base`.
struct BaseRange {
  char32_t first, last, base;
};
extern const std::span<const BaseRange> base_ranges;

}  // namespace weft::unicode::tables
