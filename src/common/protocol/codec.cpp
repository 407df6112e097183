#include "common/protocol/codec.h"

#include "common/base/byte_reader.h"
#include "common/base/check.h"
#include "common/protocol/any.h"
#include "common/protocol/fields.h"
#include "common/protocol/result_frame.h"

namespace weft::protocol {
namespace {

constexpr std::size_t header_length_bytes = 4;

std::uint64_t in_frame_bytes(const TaskResult& result) {
  std::uint64_t bytes = 0;
  for (const OutputPart& part : result.outputs) bytes += part.in_frame ? part.bytes : 0;
  return bytes;
}

}  // namespace

std::string encode(const WorkerMessage& message, std::uint32_t spoken) {
  return encode_any(message, spoken);
}
std::string encode(const CoordinatorMessage& message, std::uint32_t spoken) {
  return encode_any(message, spoken);
}

Result<WorkerMessage> decode_worker_message(std::string_view text) {
  WEFT_ASSIGN(WorkerMessage message, decode_any<WorkerMessage>(text, spoken_versions));
  if (std::holds_alternative<TaskResult>(message))
    return fail(ErrorCode::invalid_argument, "A result travels as a binary frame, not as text.");
  return message;
}

Result<CoordinatorMessage> decode_coordinator_message(std::string_view text) {
  return decode_any<CoordinatorMessage>(text, spoken_versions);
}

std::string encode(const Capabilities& capabilities) {
  std::string out;
  write_value(out, capabilities, {});
  return out;
}

Result<Capabilities> decode_capabilities(std::string_view text) {
  WEFT_ASSIGN(const json::Value root,
              json::parse(text, {.bytes_max = frame_bytes_max, .depth_max = depth_max}));
  return read_fields<Capabilities>(root);
}

Result<ByteVector> encode_frame(const ResultFrame& frame, std::uint32_t spoken) {
  const std::string header = encode_message(frame.result, spoken);
  const std::size_t size = header_length_bytes + header.size() + frame.payload.size();
  if (size > frame_bytes_max)
    return fail(ErrorCode::resource_exhausted, "The frame has {} bytes; at most {} are sent.", size,
                frame_bytes_max);
  check(in_frame_bytes(frame.result) == frame.payload.size(),
        "a result's payload is its in-frame outputs");
  ByteVector bytes;
  bytes.reserve(size);
  append_le(bytes, static_cast<std::uint32_t>(header.size()));
  append(bytes, as_bytes(header));
  append(bytes, frame.payload);
  return bytes;
}

Result<ResultFrame> decode_frame(ByteSpan bytes) {
  if (bytes.size() > frame_bytes_max)
    return fail(ErrorCode::invalid_argument, "The frame has {} bytes; at most {} are read.",
                bytes.size(), frame_bytes_max);
  if (bytes.size() < header_length_bytes)
    return fail(ErrorCode::invalid_argument,
                "The frame has {} bytes, too few for the length of its header.", bytes.size());
  const auto header_bytes = read_le<std::uint32_t>(bytes);
  const ByteSpan behind = bytes.subspan(header_length_bytes);
  if (header_bytes > behind.size()) {
    return fail(ErrorCode::invalid_argument,
                "The frame says that its header has {} bytes; only {} follow.", header_bytes,
                behind.size());
  }
  WEFT_ASSIGN(WorkerMessage message,
              decode_any<WorkerMessage>(as_text(behind.first(header_bytes)), spoken_versions));
  auto* result = std::get_if<TaskResult>(&message);
  if (result == nullptr)
    return fail(ErrorCode::invalid_argument, "A binary frame carries a result and nothing else.");
  const ByteSpan payload = behind.subspan(header_bytes);
  // Each part is checked first, so that the sum cannot wrap around.
  for (const OutputPart& part : result->outputs) {
    if (part.in_frame && part.bytes > payload.size()) {
      return fail(ErrorCode::invalid_argument,
                  "The frame says that one output has {} bytes; the payload has only {}.",
                  part.bytes, payload.size());
    }
  }
  if (in_frame_bytes(*result) != payload.size()) {
    return fail(ErrorCode::invalid_argument,
                "The frame says that its outputs have {} bytes; the payload has {}.",
                in_frame_bytes(*result), payload.size());
  }
  return ResultFrame{.result = std::move(*result), .payload = {payload.begin(), payload.end()}};
}

}  // namespace weft::protocol
