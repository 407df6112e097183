// The protocol between the process that serves models and its parent: frames of
// worker/sandbox/sandbox_wire.h with these kinds. The child runs strangers' models, so the parent
// treats its frames as untrusted: their sizes are bounded and every field is checked.
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
  // Frames to the child. Each comment names the fields of the frame.
  begin = 200,    // ServingSetup; sent once.
  join,           // text token: the session has joined (Serving::join).
  socket_open,    // number connection
  socket_text,    // number connection, text
  socket_binary,  // number connection, bytes
  socket_closed,  // number connection, text reason
  reply,          // Reply; with the open file if it answers open_file
  line_open,      // LineEvent, bytes: the kind of the link
  line_frame,     // LineEvent, bytes
  line_closed,    // LineEvent
  // Frames to the parent. Each comment names the fields of the frame.
  connect = 300,  // number connection: no events of earlier connections follow
  send_text,      // text
  send_binary,    // bytes
  close_socket,
  fetch_blob,   // Ask, hash, number bytes_max
  fetch_range,  // Ask, hash, number first, number count
  read_chunk,   // Ask, ModelFile, number chunk; the reply is empty if the chunk is not stored
  write_chunk,  // Ask, ModelFile, number chunk, bytes
  open_file,    // Ask, ModelFile
  lines_open,   // PeerLines::Chain, without its ICE servers
  lines_send,   // number chain, number member, bytes
  lines_close,  // number chain
};
[[nodiscard]] inline FrameKind kind_of(ServingFrame frame) { return static_cast<FrameKind>(frame); }

// The settings with which the child serves.
struct ServingSetup {
  std::uint64_t memory_bytes = 0;
  double gb_per_s = 0;
  std::vector<std::string> lines{};  // Links that the worker offers to the coordinator.
  std::uint64_t line_patience_ms = 0;
};

// The answer to a request of the child, by the request's number.
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
// Fails with data_loss for an incomplete payload, invalid_argument for more members than a chain
// may have.
[[nodiscard]] Result<PeerLines::Chain> unpack_chain(ByteSpan payload);
void pack(Packer& out, const ModelFile& file);
// Fails with invalid_argument for a file that no worker serves (worker/inference/weights.h).
[[nodiscard]] Result<ModelFile> unpack_file(Unpacker& in);
// Reads the number of one of the file's chunks.
[[nodiscard]] Result<std::uint32_t> unpack_chunk(Unpacker& in, const ModelFile& file);
// Reads a number of up to 32 bits. Fails with data_loss for a larger one.
[[nodiscard]] Result<std::uint32_t> unpack_small(Unpacker& in);
[[nodiscard]] Result<Hash> unpack_hash(Unpacker& in);

}  // namespace weft::worker
