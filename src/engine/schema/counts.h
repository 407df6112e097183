// Reads keywords that are counts (minLength, maxItems, ...), and writes repetitions in grammars.
//
// Errors: invalid_argument and unsupported; messages name the keyword and its position.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "common/base/result.h"
#include "engine/schema/conjunction.h"

namespace weft::schema {

// Returns the value of a keyword that is a count, or nullopt if the keyword is missing.
[[nodiscard]] Result<std::optional<std::uint64_t>> count_of(const Keywords& keywords,
                                                            const std::string& key);
// Returns the largest, or the smallest, of the counts under `key` in all schemas.
[[nodiscard]] Result<std::uint64_t> largest(const Conjunction& all, const std::string& key);
[[nodiscard]] Result<std::optional<std::uint64_t>> smallest(const Conjunction& all,
                                                            const std::string& key);
inline constexpr std::uint64_t times_most = 16384;
// Returns "what{least,most}", or "" for no repetition. Counts above times_most become times_most.
[[nodiscard]] std::string times(const std::string& what, std::uint64_t least,
                                std::optional<std::uint64_t> most);

}  // namespace weft::schema
