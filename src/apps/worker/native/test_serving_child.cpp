// A child for models that an attacker controls: it reports that it is ready and then runs the
// attack that its first argument names.
#include <cstdlib>
#include <string_view>
#include <unistd.h>

#include "worker/sandbox/spawn.h"
#include "worker/serving_child/messages.h"

using weft::ByteSpan;
using weft::ByteVector;
using weft::Instant;
using weft::worker::Packer;
using weft::worker::ServingFrame;

namespace {

void say(int socket, weft::worker::FrameKind kind, ByteSpan payload) {
  (void)weft::worker::write_frame(socket, kind, payload, Instant::max(), [] {});
}
void say(int socket, ServingFrame kind, ByteSpan payload) {
  say(socket, weft::worker::kind_of(kind), payload);
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 3) return 2;
  const std::string_view what = arguments[1];
  const int socket = std::atoi(arguments[2]);
  std::vector<weft::worker::MissingPart> missing;
  if (what == "unconfined")
    missing.push_back(
        {.need = weft::worker::MissingPart::Need::required, .what = "all is missing"});
  say(socket, weft::worker::FrameKind::ready, weft::worker::pack_missing(missing));
  if (what == "unknown") say(socket, static_cast<ServingFrame>(9999), ByteVector(8));
  if (what == "huge") {
    ByteVector header;
    weft::append_le(header, static_cast<std::uint32_t>(ServingFrame::send_text));
    weft::append_le(header, std::uint64_t{1} << 40);
    (void)weft::worker::write_bytes(socket, header, Instant::max());
  }
  if (what == "cut") say(socket, ServingFrame::send_text, ByteVector(3));
  if (what == "asks") {
    for (std::uint64_t i = 0; i < 1000; ++i)
      say(socket, ServingFrame::fetch_range,
          Packer().number(i).bytes(ByteVector(32)).number(0).number(100).take());
  }
  if (what == "range")
    say(socket, ServingFrame::fetch_range,
        Packer().number(1).bytes(ByteVector(32)).number(~0ULL).number(100).take());
  if (what == "lines") say(socket, ServingFrame::lines_open, weft::worker::pack({.chain = 1}));
  if (what == "chunks") {
    // Writes a chunk after the end of its file, a chunk that is too long, and a chunk of a file of
    // 2^62 bytes.
    const auto write = [&](std::uint64_t bytes, std::uint64_t chunk_bytes, std::uint64_t chunk,
                           std::size_t size) {
      say(socket, ServingFrame::write_chunk,
          Packer()
              .number(chunk)
              .bytes(ByteVector(32))
              .number(bytes)
              .number(chunk_bytes)
              .number(chunk)
              .bytes(ByteVector(size, 7))
              .take());
    };
    write(100'000, 65'536, 2, 65'536);
    write(100'000, 65'536, 0, 70'000);
    write(std::uint64_t{1} << 62, 65'536, 5, 65'536);
    write(100'000, 0, 0, 10);
    // An invalid frame last, after which the parent ends the child.
    say(socket, static_cast<ServingFrame>(9999), ByteVector(8));
  }
  for (;;) ::pause();
}
