// Reads from values: object.name, object[index], object[a:b:c], and all elements of a value.
//
// Errors: invalid_argument for values that cannot be read in this way, resource_exhausted at a
// bound. An attribute or element that does not exist is an undefined value, as in Python's jinja2.
// Threading: one thread.
#pragma once

#include <string_view>
#include <vector>

#include "common/base/result.h"
#include "engine/jinja/callable.h"
#include "engine/jinja/value.h"

namespace weft::jinja {

// Returns all elements, as Python's iter() gives them. An iterator is empty afterwards.
[[nodiscard]] Result<std::vector<Value>> elements_of(Interpreter& interpreter, const Value& value);
[[nodiscard]] Result<Value> attribute_of(Interpreter& interpreter, const Value& object,
                                         std::string_view name);
[[nodiscard]] Result<Value> element_of(Interpreter& interpreter, const Value& object,
                                       const Value& index);
// Returns object[start:stop:step]. The value none for `start`, `stop` or `step` means that the
// bound is left out, as in Python.
[[nodiscard]] Result<Value> slice_of(Interpreter& interpreter, const Value& object,
                                     const Value& start, const Value& stop, const Value& step);

}  // namespace weft::jinja
