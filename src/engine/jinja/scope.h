// The names of a running template and their values. The body of a loop, a macro and a few
// statements have their own scopes.
//
// Errors: resource_exhausted if the rendering's memory is used up. Threading: one thread.
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
  std::vector<std::pair<std::string_view, Value>> names;  // Names are views into the Ast.

  // Returns the value of a name in this scope, or nullptr if this scope does not have the name.
  [[nodiscard]] const Value* find(std::string_view name) const;
  void set(std::string_view name, Value value);
};

// Returns the value of a name in the scope or in the scopes around it, or nullptr if none has the
// name.
[[nodiscard]] const Value* find_name(const Scope& scope, std::string_view name);

// Owns all scopes of one rendering. Scopes live as long as the rendering, because macros see the
// names around their definition.
class Scopes {
 public:
  Scopes(Heap& heap, Meter& meter) : heap_(heap), meter_(meter) {}
  // Adds a scope inside `parent`, or an outermost scope if it is null.
  [[nodiscard]] Result<Scope*> add(Scope* parent);

 private:
  Heap& heap_;
  Meter& meter_;
  std::deque<Scope> scopes_;
};

}  // namespace weft::jinja
