// Values that a template can call: built-in functions, macros, methods of strings and dicts, and
// `loop`.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/jinja/value.h"

namespace weft::jinja {

class Interpreter;
struct Scope;
struct MacroNode;
struct ForNode;

struct Arguments {
  std::vector<Value> positional;
  std::vector<std::pair<std::string_view, Value>> named;
};

struct Callable : Object {
  enum class What : std::uint8_t { function, method, refused, macro, caller, loop, cycler, joiner };
  explicit Callable(What which) : what(which) {}
  const What what;
};

using Function = Result<Value> (*)(Interpreter& interpreter, const Arguments& arguments);
struct FunctionObject : Callable {
  FunctionObject(std::string_view called, Function code)
      : Callable(What::function), name(called), function(code) {}
  std::string_view name;
  Function function;
};

// A method with the object that it is called on, such as "abc".upper. If the method would change
// the object (list.append), its kind is `refused`.
using Method = Result<Value> (*)(Interpreter& interpreter, const Value& self,
                                 const Arguments& arguments);
struct MethodObject : Callable {
  MethodObject(What which, Value object, std::string_view called, Method code)
      : Callable(which), self(object), name(called), method(code) {}
  Value self;
  std::string_view name;
  Method method;
};

// A macro, or the body of a call block, which a macro runs with caller(). It sees the names around
// its definition.
struct MacroObject : Callable {
  MacroObject(What which, const MacroNode& code, Scope& around)
      : Callable(which), node(code), scope(around) {}
  const MacroNode& node;
  Scope& scope;
};

struct LoopObject : Callable {
  LoopObject(const ForNode& code, Scope& around, std::vector<Value> values, Integer level)
      : Callable(What::loop), node(code), scope(around), items(std::move(values)), depth0(level) {}
  const ForNode& node;
  Scope& scope;
  std::vector<Value> items;
  std::size_t index0 = 0;
  Integer depth0;
  std::vector<Value> last_changed;  // The arguments of the previous changed().
  bool has_changed = false;
};

struct CyclerObject : Callable {
  explicit CyclerObject(std::vector<Value> values)
      : Callable(What::cycler), items(std::move(values)) {}
  std::vector<Value> items;
  std::size_t position = 0;
};
struct JoinerObject : Callable {
  explicit JoinerObject(Value text) : Callable(What::joiner), separator(text) {}
  Value separator;
  bool used = false;
};

}  // namespace weft::jinja
