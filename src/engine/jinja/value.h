// The values of a template, with Python's meanings: what is true, what is equal, how it prints.
// Containers and strings live in a Heap, whose owner outlives every Value made in it; a Value
// itself is a small handle that is copied freely.
//
// Nothing but a Namespace changes after it was made, so containers cannot hold themselves, and they
// nest at most Heap::depth_max deep, so that walking one cannot exhaust the stack.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/result.h"

namespace weft::jinja {

// Python's integers have no end; these have 127 bits, and arithmetic beyond them is an error.
__extension__ typedef __int128 Integer;

enum class Kind : std::uint8_t {
  undefined,  // A name or an attribute that does not exist: prints as nothing, and most other uses
              // are errors.
  none,
  boolean,
  integer,
  floating,
  string,
  list,
  tuple,
  dict,
  view,        // dict.keys(), .values(), .items(): walks and has a length, but has no places.
  iterator,    // What most filters give: walks once.
  name_space,  // namespace(...): the one thing that a template may change.
  callable     // Functions, macros, methods, loop.
};

class Value;
struct Object {  // What lives in a Heap.
  virtual ~Object() = default;
};
struct Undefined;
struct String;
struct Sequence;
struct Dict;
struct Iterator;
struct Namespace;
struct Callable;

class Value {
 public:
  Value() = default;  // Undefined, without a hint.
  [[nodiscard]] static Value none() { return Value(Kind::none); }
  [[nodiscard]] static Value boolean(bool value);
  [[nodiscard]] static Value integer(Integer value);
  [[nodiscard]] static Value floating(double value);
  Value(Kind kind, Object* object) : kind_(kind), object_(object) {}

  [[nodiscard]] Kind kind() const { return kind_; }
  [[nodiscard]] bool is(Kind kind) const { return kind_ == kind; }
  [[nodiscard]] bool is_number() const {
    return kind_ == Kind::integer || kind_ == Kind::floating || kind_ == Kind::boolean;
  }
  // Python's bool is an integer.
  [[nodiscard]] bool is_integral() const {
    return kind_ == Kind::integer || kind_ == Kind::boolean;
  }

  // Each only for its kind.
  [[nodiscard]] bool as_boolean() const { return integer_ != 0; }
  [[nodiscard]] Integer as_integer() const { return integer_; }  // And boolean.
  [[nodiscard]] double as_floating() const { return floating_; }
  [[nodiscard]] double as_number() const {
    return kind_ == Kind::floating ? floating_ : static_cast<double>(integer_);
  }
  [[nodiscard]] std::string_view as_text() const;
  [[nodiscard]] bool is_markup() const;  // A string marked as HTML by `safe` or `escape`.
  [[nodiscard]] std::span<const Value> items() const;  // list, tuple, view.
  [[nodiscard]] const Dict& as_dict() const;
  [[nodiscard]] Iterator& as_iterator() const;
  [[nodiscard]] Namespace& as_namespace() const;
  [[nodiscard]] Callable& as_callable() const;
  // Why an undefined value is undefined: "'x' is undefined".
  [[nodiscard]] std::string_view hint() const;
  [[nodiscard]] const Object* object() const { return object_; }

 private:
  explicit Value(Kind kind) : kind_(kind), integer_(0) {}

  Kind kind_ = Kind::undefined;
  union {
    Integer integer_ = 0;
    double floating_;
    Object* object_;
  };
};

struct Undefined : Object {
  explicit Undefined(std::string why) : hint(std::move(why)) {}
  std::string hint;
};
struct String : Object {
  String(std::string content, bool is_html) : text(std::move(content)), markup(is_html) {}
  std::string text;
  bool markup;
};
struct Sequence : Object {
  enum class Form : std::uint8_t {
    plain,
    group,
    keys,
    values,
    pairs
  };  // group: what groupby gives; the rest: views.
  Sequence(std::vector<Value> values, Form what) : items(std::move(values)), form(what) {}
  std::vector<Value> items;
  Form form;
  std::uint16_t depth = 1;
};
struct Dict : Object {
  std::vector<std::pair<Value, Value>> items;  // In the order of insertion.
  std::uint16_t depth = 1;

  // nullptr if there is none. Linear: the objects of a conversation are small.
  [[nodiscard]] const Value* find(const Value& key) const;
  [[nodiscard]] const Value* find(std::string_view key) const;
};
struct Iterator : Object {
  explicit Iterator(std::vector<Value> values) : items(std::move(values)) {}
  std::vector<Value> items;
  std::size_t next = 0;
};
struct Namespace : Object {
  std::vector<std::pair<std::string, Value>> fields;
  [[nodiscard]] const Value* find(std::string_view name) const;
};

// Owns what values refer to. Grows until it is destroyed; `bytes` is what the bounds are checked
// against.
class Heap {
 public:
  static constexpr std::uint16_t depth_max = 200;

  Heap() = default;
  Heap(const Heap&) = delete;

  template <class T, class... Args>
  [[nodiscard]] T* make(std::size_t content_bytes, Args&&... args) {
    bytes_ += sizeof(T) + sizeof(void*) + content_bytes;
    auto owned = std::make_unique<T>(std::forward<Args>(args)...);
    T* object = owned.get();
    objects_.push_back(std::move(owned));
    return object;
  }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  void charge(std::size_t bytes) { bytes_ += bytes; }

  [[nodiscard]] Value undefined(std::string hint);
  [[nodiscard]] Value string(std::string text, bool markup = false);
  [[nodiscard]] Value iterator(std::vector<Value> items);
  // These fail with resource_exhausted if containers nest too deep.
  [[nodiscard]] Result<Value> list(std::vector<Value> items);
  [[nodiscard]] Result<Value> tuple(std::vector<Value> items,
                                    Sequence::Form form = Sequence::Form::plain);
  [[nodiscard]] Result<Value> view(std::vector<Value> items, Sequence::Form form);
  // If a key occurs twice, the last value counts, at the place of the first, as in Python.
  [[nodiscard]] Result<Value> dict(std::vector<std::pair<Value, Value>> items);

 private:
  [[nodiscard]] Result<Value> sequence(Kind kind, std::vector<Value> items, Sequence::Form form);

  std::vector<std::unique_ptr<Object>> objects_;
  std::size_t bytes_ = 0;
};

[[nodiscard]] bool is_true(const Value& value);
// Python's ==.
[[nodiscard]] bool are_equal(const Value& a, const Value& b);
// Python's <; fails where the two have no order.
[[nodiscard]] Result<bool> is_less(const Value& a, const Value& b);
// May it be a key? Lists and dicts may not.
[[nodiscard]] bool is_hashable(const Value& value);
// Python's word for the type, for messages: "str", "dict", ...
[[nodiscard]] std::string_view type_name(const Value& value);

}  // namespace weft::jinja
