// Reads and writes one of several messages as JSON text, which its "type" identifies. Private to
// this folder.
#pragma once

#include <string>
#include <variant>

#include "common/base/format.h"
#include "common/protocol/read.h"
#include "common/protocol/versions.h"
#include "common/protocol/write.h"

namespace weft::protocol {

// The nesting of the deepest message (hello: capabilities: limits), and one more level, so that
// deeper input is refused with the name of the key.
inline constexpr std::size_t depth_max = 5;

// `spoken` is the version that the receiver reads.
template <class Message>
std::string encode_message(const Message& message, std::uint32_t spoken) {
  std::string out = weft::format(R"({{"type":"{}","v":{},)", Shape<Message>::type, spoken);
  write_fields(out, message);
  out += '}';
  return out;
}

template <class Variant>
std::string encode_any(const Variant& message, std::uint32_t spoken) {
  return std::visit([&](const auto& one) { return encode_message(one, spoken); }, message);
}

// Reads the message of Variant whose type is `type`.
template <class Variant, std::size_t index = 0>
Result<Variant> read_any(const json::Value& root, const json::Value& type_value,
                         std::string_view type) {
  if constexpr (index == std::variant_size_v<Variant>) {
    return type_value.error("is not a message that is expected here");
  } else {
    using Message = std::variant_alternative_t<index, Variant>;
    if (type != Shape<Message>::type) return read_any<Variant, index + 1>(root, type_value, type);
    WEFT_ASSIGN(Variant message, read_fields<Message>(root, "type", "v"));
    return message;
  }
}

// Reads only frames of the versions in `readable`.
template <class Variant>
Result<Variant> decode_any(std::string_view text, const VersionRange& readable) {
  WEFT_ASSIGN(const json::Value root,
              json::parse(text, {.bytes_max = frame_bytes_max, .depth_max = depth_max}));
  // The type is read first, because it decides which other keys are known.
  WEFT_ASSIGN(const auto members, root.members({.count_max = 64}));
  const json::Value* type = nullptr;
  const json::Value* v = nullptr;
  for (const auto& [key, value] : members) {
    if (key == "type") type = &value;
    if (key == "v") v = &value;
  }
  if (type == nullptr) return root.error("lacks the key \"type\"");
  if (v == nullptr) return root.error("lacks the key \"v\"");
  WEFT_ASSIGN(const std::uint64_t spoken,
              v->unsigned_integer(std::numeric_limits<std::uint32_t>::max()));
  if (spoken < readable.first || spoken > readable.last)
    return fail(ErrorCode::unsupported,
                "The message is of protocol version {}; this side speaks {}.", spoken,
                range_text(readable));
  WEFT_ASSIGN(const std::string word, type->string({.bytes_max = 64}));
  return read_any<Variant>(root, *type, word);
}

}  // namespace weft::protocol
