#include "worker/sandbox/sandbox_wire.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <poll.h>

#include <sys/socket.h>

#include "common/base/byte_reader.h"

namespace weft::worker {
namespace {

constexpr std::size_t header_bytes = 12;
constexpr std::size_t outputs_max = 64;
constexpr Duration wait_step =
    std::chrono::milliseconds(100);  // The longest time between two calls of `while_waiting`.

Result<> wait_for(int socket, short event, Instant deadline,
                  const std::function<void()>& while_waiting) {
  for (;;) {
    while_waiting();
    const Duration left = deadline - now();
    if (left <= Duration::zero())
      return fail(ErrorCode::deadline_exceeded, "The sandbox did not answer in time.");
    const auto step =
        std::chrono::duration_cast<std::chrono::milliseconds>(std::min(left, wait_step));
    pollfd poll_entry{.fd = socket, .events = event, .revents = 0};
    const int ready = ::poll(&poll_entry, 1, static_cast<int>(step.count()) + 1);
    if (ready > 0) return {};
    if (ready < 0 && errno != EINTR)
      return fail(ErrorCode::internal, "Cannot wait for the sandbox: {}.", std::strerror(errno));
  }
}

Result<> write_all(int socket, ByteSpan bytes, Instant deadline,
                   const std::function<void()>& while_waiting) {
  while (!bytes.empty()) {
    const ssize_t count = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count >= 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(count));
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      WEFT_OK(wait_for(socket, POLLOUT, deadline, while_waiting));
    } else if (errno != EINTR) {
      return fail(ErrorCode::unavailable, "The connection to the sandbox broke: {}.",
                  std::strerror(errno));
    }
  }
  return {};
}

Result<> read_all(int socket, std::span<std::uint8_t> bytes, Instant deadline,
                  const std::function<void()>& while_waiting) {
  while (!bytes.empty()) {
    const ssize_t count = ::recv(socket, bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (count > 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(count));
    } else if (count == 0) {
      return fail(ErrorCode::unavailable, "The sandbox closed its connection.");
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      WEFT_OK(wait_for(socket, POLLIN, deadline, while_waiting));
    } else if (errno != EINTR) {
      return fail(ErrorCode::unavailable, "The connection to the sandbox broke: {}.",
                  std::strerror(errno));
    }
  }
  return {};
}

// Removes inline bytes from a manifest, because the data are sent separately.
manifest::Manifest without_bytes(const manifest::Manifest& whole) {
  manifest::Manifest bare = whole;
  const auto strip = [](manifest::Data& data) {
    if (!std::holds_alternative<std::monostate>(data)) data = manifest::Blob{};
  };
  if (bare.kind == manifest::Kind::wgsl) bare.shader = manifest::Blob{};
  for (manifest::Binding& binding : bare.bindings) strip(binding.data);
  strip(bare.kernel.a);
  strip(bare.kernel.b);
  return bare;
}

}  // namespace

Packer& Packer::number(std::uint64_t value) {
  append_le(out_, value);
  return *this;
}
Packer& Packer::real(double value) { return number(std::bit_cast<std::uint64_t>(value)); }
Packer& Packer::bytes(ByteSpan value) {
  number(value.size());
  append(out_, value);
  return *this;
}

Result<ByteSpan> Unpacker::take(std::uint64_t size) {
  if (size > in_.size()) return fail(ErrorCode::data_loss, "The sandbox's frame ends too early.");
  const ByteSpan taken = in_.first(static_cast<std::size_t>(size));
  in_ = in_.subspan(taken.size());
  return taken;
}
Result<std::uint64_t> Unpacker::number() {
  WEFT_ASSIGN(const ByteSpan bytes, take(sizeof(std::uint64_t)));
  return read_le<std::uint64_t>(bytes);
}
Result<double> Unpacker::real() {
  WEFT_ASSIGN(const std::uint64_t bits, number());
  return std::bit_cast<double>(bits);
}
Result<ByteSpan> Unpacker::bytes() {
  WEFT_ASSIGN(const std::uint64_t size, number());
  return take(size);
}
Result<std::string> Unpacker::text() {
  WEFT_ASSIGN(const ByteSpan text_bytes, bytes());
  return std::string(as_text(text_bytes));
}

ByteVector pack_error(const Error& error) {
  return Packer().number(static_cast<std::uint64_t>(error.code)).text(error.message).take();
}

Error unpack_error(ByteSpan payload) {
  Unpacker in(payload);
  const auto code = in.number();
  const auto message = in.text();
  if (!code || !message || *code > static_cast<std::uint64_t>(ErrorCode::internal))
    return {ErrorCode::internal, "The sandbox failed and did not say why."};
  return {static_cast<ErrorCode>(*code), *message};
}

ByteVector pack_output(const exec::Output& output) {
  Packer out;
  out.real(output.gpu_seconds)
      .real(output.wall_seconds)
      .number(output.dispatches)
      .number(output.outputs.size());
  for (const ByteVector& bytes : output.outputs) out.bytes(bytes);
  return out.take();
}

Result<exec::Output> unpack_output(ByteSpan payload) {
  Unpacker in(payload);
  exec::Output output;
  WEFT_ASSIGN(output.gpu_seconds, in.real());
  WEFT_ASSIGN(output.wall_seconds, in.real());
  WEFT_ASSIGN(const std::uint64_t dispatches, in.number());
  output.dispatches = static_cast<std::uint32_t>(dispatches);
  WEFT_ASSIGN(const std::uint64_t count, in.number());
  if (count > outputs_max)
    return fail(ErrorCode::data_loss, "The sandbox sends {} outputs; at most {} are read.", count,
                outputs_max);
  for (std::uint64_t i = 0; i < count; ++i) {
    WEFT_ASSIGN(const ByteSpan bytes, in.bytes());
    output.outputs.emplace_back(bytes.begin(), bytes.end());
  }
  return output;
}

ByteVector pack_job(const exec::Job& job) {
  Packer out;
  out.text(manifest::to_json(without_bytes(job.manifest))).text(job.shader).number(job.data.size());
  for (const ByteVector& data : job.data) out.bytes(data);
  return out.take();
}

Result<exec::Job> unpack_job(ByteSpan payload) {
  Unpacker in(payload);
  exec::Job job;
  WEFT_ASSIGN(const std::string text, in.text());
  WEFT_ASSIGN(job.manifest, manifest::parse(text));
  WEFT_ASSIGN(job.shader, in.text());
  WEFT_ASSIGN(const std::uint64_t count, in.number());
  for (std::uint64_t i = 0; i < count; ++i) {
    WEFT_ASSIGN(const ByteSpan data, in.bytes());
    job.data.emplace_back(data.begin(), data.end());
  }
  return job;
}

Result<> write_frame(int socket, FrameKind kind, ByteSpan payload, Instant deadline,
                     const std::function<void()>& while_waiting) {
  ByteVector header;
  append_le(header, static_cast<std::uint32_t>(kind));
  append_le(header, static_cast<std::uint64_t>(payload.size()));
  WEFT_OK(write_all(socket, header, deadline, while_waiting));
  return write_all(socket, payload, deadline, while_waiting);
}

Result<> write_bytes(int socket, ByteSpan bytes, Instant deadline) {
  return write_all(socket, bytes, deadline, [] {});
}

Result<Frame> read_frame(int socket, std::uint64_t payload_bytes_max, Instant deadline,
                         const std::function<void()>& while_waiting) {
  std::array<std::uint8_t, header_bytes> header{};
  WEFT_OK(read_all(socket, header, deadline, while_waiting));
  Frame frame;
  frame.kind = static_cast<FrameKind>(read_le<std::uint32_t>(header));
  const std::uint64_t size = read_le<std::uint64_t>(header, 4);
  if (size > payload_bytes_max)
    return fail(ErrorCode::resource_exhausted, "The sandbox sends {} bytes; at most {} are read.",
                size, payload_bytes_max);
  frame.payload.resize(static_cast<std::size_t>(size));
  WEFT_OK(read_all(socket, frame.payload, deadline, while_waiting));
  return frame;
}

}  // namespace weft::worker
