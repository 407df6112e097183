// A set of bytes, such as the bytes that may come next in a text.
#pragma once

#include <array>
#include <bit>
#include <compare>
#include <cstdint>

namespace weft::grammar {

class ByteSet {
 public:
  ByteSet() = default;
  ByteSet(std::uint8_t first, std::uint8_t last) { add(first, last); }

  void add(std::uint8_t first, std::uint8_t last) {
    for (unsigned byte = first; byte <= last; ++byte)
      words_[byte >> 6] |= std::uint64_t{1} << (byte & 63);
  }
  [[nodiscard]] bool has(std::uint8_t byte) const {
    return (words_[byte >> 6] >> (byte & 63) & 1) != 0;
  }
  [[nodiscard]] int count() const {
    int sum = 0;
    for (const std::uint64_t word : words_) sum += std::popcount(word);
    return sum;
  }
  // Returns the smallest byte. The set must not be empty.
  [[nodiscard]] std::uint8_t first() const {
    unsigned word = 0;
    while (word < 3 && words_[word] == 0) ++word;
    return static_cast<std::uint8_t>(word * 64 +
                                     static_cast<unsigned>(std::countr_zero(words_[word])));
  }
  ByteSet& operator|=(const ByteSet& other) {
    for (std::size_t i = 0; i < words_.size(); ++i) words_[i] |= other.words_[i];
    return *this;
  }
  friend auto operator<=>(const ByteSet&, const ByteSet&) = default;

 private:
  std::array<std::uint64_t, 4> words_{};
};

}  // namespace weft::grammar
