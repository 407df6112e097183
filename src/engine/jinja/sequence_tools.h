// Helpers of filters that read parts of elements: paths like "function.name", and keys that ignore
// case.
#pragma once

#include <optional>
#include <vector>

#include "common/base/result.h"
#include "engine/jinja/interpreter.h"
#include "engine/jinja/value.h"

namespace weft::jinja {

// Returns object.a.b.0 for the path "a.b.0", and object[0] for the path 0. `otherwise` replaces an
// undefined value on the path.
[[nodiscard]] Result<Value> attribute_path(Interpreter& interpreter, const Value& object,
                                           const Value& path, std::optional<Value> otherwise = {});

// The rule for the key by which an element is sorted and compared: the key is the element itself or
// an attribute of it. Texts are converted to lower case unless case_sensitive is set.
struct KeyRule {
  std::optional<Value> attribute;  // keys_of() also takes several, with commas between.
  bool case_sensitive = false;
  std::optional<Value> otherwise;
};
[[nodiscard]] Result<Value> key_of(Interpreter& interpreter, const Value& element,
                                   const KeyRule& rule);
// Returns the key of an element as a list, with one key for each attribute. Lists are ordered by
// their first unequal parts, so equal parts may be values without an order.
[[nodiscard]] Result<Value> keys_of(Interpreter& interpreter, const Value& element,
                                    const KeyRule& rule);

}  // namespace weft::jinja
