// The lists of messages' fields: the names on the wire, in order, with their bounds (fields.h and
// serving_fields.h have the lists). Writing, strict reading and the JSON schema all follow from
// these lists (write.h, read.h, schema.cpp), so that they always agree. Private to this folder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

namespace weft::protocol {

struct FieldBounds {
  std::size_t bytes_max = 256;  // The length of a string, or of each string in a list.
  std::size_t count_max = 256;  // The number of elements of a list or a map.
  std::uint64_t max = std::numeric_limits<std::uint64_t>::max();
  // True if the field may be missing; a field with its default value is left out.
  bool optional = false;
};

template <class Message, class Value>
struct Field {
  std::string_view name;
  Value Message::* member;
  FieldBounds bounds;
};
template <class Message, class Value>
consteval Field<Message, Value> field(std::string_view name, Value Message::* member,
                                      FieldBounds bounds = {}) {
  return {name, member, bounds};
}

inline constexpr FieldBounds message_text{.bytes_max = 4096};

// The shape of a message or part. fields: the list. type: the word in "type" of a message. name:
// the name in TypeScript.
template <class T>
struct Shape;

// The words of an enumeration, in the order of its values.
template <class Enum>
struct Words;

}  // namespace weft::protocol
