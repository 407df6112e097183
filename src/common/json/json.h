// Strict JSON for input from strangers, with the place in every error: `bindings[1].shape: must not
// be empty (line 7, column 18)`. glaze reads the grammar, strings and numbers. This reader also
// refuses input that glaze accepts by default: duplicate, unknown and missing keys, trailing text,
// deep nesting, long texts.
//
//   WEFT_ASSIGN(const json::Value root, json::parse(text));
//   // Any other key is an error.
//   WEFT_ASSIGN(const json::Object job, root.object({"name", "shape"}));
//   // A missing key is an error.
//   WEFT_ASSIGN(const json::Value name, job.get("name"));
//   WEFT_ASSIGN(std::string text, name.string({.bytes_max = 64}));
//
// glaze writes plain structs; its option escape_control_characters must be set, or its output is
// not JSON. Lifetime: every Value and Object refers to the parsed text, which must outlive them.
// Errors: always invalid_argument.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/format.h"
#include "common/base/result.h"

namespace weft::json {

struct Limits {
  std::size_t bytes_max = std::size_t{1} << 20;
  std::size_t depth_max = 32;
};

enum class Kind : std::uint8_t { object, array, string, number, boolean, null };
[[nodiscard]] std::string_view to_string(Kind kind);

struct StringBounds {
  std::size_t bytes_max = 4096;  // Most bytes of the unescaped string.
};
struct IntegerBounds {
  std::int64_t min = std::numeric_limits<std::int64_t>::min();
  std::int64_t max = std::numeric_limits<std::int64_t>::max();
};
struct CountBounds {
  std::size_t count_max = 4096;
};

class Object;
class Value;
struct Path;  // The place of a value: its key or index, and the place of its parent.

// Parses the text. Fails if the text as a whole is not JSON.
[[nodiscard]] Result<Value> parse(std::string_view text, const Limits& limits = {});

class Value {
 public:
  [[nodiscard]] Kind kind() const;

  // The members by name. A key that is not in `known`, or that occurs twice, is an error.
  [[nodiscard]] Result<Object> object(std::initializer_list<std::string_view> known) const;
  // The members of an object whose keys the author chooses, in the order of the text. A key that
  // occurs twice is an error.
  [[nodiscard]] Result<std::vector<std::pair<std::string, Value>>> members(
      CountBounds bounds = {}) const;
  [[nodiscard]] Result<std::vector<Value>> array(CountBounds bounds = {}) const;
  // Calls `use` for each element of an array, for long lists; stops at the first error. The Value
  // is valid only during the call.
  [[nodiscard]] Result<> for_each(CountBounds bounds,
                                  const std::function<Result<>(const Value&)>& use) const;

  [[nodiscard]] Result<std::string> string(StringBounds bounds = {}) const;
  [[nodiscard]] Result<bool> boolean() const;
  // Reads a number without fraction and exponent.
  [[nodiscard]] Result<std::int64_t> integer(IntegerBounds bounds = {}) const;
  template <class Integer>
  [[nodiscard]] Result<Integer> integer_as(IntegerBounds bounds = {
                                               std::numeric_limits<Integer>::min(),
                                               std::numeric_limits<Integer>::max()}) const {
    WEFT_ASSIGN(const std::int64_t value, integer(bounds));
    return static_cast<Integer>(value);
  }
  [[nodiscard]] Result<std::uint64_t> unsigned_integer(std::uint64_t max) const;
  // Reads any number within the range of a double (1e400 and 1e-400 are not).
  [[nodiscard]] Result<double> number() const;
  // The text of a number, for amounts that must not pass through a double.
  [[nodiscard]] Result<std::string_view> number_text() const;

  // Makes an error at this value: return value.error("must not be empty").
  template <class... Args>
  [[nodiscard]] std::unexpected<Error> error(FormatString<Args...> format, Args&&... args) const {
    return error_text(weft::format(format, std::forward<Args>(args)...));
  }
  // The JSON text of the value.
  [[nodiscard]] std::string_view text() const { return raw_; }
  [[nodiscard]] std::string path() const;

 private:
  friend class Object;
  friend Result<Value> parse(std::string_view text, const Limits& limits);
  Value(std::string_view document, std::string_view raw, std::shared_ptr<const Path> place)
      : document_(document), raw_(raw), place_(std::move(place)) {}
  [[nodiscard]] std::unexpected<Error> error_text(const std::string& message) const;
  [[nodiscard]] Result<> expect(Kind kind) const;

  static constexpr std::size_t no_index = std::numeric_limits<std::size_t>::max();
  std::string_view document_;
  std::string_view raw_;
  std::shared_ptr<const Path> place_;  // Place in the document; null at the root.
  // The index, if the value is an element of an array; place_ is then the array's place.
  std::size_t index_ = no_index;
};

class Object {
 public:
  [[nodiscard]] Result<Value> get(std::string_view key) const;
  [[nodiscard]] std::optional<Value> find(std::string_view key) const;
  [[nodiscard]] bool has(std::string_view key) const { return find(key).has_value(); }
  // The object as a value, for errors about the object as a whole.
  [[nodiscard]] const Value& value() const { return value_; }

 private:
  friend class Value;
  Object(Value value, std::vector<std::pair<std::string, Value>> members)
      : value_(std::move(value)), members_(std::move(members)) {}
  Value value_;
  std::vector<std::pair<std::string, Value>> members_;
};

}  // namespace weft::json
