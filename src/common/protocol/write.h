// Writes a message as JSON text from its Shape. The output can always be read again: strings are
// cut to their bound and made valid UTF-8 (a driver's name or a compiler's message may contain any
// bytes), and numbers are made finite. Private to this folder.
#pragma once

#include <algorithm>
#include <concepts>
#include <map>
#include <string>
#include <vector>

#include "common/protocol/shape.h"

namespace weft::protocol {

void write_string(std::string& out, std::string_view text, std::size_t bytes_max);
void write_number(std::string& out, double value);

template <class T>
concept HasShape = requires { Shape<T>::fields; };
template <class T>
concept HasText = requires(const T& value) {
  value.text();
  T::parse("");
};

template <class T>
void write_value(std::string& out, const T& value, const FieldBounds& bounds);

template <class T>
void write_value(std::string& out, const std::vector<T>& values, const FieldBounds& bounds) {
  out += '[';
  bool first = true;
  for (const T& value : values) {
    if (!std::exchange(first, false)) out += ',';
    write_value(out, value, bounds);
  }
  out += ']';
}

inline void write_value(std::string& out, const std::map<std::string, std::uint64_t>& values,
                        const FieldBounds& bounds) {
  out += '{';
  bool first = true;
  for (const auto& [key, value] : values) {
    if (!std::exchange(first, false)) out += ',';
    write_string(out, key, bounds.bytes_max);
    out += ':' + std::to_string(value);
  }
  out += '}';
}

// Writes the fields of `message`, without the braces around them.
template <HasShape T>
void write_fields(std::string& out, const T& message) {
  bool first = true;
  const auto write_one = [&]<class Member>(const Field<T, Member>& field) {
    if constexpr (requires { (message.*field.member).empty(); }) {
      if (field.bounds.optional && (message.*field.member).empty()) return;
    } else if constexpr (std::equality_comparable<Member>) {
      if (field.bounds.optional && message.*field.member == T{}.*field.member) return;
    }
    out += std::exchange(first, false) ? "\"" : ",\"";
    out += field.name;
    out += "\":";
    write_value(out, message.*field.member, field.bounds);
  };
  std::apply([&](const auto&... fields) { (write_one(fields), ...); }, Shape<T>::fields);
}

template <class T>
void write_value(std::string& out, const T& value, const FieldBounds& bounds) {
  if constexpr (HasShape<T>) {
    out += '{';
    write_fields(out, value);
    out += '}';
  } else if constexpr (HasText<T>) {
    out += '"' + value.text() + '"';  // Hex, base58 and '/' need no escapes.
  } else if constexpr (std::is_same_v<T, std::string>) {
    write_string(out, value, bounds.bytes_max);
  } else if constexpr (std::is_same_v<T, bool>) {
    out += value ? "true" : "false";
  } else if constexpr (std::is_same_v<T, double>) {
    write_number(out, value);
  } else if constexpr (std::is_enum_v<T>) {
    write_string(out, Words<T>::words[static_cast<std::size_t>(value)], bounds.bytes_max);
  } else {
    static_assert(std::is_integral_v<T>);
    out += std::to_string(value);
  }
}

}  // namespace weft::protocol
