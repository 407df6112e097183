// Names and their values while a template runs. A loop's body, a macro and a few statements have a
// scope of their own.
//
// Errors: resource_exhausted, if the rendering's memory is used up. Threading: one thread.
#pragma once

#include <deque>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/result.h"
#include "engine/jinja/meter.h"
#include "engine/jinja/value.h"

namespace weft::jinja {

struct Scope {
  explicit Scope(Scope* outer) : parent(outer) {}
  Scope* parent;
  std::vector<std::pair<std::string_view, Value>> names;  // Views into the Ast.

  // nullptr if this scope itself does not have the name.
  [[nodiscard]] const Value* find(std::string_view name) const;
  void set(std::string_view name, Value value);
};

// The value of a name in the scope or in one around it; nullptr if there is none.
[[nodiscard]] const Value* find_name(const Scope& scope, std::string_view name);

// All scopes of one rendering. They live as long as it does, because macros see the names around
// their definition.
class Scopes {
 public:
  Scopes(Heap& heap, Meter& meter) : heap_(heap), meter_(meter) {}
  [[nodiscard]] Result<Scope*> add(Scope* parent);  // nullptr: the outermost one.

 private:
  Heap& heap_;
  Meter& meter_;
  std::deque<Scope> scopes_;
};

}  // namespace weft::jinja
