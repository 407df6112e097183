// Reads a message from JSON text, strictly: each field of its Shape exactly once (optional ones at
// most once) and nothing else. Private to this folder.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "common/json/json.h"
#include "common/protocol/write.h"

namespace weft::protocol {

template <class T>
struct Reader;

template <class T>
Result<T> read_value(const json::Value& value, const FieldBounds& bounds) {
  return Reader<T>::read(value, bounds);
}

// `more` are allowed keys besides the fields.
template <HasShape T, class... More>
Result<T> read_fields(const json::Value& value, More... more) {
  return std::apply(
      [&](const auto&... fields) -> Result<T> {
        WEFT_ASSIGN(const json::Object object,
                    value.object({std::string_view(more)..., fields.name...}));
        T message;
        Result<> status;
        const auto read_one = [&]<class Member>(const Field<T, Member>& field) {
          if (field.bounds.optional && !object.has(field.name)) return true;
          auto found = object.get(field.name);
          if (!found) return status = pass(std::move(found)), false;
          auto read = read_value<Member>(*found, field.bounds);
          if (!read) return status = pass(std::move(read)), false;
          message.*field.member = std::move(*read);
          return true;
        };
        static_cast<void>((read_one(fields) && ...));
        if (!status) return pass(std::move(status));
        return message;
      },
      Shape<T>::fields);
}

template <class T>
struct Reader {
  static Result<T> read(const json::Value& value, const FieldBounds& bounds) {
    if constexpr (HasShape<T>) {
      return read_fields<T>(value);
    } else if constexpr (HasText<T>) {
      WEFT_ASSIGN(const std::string text, value.string({.bytes_max = 128}));
      auto parsed = T::parse(text);
      // Only one spelling of an id is allowed, so that equal ids have equal texts.
      if (parsed && parsed->text() != text)
        return value.error("is not in its usual spelling, \"{}\"", parsed->text());
      if (!parsed) return value.error("{}", parsed.error().message);
      return *parsed;
    } else if constexpr (std::is_same_v<T, std::string>) {
      return value.string({.bytes_max = bounds.bytes_max});
    } else if constexpr (std::is_same_v<T, bool>) {
      return value.boolean();
    } else if constexpr (std::is_same_v<T, double>) {
      return value.number();
    } else if constexpr (std::is_enum_v<T>) {
      WEFT_ASSIGN(const std::string text, value.string({.bytes_max = bounds.bytes_max}));
      const auto& words = Words<T>::words;
      const auto at = std::ranges::find(words, text);
      if (at == words.end()) return value.error("is not a known word");
      return static_cast<T>(at - words.begin());
    } else if constexpr (std::is_signed_v<T>) {
      return value.integer_as<T>();
    } else {
      WEFT_ASSIGN(const std::uint64_t number, value.unsigned_integer(std::min<std::uint64_t>(
                                                  bounds.max, std::numeric_limits<T>::max())));
      return static_cast<T>(number);
    }
  }
};

template <class T>
struct Reader<std::vector<T>> {
  static Result<std::vector<T>> read(const json::Value& value, const FieldBounds& bounds) {
    std::vector<T> items;
    WEFT_OK(
        value.for_each({.count_max = bounds.count_max}, [&](const json::Value& item) -> Result<> {
          WEFT_ASSIGN(items.emplace_back(), read_value<T>(item, bounds));
          return {};
        }));
    return items;
  }
};

template <>
struct Reader<std::map<std::string, std::uint64_t>> {
  static Result<std::map<std::string, std::uint64_t>> read(const json::Value& value,
                                                           const FieldBounds& bounds) {
    WEFT_ASSIGN(const auto members, value.members({.count_max = bounds.count_max}));
    std::map<std::string, std::uint64_t> map;
    for (const auto& [key, member] : members) {
      if (key.size() > bounds.bytes_max)
        return member.error("has a key of {} bytes; at most {} are allowed", key.size(),
                            bounds.bytes_max);
      WEFT_ASSIGN(map[key], member.unsigned_integer(bounds.max));
    }
    return map;
  }
};

}  // namespace weft::protocol
