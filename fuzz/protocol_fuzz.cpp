// Fuzzes the codec, which refuses or reads any bytes. A message that was read has one written form,
// which reads as an equal message.
#include "common/base/check.h"
#include "common/protocol/codec.h"
#include "common/protocol/result_frame.h"
#include "common/protocol/watch.h"

namespace {

using namespace weft;

template <class Message>
void writes_stably(const Message& message, Result<Message> (*decode)(std::string_view)) {
  const std::string text = protocol::encode(message);
  const auto again = decode(text);
  check(again.has_value(), "what was read is written readably");
  check(protocol::encode(*again) == text, "a message has one written form");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const ByteSpan bytes(data, size);
  if (const auto message = protocol::decode_worker_message(as_text(bytes)))
    writes_stably(*message, protocol::decode_worker_message);
  if (const auto message = protocol::decode_coordinator_message(as_text(bytes)))
    writes_stably(*message, protocol::decode_coordinator_message);
  if (const auto frame = protocol::decode_frame(bytes)) {
    const auto written = protocol::encode_frame(*frame);
    // The written form may have longer escapes than the input, so that it may be over the frame's
    // bound.
    if (written)
      check(protocol::decode_frame(*written).has_value(), "a frame that was written is read");
  }
  if (const auto seen = protocol::watch::decode_seen(as_text(bytes))) {
    check(protocol::watch::decode_seen(protocol::watch::encode(*seen)).has_value(),
          "what a watcher said is written readably");
  }
  return 0;
}
