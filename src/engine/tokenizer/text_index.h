// A hash index that finds the entry of a list that equals a text. It copies no text and takes four
// to eight bytes for each entry, because a vocabulary has up to a quarter of a million entries.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace weft::tokenizer {

class TextIndex {
 public:
  static constexpr std::uint32_t none = 0xFFFFFFFF;

  // `text_of(i)` returns entry i of the list, which outlives the index. If entries are equal, the
  // last one is found.
  template <class TextOf>
  void build(std::size_t count, TextOf text_of) {
    std::size_t capacity = 16;
    while (capacity < count * 2) capacity *= 2;
    slots_.assign(capacity, none);
    for (std::size_t i = 0; i < count; ++i) {
      std::uint32_t& slot = slots_[slot_of(text_of(i), text_of)];
      slot = static_cast<std::uint32_t>(i);
    }
  }

  template <class TextOf>
  [[nodiscard]] std::uint32_t find(std::string_view text, TextOf text_of) const {
    return slots_.empty() ? none : slots_[slot_of(text, text_of)];
  }

 private:
  // Returns the slot that holds the text, or the empty slot in which it would be.
  template <class TextOf>
  [[nodiscard]] std::size_t slot_of(std::string_view text, TextOf text_of) const {
    std::size_t at = std::hash<std::string_view>()(text) & (slots_.size() - 1);
    while (slots_[at] != none && text_of(slots_[at]) != text) at = (at + 1) & (slots_.size() - 1);
    return at;
  }

  std::vector<std::uint32_t> slots_;  // The size is a power of two; at most half of it is used.
};

}  // namespace weft::tokenizer
