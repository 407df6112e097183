// Which pages of the cache hold which positions of which sequence. Pages are numbers; the keys and
// values of a page lie on the device, in every layer at the same place. Whole pages that two
// sequences begin with are held by both and written by none.
//
// Threading: one thread. Invariant: a sequence's pages are positions 0 on without a gap; those that
// it shares come first.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace weft::llm {

class KvPages {
 public:
  struct Options {
    std::uint32_t pages = 0;      // Pages of all sequences.
    std::uint32_t positions = 1;  // Positions of a page.
    std::uint32_t sequences = 1;
    std::uint32_t pages_each = 1;  // Pages of a sequence, at most.
  };
  explicit KvPages(Options options);

  // Positions for which the sequence has pages.
  [[nodiscard]] std::uint32_t room(std::uint32_t sequence) const {
    return static_cast<std::uint32_t>(held_[sequence].size()) * options_.positions;
  }
  // Pages for at least so many positions; false, and nothing changed, where too few are free.
  [[nodiscard]] bool grow(std::uint32_t sequence, std::uint32_t positions);
  // Gives back what lies behind so many positions.
  void shrink(std::uint32_t sequence, std::uint32_t positions);
  // Before positions from `length` on are written again: how many of these first positions stay,
  // which is fewer where the page they end in is shared.
  [[nodiscard]] std::uint32_t rewind(std::uint32_t sequence, std::uint32_t length);
  // The whole pages among the first `length` positions of `from`, held by the empty `to` as well.
  // Returns their positions.
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
  std::vector<std::vector<std::uint32_t>> held_;  // [sequence]
  std::vector<std::uint32_t> holders_;            // [page]
  std::vector<std::uint32_t> free_;
};

}  // namespace weft::llm
