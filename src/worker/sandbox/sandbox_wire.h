// What the sandbox's parent and child say to each other over a socket pair: frames of u32 kind ||
// u64 size || payload. The child runs strangers' shaders, so the parent reads what it says as it
// would read a stranger: bounded, and never trusted to be whole.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/bytes.h"
#include "common/base/clock.h"
#include "common/base/result.h"
#include "engine/exec/executor.h"

namespace weft::worker {

enum class FrameKind : std::uint32_t {
  // To the child.
  describe = 1,  // -> done with the capabilities as JSON
  load = 2,      // a job; compiled, and kept as the newest of loaded_jobs_max
  run = 3,       // a range of a loaded job -> done with the outputs
  check = 4,     // a job whose data does not matter; compiled and forgotten
  // To a child for texts (text_service.h).
  open_text = 5,    // the head of a model's file -> done with what its tokens say
  read_prompt = 6,  // -> done with its tokens
  look_text = 7,    // -> done with a text, or tokens
  // From the child.
  ready = 100,  // once, with what of the confinement could not be applied
  done = 101,
  failed = 102,  // an Error
};

struct Frame {
  FrameKind kind = FrameKind::failed;
  ByteVector payload;
};

// Jobs that a child keeps; the parent counts along.
inline constexpr std::size_t loaded_jobs_max = 4;

// Plain values one after the other, little-endian, texts and bytes with a u64 length before them.
class Packer {
 public:
  Packer& number(std::uint64_t value);
  Packer& real(double value);
  Packer& bytes(ByteSpan value);
  Packer& text(std::string_view value) { return bytes(as_bytes(value)); }
  [[nodiscard]] ByteVector take() { return std::move(out_); }

 private:
  ByteVector out_;
};

// Reads them again; every read past the end is data_loss.
class Unpacker {
 public:
  explicit Unpacker(ByteSpan in) : in_(in) {}
  [[nodiscard]] Result<std::uint64_t> number();
  [[nodiscard]] Result<double> real();
  [[nodiscard]] Result<ByteSpan> bytes();
  [[nodiscard]] Result<std::string> text();

 private:
  [[nodiscard]] Result<ByteSpan> take(std::uint64_t size);
  ByteSpan in_;
};

[[nodiscard]] ByteVector pack_error(const Error& error);
[[nodiscard]] Error unpack_error(ByteSpan payload);
[[nodiscard]] ByteVector pack_output(const exec::Output& output);
[[nodiscard]] Result<exec::Output> unpack_output(ByteSpan payload);
// A job: its manifest (without inline data), its shader and its data.
[[nodiscard]] ByteVector pack_job(const exec::Job& job);
[[nodiscard]] Result<exec::Job> unpack_job(ByteSpan payload);

// deadline_exceeded at the deadline, unavailable if the other side is gone. `while_waiting` is
// called between waits. The socket is non-blocking.
[[nodiscard]] Result<> write_frame(int socket, FrameKind kind, ByteSpan payload, Instant deadline,
                                   const std::function<void()>& while_waiting);
// Bytes of a frame that is written in parts.
[[nodiscard]] Result<> write_bytes(int socket, ByteSpan bytes, Instant deadline);
[[nodiscard]] Result<Frame> read_frame(int socket, std::uint64_t payload_bytes_max,
                                       Instant deadline,
                                       const std::function<void()>& while_waiting);

}  // namespace weft::worker
