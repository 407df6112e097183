// Expressions for values without parts: listed values, numbers, strings.
//
// Errors: invalid_argument and unsupported, naming the keyword and its place.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "engine/schema/conjunction.h"
#include "engine/schema/rules.h"

namespace weft::schema {

// An expression of a grammar; nullopt if no value is allowed.
using Expression = std::optional<std::string>;

// One of `values` that is of one of `types` (the bits of Conjunction). Other keywords beside them
// are unsupported.
[[nodiscard]] Result<Expression> write_listed(const Conjunction& all,
                                              const std::vector<json::Value>& values,
                                              unsigned types);
[[nodiscard]] Result<Expression> write_number(const Conjunction& all, bool integer, Rules& rules);
// `where` is for messages.
[[nodiscard]] Result<Expression> write_string(const Conjunction& all, const std::string& where,
                                              Rules& rules);

}  // namespace weft::schema
