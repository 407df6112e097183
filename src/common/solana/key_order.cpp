#include "common/solana/key_order.h"

#include <algorithm>

namespace weft::solana {
namespace {

char small_letter(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace

bool text_before(std::string_view a, std::string_view b) {
  const std::size_t shared = std::min(a.size(), b.size());
  for (std::size_t i = 0; i < shared; ++i)
    if (small_letter(a[i]) != small_letter(b[i])) return small_letter(a[i]) < small_letter(b[i]);
  if (a.size() != b.size()) return a.size() < b.size();
  for (std::size_t i = 0; i < shared; ++i)
    if (a[i] != b[i]) return a[i] > b[i];
  return false;
}

}  // namespace weft::solana
