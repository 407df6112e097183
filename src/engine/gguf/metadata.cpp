#include "engine/gguf/metadata.h"

#include <array>
#include <limits>

namespace weft::gguf {
namespace {

struct TypeRow {
  std::string_view name;
  std::size_t bytes;
};
constexpr std::array<TypeRow, value_type_count> type_rows = {{{"uint8", 1},
                                                              {"int8", 1},
                                                              {"uint16", 2},
                                                              {"int16", 2},
                                                              {"uint32", 4},
                                                              {"int32", 4},
                                                              {"float32", 4},
                                                              {"bool", 1},
                                                              {"string", 0},
                                                              {"array", 0},
                                                              {"uint64", 8},
                                                              {"int64", 8},
                                                              {"float64", 8}}};

std::unexpected<Error> missing(std::string_view key) {
  return fail(ErrorCode::not_found, "The metadata has no '{}'.", key);
}
std::unexpected<Error> wrong_type(std::string_view key, const Value& value,
                                  std::string_view wanted) {
  return fail(ErrorCode::invalid_argument, "The metadata '{}' is of type {}, not {}.", key,
              to_string(type_of(value)), wanted);
}

}  // namespace

std::string_view to_string(ValueType type) {
  return type_rows[static_cast<std::size_t>(type)].name;
}
std::size_t scalar_bytes(ValueType type) { return type_rows[static_cast<std::size_t>(type)].bytes; }

std::optional<std::int64_t> Array::integer(std::size_t i) const {
  switch (element_type) {
    case ValueType::uint8:
      return scalar<std::uint8_t>(i);
    case ValueType::int8:
      return scalar<std::int8_t>(i);
    case ValueType::uint16:
      return scalar<std::uint16_t>(i);
    case ValueType::int16:
      return scalar<std::int16_t>(i);
    case ValueType::uint32:
      return scalar<std::uint32_t>(i);
    case ValueType::int32:
      return scalar<std::int32_t>(i);
    case ValueType::int64:
      return scalar<std::int64_t>(i);
    case ValueType::uint64: {
      const auto value = scalar<std::uint64_t>(i);
      if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
        return std::nullopt;
      return static_cast<std::int64_t>(value);
    }
    default:
      return std::nullopt;
  }
}

std::optional<std::int64_t> integer_of(const Value& value) {
  return std::visit(
      [](const auto& held) -> std::optional<std::int64_t> {
        using T = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<T, std::uint64_t>) {
          if (held > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
            return std::nullopt;
          return static_cast<std::int64_t>(held);
        } else if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
          return held;
        } else {
          return std::nullopt;
        }
      },
      value);
}

const Value* Metadata::find(std::string_view key) const {
  const auto found = index_.find(key);
  return found == index_.end() ? nullptr : &entries_[found->second].value;
}

bool Metadata::insert(std::string key, Value value) {
  if (!index_.try_emplace(key, entries_.size()).second) return false;
  entries_.push_back({std::move(key), std::move(value)});
  return true;
}

Result<std::int64_t> Metadata::integer(std::string_view key) const {
  const Value* value = find(key);
  if (value == nullptr) return missing(key);
  const auto integer = integer_of(*value);
  if (!integer) return wrong_type(key, *value, "an integer");
  return *integer;
}

Result<std::uint64_t> Metadata::unsigned_integer(std::string_view key, std::uint64_t max) const {
  const Value* value = find(key);
  if (value == nullptr) return missing(key);
  std::uint64_t number = 0;
  if (const auto* wide = std::get_if<std::uint64_t>(value)) {
    number = *wide;
  } else {
    WEFT_ASSIGN(const std::int64_t integer, this->integer(key));
    if (integer < 0)
      return fail(ErrorCode::invalid_argument, "The metadata '{}' ({}) is negative.", key, integer);
    number = static_cast<std::uint64_t>(integer);
  }
  if (number > max)
    return fail(ErrorCode::invalid_argument, "The metadata '{}' ({}) is greater than {}.", key,
                number, max);
  return number;
}

Result<double> Metadata::number(std::string_view key) const {
  const Value* value = find(key);
  if (value == nullptr) return missing(key);
  if (const auto* narrow = std::get_if<float>(value)) return static_cast<double>(*narrow);
  if (const auto* wide = std::get_if<double>(value)) return *wide;
  const auto integer = integer_of(*value);
  if (!integer) return wrong_type(key, *value, "a number");
  return static_cast<double>(*integer);
}

Result<bool> Metadata::boolean(std::string_view key) const {
  const Value* value = find(key);
  if (value == nullptr) return missing(key);
  if (const auto* held = std::get_if<bool>(value)) return *held;
  return wrong_type(key, *value, "bool");
}

Result<std::string_view> Metadata::string(std::string_view key) const {
  const Value* value = find(key);
  if (value == nullptr) return missing(key);
  if (const auto* held = std::get_if<std::string>(value)) return std::string_view(*held);
  return wrong_type(key, *value, "string");
}

Result<const Array*> Metadata::array(std::string_view key) const {
  const Value* value = find(key);
  if (value == nullptr) return missing(key);
  if (const auto* held = std::get_if<Array>(value)) return held;
  return wrong_type(key, *value, "array");
}

Result<const Array*> Metadata::array(std::string_view key, ValueType element_type) const {
  WEFT_ASSIGN(const Array* held, array(key));
  if (held->element_type != element_type)
    return fail(ErrorCode::invalid_argument, "The metadata '{}' is an array of {}, not of {}.", key,
                to_string(held->element_type), to_string(element_type));
  return held;
}

Result<std::uint64_t> Metadata::unsigned_integer_or(std::string_view key, std::uint64_t otherwise,
                                                    std::uint64_t max) const {
  return has(key) ? unsigned_integer(key, max) : Result<std::uint64_t>(otherwise);
}
Result<double> Metadata::number_or(std::string_view key, double otherwise) const {
  return has(key) ? number(key) : Result<double>(otherwise);
}
Result<bool> Metadata::boolean_or(std::string_view key, bool otherwise) const {
  return has(key) ? boolean(key) : Result<bool>(otherwise);
}
Result<std::string_view> Metadata::string_or(std::string_view key,
                                             std::string_view otherwise) const {
  return has(key) ? string(key) : Result<std::string_view>(otherwise);
}

}  // namespace weft::gguf
