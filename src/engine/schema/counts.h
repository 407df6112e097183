// Keywords that are counts (minLength, maxItems, ...), and repetitions in grammars.
//
// Errors: invalid_argument and unsupported, naming the keyword and its place.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "common/base/result.h"
#include "engine/schema/conjunction.h"

namespace weft::schema {

// A keyword that is a count; nullopt without it.
[[nodiscard]] Result<std::optional<std::uint64_t>> count_of(const Keywords& keywords,
                                                            const std::string& key);
// The largest of the counts under `key`, or the smallest.
[[nodiscard]] Result<std::uint64_t> largest(const Conjunction& all, const std::string& key);
[[nodiscard]] Result<std::optional<std::uint64_t>> smallest(const Conjunction& all,
                                                            const std::string& key);
inline constexpr std::uint64_t times_most = 16384;
// "what{least,most}"; "" for none. More than times_most are cut to that many.
[[nodiscard]] std::string times(const std::string& what, std::uint64_t least,
                                std::optional<std::uint64_t> most);

}  // namespace weft::schema
