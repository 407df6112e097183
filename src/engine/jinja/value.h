// The values of a template, with Python's rules for truth, equality and printing. Containers and
// strings live in a Heap, whose owner outlives every Value made in it. A Value itself is a small
// handle that is cheap to copy.
//
// Only a Namespace can change after it was made, so that containers cannot contain themselves.
// Containers nest at most Heap::depth_max deep, so that recursion over a container cannot exhaust
// the stack.
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

// The integers of templates. They have 127 bits, unlike Python's, which have no limit; arithmetic
// beyond 127 bits is an error.
__extension__ typedef __int128 Integer;

enum class Kind : std::uint8_t {
  // A name or an attribute that does not exist. It prints as an empty text; most other uses are
  // errors.
  undefined,
  none,
  boolean,
  integer,
  floating,
  string,
  list,
  tuple,
  dict,
  view,      // dict.keys(), .values(), .items(): has a length and can be iterated, but not indexed.
  iterator,  // The result of most filters; can be iterated once.
  name_space,  // namespace(...): the one thing that a template may change.
  callable     // A function, macro, method or loop variable.
};

class Value;
struct Object {  // The base of the objects in a Heap.
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
  Value() = default;  // An undefined value without a hint.
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
  // True for int and bool, because Python's bool is an integer.
  [[nodiscard]] bool is_integral() const {
    return kind_ == Kind::integer || kind_ == Kind::boolean;
  }

  // Each of the functions below may be called only for a value of its kind.
  [[nodiscard]] bool as_boolean() const { return integer_ != 0; }
  // May also be called for a boolean.
  [[nodiscard]] Integer as_integer() const { return integer_; }
  [[nodiscard]] double as_floating() const { return floating_; }
  [[nodiscard]] double as_number() const {
    return kind_ == Kind::floating ? floating_ : static_cast<double>(integer_);
  }
  [[nodiscard]] std::string_view as_text() const;
  [[nodiscard]] bool is_markup() const;  // A string marked as HTML by `safe` or `escape`.
  // May be called only for list, tuple and view.
  [[nodiscard]] std::span<const Value> items() const;
  [[nodiscard]] const Dict& as_dict() const;
  [[nodiscard]] Iterator& as_iterator() const;
  [[nodiscard]] Namespace& as_namespace() const;
  [[nodiscard]] Callable& as_callable() const;
  // The reason why an undefined value is undefined: "'x' is undefined".
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
  };  // group: a result of groupby; keys, values and pairs: views of a dict.
  Sequence(std::vector<Value> values, Form what) : items(std::move(values)), form(what) {}
  std::vector<Value> items;
  Form form;
  std::uint16_t depth = 1;
};
struct Dict : Object {
  std::vector<std::pair<Value, Value>> items;  // The items in the order of insertion.
  std::uint16_t depth = 1;

  // Returns the value of a key, or nullptr if there is none. Searches linearly, because the objects
  // of a conversation are small.
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

// Owns the objects that values refer to. No object is freed before the heap is destroyed. The
// caller checks its limits against bytes().
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
  // The functions below fail with resource_exhausted if containers nest too deep.
  [[nodiscard]] Result<Value> list(std::vector<Value> items);
  [[nodiscard]] Result<Value> tuple(std::vector<Value> items,
                                    Sequence::Form form = Sequence::Form::plain);
  [[nodiscard]] Result<Value> view(std::vector<Value> items, Sequence::Form form);
  // If a key occurs twice, the last value is kept at the position of the first, as in Python.
  [[nodiscard]] Result<Value> dict(std::vector<std::pair<Value, Value>> items);

 private:
  [[nodiscard]] Result<Value> sequence(Kind kind, std::vector<Value> items, Sequence::Form form);

  std::vector<std::unique_ptr<Object>> objects_;
  std::size_t bytes_ = 0;
};

[[nodiscard]] bool is_true(const Value& value);
// Compares as Python's == does.
[[nodiscard]] bool are_equal(const Value& a, const Value& b);
// Python's <. Fails if the two values have no order.
[[nodiscard]] Result<bool> is_less(const Value& a, const Value& b);
// True if the value can be a key of a dict. Lists and dicts cannot.
[[nodiscard]] bool is_hashable(const Value& value);
// Returns Python's name of the type, for messages: "str", "dict", ...
[[nodiscard]] std::string_view type_name(const Value& value);

}  // namespace weft::jinja
