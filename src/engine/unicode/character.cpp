#include "engine/unicode/character.h"

#include <algorithm>
#include <array>
#include <span>

#include "common/base/utf8.h"
#include "engine/unicode/tables.h"

namespace weft::unicode {
namespace {

std::uint16_t classes_searched(char32_t code) {
  if (code > 0x10FFFF) return 0;
  // Finds the last row at or before the code point; the first row begins at 0.
  const auto row = std::ranges::upper_bound(tables::class_rows,
                                            (static_cast<std::uint32_t>(code) << 10) | 0x3FF);
  return static_cast<std::uint16_t>(*(row - 1) & 0x3FF);
}

void append_mapped(std::string& out, char32_t code, std::span<const tables::CaseRange> ranges,
                   std::span<const tables::CaseSequence> sequences) {
  const auto range = std::ranges::lower_bound(ranges, code, {}, &tables::CaseRange::last);
  if (range != ranges.end() && range->first <= code && (code - range->first) % range->step == 0) {
    utf8::append(out, static_cast<char32_t>(static_cast<std::int32_t>(code) + range->delta));
    return;
  }
  const auto sequence = std::ranges::lower_bound(sequences, code, {}, &tables::CaseSequence::from);
  if (sequence != sequences.end() && sequence->from == code) {
    for (const char32_t part : sequence->to) utf8::append(out, part);
    return;
  }
  utf8::append(out, code);
}

}  // namespace

std::uint16_t classes(char32_t code) {
  // ASCII has a table of its own, because it is nearly all of the text that a tokenizer sees.
  static const std::array<std::uint16_t, 128> ascii = [] {
    std::array<std::uint16_t, 128> table{};
    for (char32_t c = 0; c < table.size(); ++c) table[c] = classes_searched(c);
    return table;
  }();
  return code < ascii.size() ? ascii[code] : classes_searched(code);
}

bool is_python_space(char32_t code) {
  return (code >= 0x1C && code <= 0x1F) || is(code, Class::space);
}

char32_t base_of(char32_t code) {
  const auto after =
      std::ranges::upper_bound(tables::base_ranges, code, {}, &tables::BaseRange::first);
  if (after == tables::base_ranges.begin()) return code;
  const tables::BaseRange& range = *std::prev(after);
  return code <= range.last ? range.base : code;
}

void append_lower(std::string& out, char32_t code) {
  append_mapped(out, code, tables::lower_ranges, tables::lower_sequences);
}
void append_upper(std::string& out, char32_t code) {
  append_mapped(out, code, tables::upper_ranges, tables::upper_sequences);
}
void append_title(std::string& out, char32_t code) {
  append_mapped(out, code, tables::title_ranges, tables::title_sequences);
}

}  // namespace weft::unicode
