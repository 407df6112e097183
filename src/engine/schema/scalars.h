// Writes expressions for values without parts: listed values, numbers, strings.
//
// Errors: invalid_argument and unsupported; messages name the keyword and its position.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "engine/schema/conjunction.h"
#include "engine/schema/rules.h"

namespace weft::schema {

// A grammar expression; nullopt if no value is allowed.
using Expression = std::optional<std::string>;

// Writes those of `values` whose type is one of `types` (the bits of Type). Other keywords that
// restrict the value are unsupported.
[[nodiscard]] Result<Expression> write_listed(const Conjunction& all,
                                              const std::vector<json::Value>& values,
                                              unsigned types);
[[nodiscard]] Result<Expression> write_number(const Conjunction& all, bool integer, Rules& rules);
// Writes the rules for a string. `where` names the schema in messages.
[[nodiscard]] Result<Expression> write_string(const Conjunction& all, const std::string& where,
                                              Rules& rules);

}  // namespace weft::schema
