// The GPU as the rest of Weft sees it: one API over Dawn (native/), navigator.gpu (web/) and
// nothing at all (null/, which records commands and runs none, for tests above the device).
//
//   WEFT_CO_ASSIGN(auto device, co_await instance.create_device({.label = "worker"}));
//   WEFT_CO_ASSIGN(auto pipeline, co_await device->create_pipeline({.wgsl = source, .groups = {{{0,
//   BindingKind::storage}}}})); auto group = device->create_bind_group(pipeline, 0, {{0, buffer}});
//   Encoder encoder = device->create_encoder();
//   { Pass pass = encoder.begin_pass(); pass.run(pipeline, {&group}, {64}); }
//   encoder.copy(buffer, 0, readback, 0, bytes);
//   device->submit(std::move(encoder));
//   WEFT_CO_OK(co_await device->read(readback, 0, out));
//
// Waiting is always a co_await; nothing here blocks. Natively the owner of the thread polls the
// waits (run.h), in the browser the event loop does. An Async starts when it is awaited. Threading:
// a device and all that it made belong to one thread. Lifetime: a device outlives all that it made.
// Errors: creation of buffers and bind groups cannot fail by itself in WebGPU; mistakes and
// exhausted memory arrive at the innermost error scope (push_error_scope), otherwise at
// uncaptured_errors() and in the log.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/base/async.h"
#include "common/base/bytes.h"
#include "common/base/result.h"
#include "engine/gpu/types.h"

namespace weft::gpu {

class Backend;  // What a backend implements; see backend.h.
using Handle = std::uintptr_t;
enum class ObjectKind : std::uint8_t { buffer, pipeline, bind_group, query_set, encoder };

// Owns one object of the backend. Moves; releases when destroyed.
class Object {
 public:
  Object() = default;
  // buffer_bytes: what a buffer counts for in Device::buffer_bytes().
  Object(Backend& backend, Handle handle, ObjectKind kind, std::uint64_t buffer_bytes = 0);
  Object(Object&& other) noexcept;
  Object& operator=(Object&& other) noexcept;
  ~Object();

  [[nodiscard]] Handle handle() const { return handle_; }
  [[nodiscard]] explicit operator bool() const { return handle_ != 0; }

 protected:
  Handle take();
  Backend* backend_ = nullptr;
  std::uint64_t buffer_bytes_ = 0;

 private:
  Handle handle_ = 0;
  ObjectKind kind_ = ObjectKind::buffer;
};

class Buffer : public Object {
 public:
  Buffer() = default;
  Buffer(Backend& backend, Handle handle, std::uint64_t size)
      : Object(backend, handle, ObjectKind::buffer, size) {}
  [[nodiscard]] std::uint64_t size() const { return buffer_bytes_; }
};

class BindGroup : public Object {
  using Object::Object;
};
class QuerySet : public Object {
  using Object::Object;
};
// A compute pipeline with its bind group layouts.
class Pipeline : public Object {
  using Object::Object;
};

struct BufferOptions {
  std::uint64_t size = 0;  // Bytes; rounded up to a multiple of 4.
  BufferUsage usage = BufferUsage::storage;
  std::string_view label = "";
};

// Names a buffer without owning it, wherever its owner is moved to. Valid while the buffer exists.
class BufferRef {
 public:
  BufferRef(
      const Buffer& buffer)  // NOLINT(google-explicit-constructor): a binding names its buffer.
      : handle_(buffer.handle()), size_(buffer.size()) {}
  [[nodiscard]] Handle handle() const { return handle_; }
  [[nodiscard]] std::uint64_t size() const { return size_; }

 private:
  Handle handle_;
  std::uint64_t size_;
};

// A part of a buffer at a binding. size 0 means to the end.
struct BoundBuffer {
  std::uint32_t binding = 0;
  BufferRef buffer;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
};

struct Workgroups {
  std::uint32_t x = 1;
  std::uint32_t y = 1;
  std::uint32_t z = 1;
};

struct TimestampWrites {
  const QuerySet* query_set = nullptr;
  std::uint32_t begin_index = 0;
  std::uint32_t end_index = 1;
};

// A compute pass being recorded. State that is set already is not set again. Ends when destroyed.
class Pass {
 public:
  Pass(Backend& backend, Handle handle) : backend_(&backend), handle_(handle) {}
  Pass(Pass&& other) noexcept;
  Pass& operator=(Pass&&) = delete;
  ~Pass() { end(); }

  // groups[i] goes to @group(i); a null pointer leaves what is set there.
  void run(const Pipeline& pipeline, std::span<const BindGroup* const> groups,
           Workgroups workgroups);
  void run(const Pipeline& pipeline, std::initializer_list<const BindGroup*> groups,
           Workgroups workgroups) {
    run(pipeline, std::span(groups.begin(), groups.size()), workgroups);
  }
  // Bytes for var<immediate>, used by the runs that follow; needs limits().immediate_bytes_max.
  void set_immediates(ByteSpan bytes);
  void end();

 private:
  static constexpr std::size_t groups_max = 4;
  Backend* backend_;
  Handle handle_;
  Handle pipeline_ = 0;
  std::array<Handle, groups_max> groups_{};
};

// Records commands; many dispatches in one pass and many passes in one encoder. device.submit()
// takes it.
class Encoder : public Object {
 public:
  Encoder() = default;
  Encoder(Backend& backend, Handle handle, std::string_view label)
      : Object(backend, handle, ObjectKind::encoder), label_(label) {}
  [[nodiscard]] Pass begin_pass(std::string_view label = "", TimestampWrites timestamps = {});
  void copy(const Buffer& source, std::uint64_t source_offset, const Buffer& destination,
            std::uint64_t destination_offset, std::uint64_t size);
  void clear(const Buffer& buffer, std::uint64_t offset, std::uint64_t size);
  // Writes `count` u64 nanoseconds; destination has query_resolve, offset is a multiple of 256.
  void resolve(const QuerySet& query_set, std::uint32_t first, std::uint32_t count,
               const Buffer& destination, std::uint64_t offset);

 private:
  friend class Device;
  std::string label_;
};

struct DeviceOptions {
  std::string label = "weft";
  // Features to ask for where the adapter has them; the default asks for every one the adapter
  // offers that Weft knows.
  std::optional<std::vector<std::string>> features = {};
  // Natively: turns validation and robustness off, and features on that Dawn holds to be
  // experimental. For our own kernels only, never for strangers' shaders: a mistake may end the
  // process. Compile errors are still reported.
  bool trusted_shaders = false;
  // Natively: where Dawn keeps compiled pipelines between runs; empty for memory only.
  std::string cache_directory = {};
  std::uint64_t cache_bytes_max = std::uint64_t{256} << 20;
  // Catches each submit's errors in a scope of its own and reports them with the encoder's label at
  // uncaptured_errors() (and not at outer scopes).
  bool debug = false;
};

class Device {
 public:
  explicit Device(std::unique_ptr<Backend> backend);
  Device(const Device&) = delete;
  ~Device();

  [[nodiscard]] const AdapterInfo& adapter() const;
  [[nodiscard]] const Limits& limits() const;              // The device's, not the adapter's.
  [[nodiscard]] bool has(std::string_view feature) const;  // Enabled on this device.

  // The device's out-of-memory and over-limit errors come through the error scope.
  [[nodiscard]] Buffer create_buffer(const BufferOptions& options);
  [[nodiscard]] BindGroup create_bind_group(const Pipeline& pipeline, std::uint32_t group,
                                            std::span<const BoundBuffer> buffers);
  [[nodiscard]] BindGroup create_bind_group(const Pipeline& pipeline, std::uint32_t group,
                                            std::initializer_list<BoundBuffer> buffers) {
    return create_bind_group(pipeline, group, std::span(buffers.begin(), buffers.size()));
  }
  [[nodiscard]] QuerySet create_timestamps(
      std::uint32_t count);  // Needs the feature timestamp-query.

  // Compiles. Fails with invalid_argument and "LINE:COLUMN: what the compiler says" for the first
  // error of the shader.
  [[nodiscard]] Async<Result<Pipeline>> create_pipeline(PipelineOptions options);
  // Everything the compiler has to say about a shader, without making a pipeline.
  [[nodiscard]] Async<Result<std::vector<CompileMessage>>> compile_messages(std::string wgsl);

  [[nodiscard]] Encoder create_encoder(std::string_view label = "");
  void submit(Encoder encoder);
  // Through the queue's own staging; offset and bytes.size() are multiples of 4.
  void write(const Buffer& buffer, std::uint64_t offset, ByteSpan bytes);
  // Maps [offset, offset + out.size()) of a map_read buffer and copies it out. offset is a multiple
  // of 8. `out` stays valid until done.
  [[nodiscard]] Async<Result<>> read(const Buffer& buffer, std::uint64_t offset,
                                     std::span<std::uint8_t> out);
  // Everything submitted so far is done.
  [[nodiscard]] Async<Result<>> idle();

  enum class ErrorFilter : std::uint8_t { validation, out_of_memory, internal };
  void push_error_scope(ErrorFilter filter);
  // The first error of the scope: invalid_argument, out_of_memory or internal.
  [[nodiscard]] Async<Result<>> pop_error_scope();
  // Messages that met no scope, since the last call.
  [[nodiscard]] std::vector<std::string> uncaptured_errors();

  // Set once the device is lost, with the driver's reason; every later wait fails with device_lost.
  [[nodiscard]] std::optional<std::string> lost() const;
  // Called once at the loss (at once if it happened already).
  void on_lost(std::function<void(std::string reason)> callback);
  // Loses the device on purpose and gives its memory back; what waits ends with device_lost.
  void destroy();

  // Bytes of buffers that exist now, and the most there ever were.
  [[nodiscard]] std::uint64_t buffer_bytes() const;
  [[nodiscard]] std::uint64_t buffer_bytes_peak() const;

  [[nodiscard]] Backend& backend() { return *backend_; }

 private:
  std::unique_ptr<Backend> backend_;
};

// Where devices come from: native::create_instance(), web::create_instance(),
// null::create_instance().
class Instance {
 public:
  virtual ~Instance() = default;
  // Every adapter there is; in a browser at most the one it offers.
  [[nodiscard]] virtual Async<Result<std::vector<AdapterInfo>>> adapters() = 0;
  // A device on adapters()[index]; without an index on the best one: discrete before integrated
  // before cpu.
  [[nodiscard]] virtual Async<Result<std::unique_ptr<Device>>> create_device(
      DeviceOptions options, std::optional<std::size_t> index = {}) = 0;
};

}  // namespace weft::gpu
