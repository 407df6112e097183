// What the process that serves models and its parent say to each other: frames of
// worker/sandbox/sandbox_wire.h with these kinds. The child runs strangers' models, so the parent
// reads all of it as it would read a stranger: bounded, and no field is trusted.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/base/bytes.h"
#include "common/base/result.h"
#include "worker/inference/serving.h"
#include "worker/inference/serving_host.h"
#include "worker/sandbox/sandbox_wire.h"

namespace weft::worker {

enum class ServingFrame : std::uint32_t {
  // To the child.
  begin = 200,    // Once: ServingSetup.
  join,           // text token: the session is there (Serving::join).
  socket_open,    // number connection
  socket_text,    // number connection, text
  socket_binary,  // number connection, bytes
  socket_closed,  // number connection, text reason
  reply,          // Reply; that of open_file comes with the open file
  line_open,      // LineEvent, bytes: the line's name
  line_frame,     // LineEvent, bytes
  line_closed,    // LineEvent
  // To the parent.
  connect = 300,  // number connection: events of earlier ones end
  send_text,      // text
  send_binary,    // bytes
  close_socket,
  fetch_blob,   // Ask, hash, number bytes_max
  fetch_range,  // Ask, hash, number first, number count
  read_chunk,   // Ask, ModelFile, number chunk -> no bytes if it is not there
  write_chunk,  // Ask, ModelFile, number chunk, bytes
  open_file,    // Ask, ModelFile
  lines_open,   // PeerLines::Chain, without its servers for browsers
  lines_send,   // number chain, number member, bytes
  lines_close,  // number chain
};
[[nodiscard]] inline FrameKind kind_of(ServingFrame frame) { return static_cast<FrameKind>(frame); }

// What the child serves with.
struct ServingSetup {
  std::uint64_t memory_bytes = 0;
  double gb_per_s = 0;
  std::vector<std::string> lines{};  // Names of the parent's lines, for the coordinator.
  std::uint64_t line_patience_ms = 0;
};

// An answer to what the child asked by number.
struct Reply {
  std::uint64_t ask = 0;
  Result<ByteVector> result;
};

struct LineEvent {
  std::uint32_t chain = 0;
  std::uint32_t epoch = 0;
  std::uint32_t member = 0;
};

[[nodiscard]] ByteVector pack(const ServingSetup& setup);
[[nodiscard]] Result<ServingSetup> unpack_setup(ByteSpan payload);
[[nodiscard]] ByteVector pack(const Reply& reply);
[[nodiscard]] Result<Reply> unpack_reply(ByteSpan payload);
[[nodiscard]] ByteVector pack(const LineEvent& event, ByteSpan bytes);
[[nodiscard]] Result<LineEvent> unpack_line_event(Unpacker& in);
[[nodiscard]] ByteVector pack(const PeerLines::Chain& chain);
// data_loss for what is not whole; invalid_argument for more members than a chain may have.
[[nodiscard]] Result<PeerLines::Chain> unpack_chain(ByteSpan payload);
void pack(Packer& out, const ModelFile& file);
// invalid_argument for a file that no worker serves (worker/inference/weights.h).
[[nodiscard]] Result<ModelFile> unpack_file(Unpacker& in);
// The number of one of its chunks.
[[nodiscard]] Result<std::uint32_t> unpack_chunk(Unpacker& in, const ModelFile& file);
// 32 bits; data_loss for more.
[[nodiscard]] Result<std::uint32_t> unpack_small(Unpacker& in);
[[nodiscard]] Result<Hash> unpack_hash(Unpacker& in);

}  // namespace weft::worker
