// Keeps track of which page of the cache holds which positions of which sequence. Pages are
// numbers; the keys and values of a page are on the device, at the same place in every layer. Two
// sequences with the same beginning may share whole pages, which neither of them writes.
//
// Threading: one thread. Invariant: a sequence's pages hold its positions from 0 on without a gap;
// the pages that it shares come first.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace weft::llm {

class KvPages {
 public:
  struct Options {
    std::uint32_t pages = 0;      // The number of pages for all sequences.
    std::uint32_t positions = 1;  // The number of positions in a page.
    std::uint32_t sequences = 1;
    std::uint32_t pages_each = 1;  // The most pages that one sequence has.
  };
  explicit KvPages(Options options);

  // The number of positions that the sequence has pages for.
  [[nodiscard]] std::uint32_t room(std::uint32_t sequence) const {
    return static_cast<std::uint32_t>(held_[sequence].size()) * options_.positions;
  }
  // Takes pages for at least `positions` positions; false, without any change, if too few are free.
  [[nodiscard]] bool grow(std::uint32_t sequence, std::uint32_t positions);
  // Gives back the pages after the first `positions` positions.
  void shrink(std::uint32_t sequence, std::uint32_t positions);
  // Prepares the sequence for writing the positions from `length` on again. Returns how many of the
  // first `length` positions the sequence keeps: fewer if the page in which they end is shared,
  // because the sequence then gives this page back.
  [[nodiscard]] std::uint32_t rewind(std::uint32_t sequence, std::uint32_t length);
  // Lets the empty sequence `to` share the whole pages among the first `length` positions of
  // `from`. Returns the number of positions in these pages.
  [[nodiscard]] std::uint32_t share(std::uint32_t from, std::uint32_t to, std::uint32_t length);

  [[nodiscard]] std::span<const std::uint32_t> of(std::uint32_t sequence) const {
    return held_[sequence];
  }
  [[nodiscard]] std::uint32_t free_pages() const {
    return static_cast<std::uint32_t>(free_.size());
  }
  [[nodiscard]] const Options& options() const { return options_; }

 private:
  [[nodiscard]] std::uint32_t pages_of(std::uint32_t positions) const {
    return (positions + options_.positions - 1) / options_.positions;
  }
  void cut(std::uint32_t sequence, std::uint32_t pages);

  const Options options_;
  std::vector<std::vector<std::uint32_t>> held_;  // The index is [sequence][page of the sequence].
  std::vector<std::uint32_t> holders_;            // [page]: the number of sequences that hold it.
  std::vector<std::uint32_t> free_;
};

}  // namespace weft::llm
