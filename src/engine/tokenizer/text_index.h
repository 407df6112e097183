// Finds texts by their bytes: which entry of a list equals this one? A quarter of a million entries
// cost four to eight bytes each, and no text is copied.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace weft::tokenizer {

class TextIndex {
 public:
  static constexpr std::uint32_t none = 0xFFFFFFFF;

  // `text_of(i)` gives entry i; of equal entries the last one is found. The list outlives the
  // index.
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
  // The slot that holds the text, or the empty one where it belongs.
  template <class TextOf>
  [[nodiscard]] std::size_t slot_of(std::string_view text, TextOf text_of) const {
    std::size_t at = std::hash<std::string_view>()(text) & (slots_.size() - 1);
    while (slots_[at] != none && text_of(slots_[at]) != text) at = (at + 1) & (slots_.size() - 1);
    return at;
  }

  std::vector<std::uint32_t> slots_;  // A power of two, at most half full.
};

}  // namespace weft::tokenizer
