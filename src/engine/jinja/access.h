// Reading out of a value: object.name, object[index], object[a:b:c], and all its elements.
//
// Errors: invalid_argument for values that cannot be read so, resource_exhausted at a bound. What
// is not there is an undefined value, as in Python's jinja2. Threading: one thread.
#pragma once

#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "engine/jinja/callable.h"
#include "engine/jinja/value.h"

namespace weft::jinja {

// All elements, as Python's iter() gives them; an iterator is used up by it.
[[nodiscard]] Result<std::vector<Value>> elements_of(Interpreter& interpreter, const Value& value);
[[nodiscard]] Result<Value> attribute_of(Interpreter& interpreter, const Value& object,
                                         std::string_view name);
[[nodiscard]] Result<Value> element_of(Interpreter& interpreter, const Value& object,
                                       const Value& index);
// None for `start`, `stop` and `step` is what Python takes for one that is left out.
[[nodiscard]] Result<Value> slice_of(Interpreter& interpreter, const Value& object,
                                     const Value& start, const Value& stop, const Value& step);

}  // namespace weft::jinja
