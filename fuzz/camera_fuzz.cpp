// Fuzzes what a camera sends to a native helper: links, sealed texts of a meeting, binary messages
// of the relay, and records. A record is refused, or what was read is written and read again; a
// helper holds no more than its bounds. The first byte chooses the kind.
#include "common/base/bytes.h"
#include "common/base/check.h"
#include "worker/camera/helper.h"
#include "worker/camera/invitation.h"
#include "worker/camera/relay_line.h"
#include "worker/camera/sealing.h"
#include "worker/camera/wire.h"

using namespace weft;
using namespace weft::worker;

namespace {

void record(ByteSpan bytes) {
  const auto read = camera::decode(bytes);
  if (!read) return;
  const auto again = camera::decode(camera::encode(*read));
  check(again && *again == *read, "a record that was read is written readably");
}

// Records one after the other, each after its length in one byte.
void session(ByteSpan bytes) {
  camera::Helper helper;
  while (!bytes.empty()) {
    const std::size_t size = std::min<std::size_t>(bytes[0], bytes.size() - 1);
    auto read = camera::decode(bytes.subspan(1, size));
    bytes = bytes.subspan(1 + size);
    if (!read || !helper.hear(std::move(*read))) return;
    while (const auto work = helper.next()) {
      if (std::holds_alternative<camera::Helper::OpenModel>(*work))
        (void)helper.opened({.width = 4, .height = 4});
      else
        (void)helper.found(1, {});
    }
  }
}

void relay(ByteSpan bytes) {
  camera::RelayLine line({},
                         {.text = [](const std::string&) {}, .binary = [](const ByteVector&) {}});
  line.open();
  (void)line.take_text("{}");
  (void)line.take_text(std::string(as_text(bytes)));
  (void)line.take_binary(bytes);
  check(!line.is_joined(), "no camera joins without the link's secret");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const ByteSpan bytes(data + 1, size - 1);
  switch (data[0] % 5) {
    case 0:
      record(bytes);
      break;
    case 1:
      session(bytes);
      break;
    case 2:
      relay(bytes);
      break;
    case 3:
      (void)read_camera_link(as_text(bytes));
      break;
    default:
      (void)open_signal({}, SignalKind::offer, as_text(bytes));
  }
  return 0;
}
