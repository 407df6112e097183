#include "common/protocol/codec.h"

#include <optional>

#include "common/base/check.h"
#include "common/protocol/read.h"
#include "common/protocol/write.h"

namespace weft::protocol {
namespace {

// The nesting of the deepest message (hello: capabilities: limits) and one more for what is to be refused with a name.
constexpr std::size_t depth_max = 5;
constexpr std::size_t header_length_bytes = 4;

template <class Message>
std::string encode_message(const Message& message) {
  std::string out = std::format(R"({{"type":"{}","v":{},)", Shape<Message>::type, version);
  write_fields(out, message);
  out += '}';
  return out;
}

template <class Variant>
std::string encode_any(const Variant& message) {
  return std::visit([](const auto& one) { return encode_message(one); }, message);
}

// Reads the one of Variant's messages whose type is `type`.
template <class Variant, std::size_t index = 0>
Result<Variant> read_any(const json::Value& root, const json::Value& type_value, std::string_view type) {
  if constexpr (index == std::variant_size_v<Variant>) {
    return type_value.error("is no message that is expected here");
  } else {
    using Message = std::variant_alternative_t<index, Variant>;
    if (type != Shape<Message>::type) return read_any<Variant, index + 1>(root, type_value, type);
    WEFT_ASSIGN(Variant message, read_fields<Message>(root, "type", "v"));
    return message;
  }
}

template <class Variant>
Result<Variant> decode_any(std::string_view text) {
  WEFT_ASSIGN(const json::Value root, json::parse(text, {.bytes_max = frame_bytes_max, .depth_max = depth_max}));
  // The type first: which other keys are known depends on it.
  WEFT_ASSIGN(const auto members, root.members({.count_max = 64}));
  const json::Value* type = nullptr;
  const json::Value* v = nullptr;
  for (const auto& [key, value] : members) {
    if (key == "type") type = &value;
    if (key == "v") v = &value;
  }
  if (type == nullptr) return root.error("lacks the key \"type\"");
  if (v == nullptr) return root.error("lacks the key \"v\"");
  WEFT_ASSIGN(const std::uint64_t spoken, v->unsigned_integer(std::numeric_limits<std::uint32_t>::max()));
  if (spoken != version) return fail(ErrorCode::unsupported, "The message is of protocol version {}; this side speaks version {}.", spoken, version);
  WEFT_ASSIGN(const std::string word, type->string({.bytes_max = 64}));
  return read_any<Variant>(root, *type, word);
}

std::uint64_t in_frame_bytes(const TaskResult& result) {
  std::uint64_t bytes = 0;
  for (const OutputPart& part : result.outputs) bytes += part.in_frame ? part.bytes : 0;
  return bytes;
}

}  // namespace

std::string encode(const WorkerMessage& message) { return encode_any(message); }
std::string encode(const CoordinatorMessage& message) { return encode_any(message); }

Result<WorkerMessage> decode_worker_message(std::string_view text) {
  WEFT_ASSIGN(WorkerMessage message, decode_any<WorkerMessage>(text));
  if (std::holds_alternative<TaskResult>(message)) return fail(ErrorCode::invalid_argument, "A result travels as a binary frame, not as text.");
  return message;
}

Result<CoordinatorMessage> decode_coordinator_message(std::string_view text) { return decode_any<CoordinatorMessage>(text); }

std::string encode(const Capabilities& capabilities) {
  std::string out;
  write_value(out, capabilities, {});
  return out;
}

Result<Capabilities> decode_capabilities(std::string_view text) {
  WEFT_ASSIGN(const json::Value root, json::parse(text, {.bytes_max = frame_bytes_max, .depth_max = depth_max}));
  return read_fields<Capabilities>(root);
}

Result<ByteVector> encode_frame(const ResultFrame& frame) {
  const std::string header = encode_message(frame.result);
  const std::size_t size = header_length_bytes + header.size() + frame.payload.size();
  if (size > frame_bytes_max) return fail(ErrorCode::resource_exhausted, "The frame has {} bytes; at most {} are sent.", size, frame_bytes_max);
  check(in_frame_bytes(frame.result) == frame.payload.size(), "a result's payload is its in-frame outputs");
  ByteVector bytes;
  bytes.reserve(size);
  append_le(bytes, static_cast<std::uint32_t>(header.size()));
  append(bytes, as_bytes(header));
  append(bytes, frame.payload);
  return bytes;
}

Result<ResultFrame> decode_frame(ByteSpan bytes) {
  if (bytes.size() > frame_bytes_max)
    return fail(ErrorCode::invalid_argument, "The frame has {} bytes; at most {} are read.", bytes.size(), frame_bytes_max);
  if (bytes.size() < header_length_bytes)
    return fail(ErrorCode::invalid_argument, "The frame has {} bytes, too few for its header's length.", bytes.size());
  std::uint32_t header_bytes = 0;
  for (std::size_t i = 0; i < header_length_bytes; ++i) header_bytes |= static_cast<std::uint32_t>(bytes[i]) << (8 * i);
  const ByteSpan behind = bytes.subspan(header_length_bytes);
  if (header_bytes > behind.size()) {
    return fail(ErrorCode::invalid_argument, "The frame's header is said to have {} bytes; {} follow.", header_bytes, behind.size());
  }
  WEFT_ASSIGN(WorkerMessage message, decode_any<WorkerMessage>(as_text(behind.first(header_bytes))));
  auto* result = std::get_if<TaskResult>(&message);
  if (result == nullptr) return fail(ErrorCode::invalid_argument, "A binary frame carries a result and nothing else.");
  const ByteSpan payload = behind.subspan(header_bytes);
  // Each first, so that the sum cannot wrap around.
  for (const OutputPart& part : result->outputs) {
    if (part.in_frame && part.bytes > payload.size()) {
      return fail(ErrorCode::invalid_argument, "An output in the frame is said to have {} bytes; the payload has {}.", part.bytes, payload.size());
    }
  }
  if (in_frame_bytes(*result) != payload.size()) {
    return fail(ErrorCode::invalid_argument, "The outputs in the frame are said to have {} bytes; the payload has {}.", in_frame_bytes(*result),
                payload.size());
  }
  return ResultFrame{.result = std::move(*result), .payload = {payload.begin(), payload.end()}};
}

}  // namespace weft::protocol
