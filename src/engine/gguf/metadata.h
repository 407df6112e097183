// The metadata of a GGUF file: named values of thirteen types, in the order of the file. The
// getters fail with not_found if the key is missing and with invalid_argument if the value has
// another type; the message is one sentence.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

#include "common/base/bytes.h"
#include "common/base/result.h"

namespace weft::gguf {

// The type of a value. The numbers are those of GGUF files and also the indices in Value.
enum class ValueType : std::uint32_t {
  uint8,
  int8,
  uint16,
  int16,
  uint32,
  int32,
  float32,
  boolean,
  string,
  array,
  uint64,
  int64,
  float64
};
inline constexpr std::uint32_t value_type_count = 13;
[[nodiscard]] std::string_view to_string(ValueType type);
// Returns the bytes of a scalar in the file, and 0 for string and array.
[[nodiscard]] std::size_t scalar_bytes(ValueType type);

// A list of strings in one block of memory, because a vocabulary has hundreds of thousands of
// strings.
class StringList {
 public:
  [[nodiscard]] std::size_t size() const { return ends_.size(); }
  [[nodiscard]] std::string_view operator[](std::size_t i) const {
    const std::size_t begin = i == 0 ? 0 : ends_[i - 1];
    return std::string_view(text_).substr(begin, ends_[i] - begin);
  }
  void reserve(std::size_t count) { ends_.reserve(count); }
  // Adds a string of `bytes` bytes and returns its memory, which the caller fills.
  [[nodiscard]] std::span<char> append(std::size_t bytes) {
    text_.resize(text_.size() + bytes);
    ends_.push_back(text_.size());
    return std::span(text_).last(bytes);
  }

 private:
  std::string text_;
  std::vector<std::size_t> ends_;
};

// Elements of one type: scalars with the bytes of the file, strings, or arrays.
struct Array {
  ValueType element_type = ValueType::uint8;
  std::size_t count = 0;
  // The bytes of the scalars, little-endian; count * scalar_bytes(element_type) in number.
  ByteVector scalars;
  StringList strings;
  std::vector<Array> arrays;

  // Returns element i of an array of scalars. element_type must match T.
  template <class T>
  [[nodiscard]] T scalar(std::size_t i) const {
    T value;
    std::memcpy(&value, scalars.data() + i * sizeof value, sizeof value);
    return value;
  }
  // Returns element i if the elements are integers of any width, else nullopt.
  [[nodiscard]] std::optional<std::int64_t> integer(std::size_t i) const;
};

using Value = std::variant<std::uint8_t, std::int8_t, std::uint16_t, std::int16_t, std::uint32_t,
                           std::int32_t, float, bool, std::string, Array, std::uint64_t,
                           std::int64_t, double>;
[[nodiscard]] inline ValueType type_of(const Value& value) {
  return static_cast<ValueType>(value.index());
}
// Returns the value of a scalar of any integer type, or nullopt for other types and for numbers
// beyond int64.
[[nodiscard]] std::optional<std::int64_t> integer_of(const Value& value);

class Metadata {
 public:
  struct Entry {
    std::string key;
    Value value;
  };

  [[nodiscard]] std::span<const Entry> entries() const { return entries_; }
  [[nodiscard]] const Value* find(std::string_view key) const;
  [[nodiscard]] bool has(std::string_view key) const { return find(key) != nullptr; }
  // Returns false if the key exists already.
  [[nodiscard]] bool insert(std::string key, Value value);

  // Returns a value of any integer type.
  [[nodiscard]] Result<std::int64_t> integer(std::string_view key) const;
  // Returns a value of any integer type from 0 to `max`.
  [[nodiscard]] Result<std::uint64_t> unsigned_integer(std::string_view key,
                                                       std::uint64_t max = ~std::uint64_t{0}) const;
  // Returns a value of type float32, float64 or any integer type.
  [[nodiscard]] Result<double> number(std::string_view key) const;
  [[nodiscard]] Result<bool> boolean(std::string_view key) const;
  [[nodiscard]] Result<std::string_view> string(std::string_view key) const;
  [[nodiscard]] Result<const Array*> array(std::string_view key) const;
  [[nodiscard]] Result<const Array*> array(std::string_view key, ValueType element_type) const;

  // The functions below return `otherwise` if the key is missing. A value of another type is still
  // an error.
  [[nodiscard]] Result<std::uint64_t> unsigned_integer_or(
      std::string_view key, std::uint64_t otherwise, std::uint64_t max = ~std::uint64_t{0}) const;
  [[nodiscard]] Result<double> number_or(std::string_view key, double otherwise) const;
  [[nodiscard]] Result<bool> boolean_or(std::string_view key, bool otherwise) const;
  [[nodiscard]] Result<std::string_view> string_or(std::string_view key,
                                                   std::string_view otherwise) const;

 private:
  struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>()(text);
    }
  };

  std::vector<Entry> entries_;
  std::unordered_map<std::string, std::size_t, TextHash, std::equal_to<>> index_;
};

}  // namespace weft::gguf
