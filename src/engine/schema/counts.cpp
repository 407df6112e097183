#include "engine/schema/counts.h"

#include <algorithm>
#include <cmath>

namespace weft::schema {

Result<std::optional<std::uint64_t>> count_of(const Keywords& keywords, const std::string& key) {
  const json::Value* const value = keywords.find(key);
  if (value == nullptr) return std::nullopt;
  const auto number = value->kind() == json::Kind::number ? value->number() : Result<double>(-1.0);
  if (!number || *number < 0 || *number > 0x1p53 || std::floor(*number) != *number)
    return wrong_keyword(key, keywords.pointer, "is not a count");
  return static_cast<std::uint64_t>(*number);
}

Result<std::uint64_t> largest(const Conjunction& all, const std::string& key) {
  std::uint64_t out = 0;
  for (const Keywords& one : all.all) {
    WEFT_ASSIGN(const auto count, count_of(one, key));
    out = std::max(out, count.value_or(0));
    if (out > times_most)
      return unsupported_keyword(key, one.pointer, weft::format("above {}", times_most));
  }
  return out;
}

Result<std::optional<std::uint64_t>> smallest(const Conjunction& all, const std::string& key) {
  std::optional<std::uint64_t> out;
  for (const Keywords& one : all.all) {
    WEFT_ASSIGN(const auto count, count_of(one, key));
    if (count && (!out || *count < *out)) out = count;
  }
  return out;
}

std::string times(const std::string& what, std::uint64_t least, std::optional<std::uint64_t> most) {
  if (!most) return weft::format("{}{{{},}}", what, least);
  const std::uint64_t bounded = std::min(*most, times_most);
  return bounded == 0 ? "" : weft::format("{}{{{},{}}}", what, least, bounded);
}

}  // namespace weft::schema
