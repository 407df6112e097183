#include "engine/llm/gpu/kv_pages.h"

#include <algorithm>

#include "common/base/check.h"

namespace weft::llm {

KvPages::KvPages(Options options)
    : options_(options), held_(options.sequences), holders_(options.pages) {
  // The page with the lowest number is taken first.
  for (std::uint32_t page = options.pages; page > 0; --page) free_.push_back(page - 1);
}

bool KvPages::grow(std::uint32_t sequence, std::uint32_t positions) {
  std::vector<std::uint32_t>& held = held_[sequence];
  const std::uint32_t wanted = pages_of(positions);
  if (wanted <= held.size()) return true;
  if (wanted > options_.pages_each || wanted - held.size() > free_.size()) return false;
  while (held.size() < wanted) {
    held.push_back(free_.back());
    holders_[free_.back()] = 1;
    free_.pop_back();
  }
  return true;
}

void KvPages::cut(std::uint32_t sequence, std::uint32_t pages) {
  std::vector<std::uint32_t>& held = held_[sequence];
  while (held.size() > pages) {
    check(holders_[held.back()] > 0, "a page that is held has a holder");
    if (--holders_[held.back()] == 0) free_.push_back(held.back());
    held.pop_back();
  }
}

void KvPages::shrink(std::uint32_t sequence, std::uint32_t positions) {
  cut(sequence, pages_of(positions));
}

std::uint32_t KvPages::rewind(std::uint32_t sequence, std::uint32_t length) {
  const std::vector<std::uint32_t>& held = held_[sequence];
  const std::uint32_t page = length / options_.positions;
  if (page >= held.size() || holders_[held[page]] == 1) return length;
  cut(sequence, page);
  return page * options_.positions;
}

std::uint32_t KvPages::share(std::uint32_t from, std::uint32_t to, std::uint32_t length) {
  check(held_[to].empty(), "an empty sequence takes what another one has");
  const auto pages = std::min<std::size_t>(length / options_.positions, held_[from].size());
  for (std::size_t i = 0; i < pages; ++i) {
    held_[to].push_back(held_[from][i]);
    ++holders_[held_[from][i]];
  }
  return static_cast<std::uint32_t>(pages) * options_.positions;
}

}  // namespace weft::llm
