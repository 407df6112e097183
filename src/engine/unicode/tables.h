// The tables of character.h. scripts/generate_unicode_tables.py generates tables.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace weft::unicode::tables {

// Sorted rows; each describes all code points from (row >> 10) to the next row: its low 10 bits are
// the flags of ClassFlag.
extern const std::span<const std::uint32_t> class_rows;

// The code points first, first + step, ..., last map to themselves + delta.
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

// Sorted ranges: the decompositions (NFD) of the code points first to last begin with `base`.
struct BaseRange {
  char32_t first, last, base;
};
extern const std::span<const BaseRange> base_ranges;

}  // namespace weft::unicode::tables
