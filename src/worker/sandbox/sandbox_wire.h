// The protocol between the sandbox's parent and child over a socket pair: frames of u32 kind || u64
// size || payload. The child runs strangers' shaders, so the parent treats its frames as untrusted:
// their sizes are bounded and every field is checked.
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
  // Requests to the child.
  describe = 1,  // -> done with the capabilities as JSON
  load = 2,      // loads a job: compiles it, and keeps the newest loaded_jobs_max jobs
  run = 3,       // runs a range of a loaded job -> done with the outputs
  check = 4,     // compiles a job without data, and discards it
  // Requests to a child for texts (text_service.h).
  open_text = 5,    // the head of a model's file -> done with the texts of its tokens
  read_prompt = 6,  // a chat or text -> done with its tokens
  look_text = 7,    // a text or tokens -> done with a text, or tokens
  // Requests to a child for a detector (detector_service.h).
  open_detector = 8,  // an ONNX file -> done with the size of its input
  find_boxes = 9,     // the levels of an input -> done with boxes
  // Answers of the child.
  ready = 100,  // once, with the parts of the confinement that could not be applied
  done = 101,
  failed = 102,  // an Error
};

struct Frame {
  FrameKind kind = FrameKind::failed;
  ByteVector payload;
};

// The number of jobs that a child keeps. The parent keeps the same list of jobs.
inline constexpr std::size_t loaded_jobs_max = 4;

// Writes values in order, little-endian. A text or a byte string is preceded by its length as u64.
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

// Reads the values of a Packer. Every read past the end fails with data_loss.
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
// Packs a job: its manifest (without inline data), its shader and its data.
[[nodiscard]] ByteVector pack_job(const exec::Job& job);
[[nodiscard]] Result<exec::Job> unpack_job(ByteSpan payload);

// Writes a frame. Fails with deadline_exceeded at the deadline, and with unavailable if the other
// side has closed. `while_waiting` is called between waits. The socket must be non-blocking.
[[nodiscard]] Result<> write_frame(int socket, FrameKind kind, ByteSpan payload, Instant deadline,
                                   const std::function<void()>& while_waiting);
// Writes bytes of a frame that is written in parts.
[[nodiscard]] Result<> write_bytes(int socket, ByteSpan bytes, Instant deadline);
[[nodiscard]] Result<Frame> read_frame(int socket, std::uint64_t payload_bytes_max,
                                       Instant deadline,
                                       const std::function<void()>& while_waiting);

}  // namespace weft::worker
