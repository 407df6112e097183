// Parses a template's source into an Ast. Fails with invalid_argument and the line.
#pragma once

#include <memory>
#include <string_view>

#include "common/base/result.h"
#include "engine/jinja/ast.h"

namespace weft::jinja {

// The greatest nesting depth of statements and expressions.
inline constexpr int parse_depth_max = 100;
inline constexpr std::size_t source_bytes_max = std::size_t{4} << 20;

[[nodiscard]] Result<std::unique_ptr<const Ast>> parse(std::string_view source);

}  // namespace weft::jinja
