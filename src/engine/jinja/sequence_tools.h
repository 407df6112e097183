// What filters that look into elements share: paths like "function.name", and keys that ignore
// case.
#pragma once

#include <optional>
#include <vector>

#include "common/base/result.h"
#include "engine/jinja/interpreter.h"
#include "engine/jinja/value.h"

namespace weft::jinja {

// object.a.b.0 for "a.b.0" or 0; `otherwise` replaces what is undefined on the way.
[[nodiscard]] Result<Value> attribute_path(Interpreter& interpreter, const Value& object,
                                           const Value& path, std::optional<Value> otherwise = {});

// What elements are sorted and compared by: themselves or an attribute, texts in lower case unless
// the case counts.
struct KeyRule {
  std::optional<Value> attribute;  // For keys_of one, or several with commas between.
  bool case_sensitive = false;
  std::optional<Value> otherwise;
};
[[nodiscard]] Result<Value> key_of(Interpreter& interpreter, const Value& element,
                                   const KeyRule& rule);
// The same as a list, of one key for each of several attributes; lists whose elements are equal
// need no order of them.
[[nodiscard]] Result<Value> keys_of(Interpreter& interpreter, const Value& element,
                                    const KeyRule& rule);

}  // namespace weft::jinja
