#include "common/protocol/serving.h"

#include "common/base/byte_reader.h"
#include "common/protocol/serving_fields.h"
// The shapes have to come before the templates that use them.
#include "common/protocol/any.h"

namespace weft::protocol::serving {
namespace {

constexpr std::uint8_t hop_format = 1;
constexpr std::uint8_t ping_format = 2;
constexpr std::size_t ping_bytes = hop_header_bytes + 4;
constexpr VersionRange readable{.first = serving_version, .last = serving_version};

}  // namespace

std::string encode(const ServingWorkerMessage& message) {
  return encode_any(message, serving_version);
}
std::string encode(const ServingCoordinatorMessage& message) {
  return encode_any(message, serving_version);
}
std::string encode(const std::vector<IceServer>& servers) {
  std::string out = "[";
  for (const IceServer& server : servers) {
    out += out.size() == 1 ? R"({"urls":)" : R"(,{"urls":)";
    write_value(out, server.urls, {});
    if (!server.username.empty()) {
      out += R"(,"username":)";
      write_value(out, server.username, {.bytes_max = 512});
      out += R"(,"credential":)";
      write_value(out, server.credential, {.bytes_max = 512});
    }
    out += '}';
  }
  return out + "]";
}
Result<ServingWorkerMessage> decode_worker(std::string_view text) {
  return decode_any<ServingWorkerMessage>(text, readable);
}
Result<ServingCoordinatorMessage> decode_coordinator(std::string_view text) {
  return decode_any<ServingCoordinatorMessage>(text, readable);
}

ByteVector encode(const HopFrame& frame) {
  ByteVector out;
  out.reserve(hop_header_bytes + frame.payload.size());
  out.push_back(hop_format);
  out.push_back(frame.more ? 1 : 0);
  append_le(out, frame.chain);
  append_le(out, frame.epoch);
  append_le(out, frame.from);
  append_le(out, frame.to);
  append(out, frame.payload);
  return out;
}

Result<HopFrame> decode_hop(ByteSpan bytes) {
  if (bytes.size() < hop_header_bytes || bytes.size() > hop_header_bytes + hop_payload_bytes_max ||
      bytes[0] != hop_format || bytes[1] > 1)
    return fail(ErrorCode::invalid_argument, "A binary frame of {} bytes is not a hop of a chain.",
                bytes.size());
  const ByteSpan payload = bytes.subspan(hop_header_bytes);
  return HopFrame{.chain = read_le<std::uint32_t>(bytes, 2),
                  .epoch = read_le<std::uint32_t>(bytes, 6),
                  .from = read_le<std::uint16_t>(bytes, 10),
                  .to = read_le<std::uint16_t>(bytes, 12),
                  .more = bytes[1] == 1,
                  .payload = {payload.begin(), payload.end()}};
}

ByteVector encode(const PingFrame& frame) {
  ByteVector out{ping_format, static_cast<std::uint8_t>(frame.answer ? 1 : 0)};
  append_le(out, frame.chain);
  append_le(out, frame.epoch);
  append_le(out, frame.from);
  append_le(out, frame.to);
  append_le(out, frame.number);
  return out;
}

bool is_ping(ByteSpan bytes) { return !bytes.empty() && bytes[0] == ping_format; }

Result<PingFrame> decode_ping(ByteSpan bytes) {
  if (bytes.size() != ping_bytes || bytes[0] != ping_format || bytes[1] > 1)
    return fail(ErrorCode::invalid_argument, "A binary frame of {} bytes is not a ping of a chain.",
                bytes.size());
  return PingFrame{.chain = read_le<std::uint32_t>(bytes, 2),
                   .epoch = read_le<std::uint32_t>(bytes, 6),
                   .from = read_le<std::uint16_t>(bytes, 10),
                   .to = read_le<std::uint16_t>(bytes, 12),
                   .answer = bytes[1] == 1,
                   .number = read_le<std::uint32_t>(bytes, 14)};
}

}  // namespace weft::protocol::serving
