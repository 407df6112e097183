// The GPU API of Weft: one API over Dawn (native/), navigator.gpu (web/) and null/, which records
// commands and runs none, for tests of the code above the device.
//
//   WEFT_CO_ASSIGN(auto device, co_await instance.create_device({.label = "worker"}));
//   WEFT_CO_ASSIGN(auto pipeline, co_await device->create_pipeline(
//                      {.wgsl = source, .groups = {{{0, BindingKind::storage}}}}));
//   auto group = device->create_bind_group(pipeline, 0, {{0, buffer}});
//   Encoder encoder = device->create_encoder();
//   { Pass pass = encoder.begin_pass(); pass.run(pipeline, {&group}, {64}); }
//   encoder.copy(buffer, 0, readback, 0, bytes);
//   device->submit(std::move(encoder));
//   WEFT_CO_OK(co_await device->read(readback, 0, out));
//
// Every wait is a co_await; no function blocks. Natively the owner of the thread polls the waits
// (run.h); in the browser the event loop does. An Async starts when it is awaited. Threading: a
// device and all objects that it made belong to one thread. Lifetime: a device outlives all objects
// that it made. Errors: in WebGPU the creation of buffers and bind groups does not fail by itself;
// mistakes and exhausted memory are reported to the innermost error scope (push_error_scope), and
// without a scope to uncaptured_errors() and the log.
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

class Backend;  // The interface of a backend; see backend.h.
using Handle = std::uintptr_t;
enum class ObjectKind : std::uint8_t { buffer, pipeline, bind_group, query_set, encoder };

// Owns one object of the backend and releases it in the destructor. It can be moved.
class Object {
 public:
  Object() = default;
  // `buffer_bytes` is the size that a buffer adds to Device::buffer_bytes().
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
  std::uint64_t size = 0;  // The size in bytes; rounded up to a multiple of 4.
  BufferUsage usage = BufferUsage::storage;
  std::string_view label = "";
};

// Refers to a buffer without owning it, even if its owner is moved. Valid while the buffer exists.
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

// A part of a buffer at a binding. Size 0 stands for the rest of the buffer.
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

// A compute pass that is being recorded. State that is set already is not set again. The pass ends
// when it is destroyed.
class Pass {
 public:
  Pass(Backend& backend, Handle handle) : backend_(&backend), handle_(handle) {}
  Pass(Pass&& other) noexcept;
  Pass& operator=(Pass&&) = delete;
  ~Pass() { end(); }

  // Records a dispatch. groups[i] is bound to @group(i); a null pointer keeps the group that is
  // set.
  void run(const Pipeline& pipeline, std::span<const BindGroup* const> groups,
           Workgroups workgroups);
  void run(const Pipeline& pipeline, std::initializer_list<const BindGroup*> groups,
           Workgroups workgroups) {
    run(pipeline, std::span(groups.begin(), groups.size()), workgroups);
  }
  // Sets the bytes of var<immediate> for the runs that follow; needs limits().immediate_bytes_max.
  void set_immediates(ByteSpan bytes);
  void end();

 private:
  static constexpr std::size_t groups_max = 4;
  Backend* backend_;
  Handle handle_;
  Handle pipeline_ = 0;
  std::array<Handle, groups_max> groups_{};
};

// Records commands: many dispatches in one pass and many passes in one encoder. Device::submit()
// takes the encoder.
class Encoder : public Object {
 public:
  Encoder() = default;
  Encoder(Backend& backend, Handle handle, std::string_view label)
      : Object(backend, handle, ObjectKind::encoder), label_(label) {}
  [[nodiscard]] Pass begin_pass(std::string_view label = "", TimestampWrites timestamps = {});
  void copy(const Buffer& source, std::uint64_t source_offset, const Buffer& destination,
            std::uint64_t destination_offset, std::uint64_t size);
  void clear(const Buffer& buffer, std::uint64_t offset, std::uint64_t size);
  // Writes `count` u64 nanoseconds. The destination has the usage query_resolve, and the offset is
  // a multiple of 256.
  void resolve(const QuerySet& query_set, std::uint32_t first, std::uint32_t count,
               const Buffer& destination, std::uint64_t offset);

 private:
  friend class Device;
  std::string label_;
};

struct DeviceOptions {
  std::string label = "weft";
  // The features to enable if the adapter has them. The default is all features of the adapter that
  // Weft knows.
  std::optional<std::vector<std::string>> features = {};
  // Turns off validation and robustness, and turns on features that Dawn calls experimental. It has
  // an effect only natively. It is for Weft's own kernels only, because a mistake in a shader may
  // end the process. Compile errors are still reported.
  bool trusted_shaders = false;
  // The folder in which Dawn keeps compiled pipelines between runs; empty for none. It has an
  // effect only natively.
  std::string cache_directory = {};
  std::uint64_t cache_bytes_max = std::uint64_t{256} << 20;
  // Catches the errors of each submit in a scope of its own and reports them with the encoder's
  // label to uncaptured_errors(), not to outer scopes.
  bool debug = false;
};

class Device {
 public:
  explicit Device(std::unique_ptr<Backend> backend);
  Device(const Device&) = delete;
  ~Device();

  [[nodiscard]] const AdapterInfo& adapter() const;
  [[nodiscard]] const Limits& limits() const;  // The limits of the device, not of the adapter.
  [[nodiscard]] bool has(std::string_view feature) const;  // True if the feature is enabled.

  // Creates a buffer. Errors for exhausted memory or exceeded limits are reported to the error
  // scope.
  [[nodiscard]] Buffer create_buffer(const BufferOptions& options);
  [[nodiscard]] BindGroup create_bind_group(const Pipeline& pipeline, std::uint32_t group,
                                            std::span<const BoundBuffer> buffers);
  [[nodiscard]] BindGroup create_bind_group(const Pipeline& pipeline, std::uint32_t group,
                                            std::initializer_list<BoundBuffer> buffers) {
    return create_bind_group(pipeline, group, std::span(buffers.begin(), buffers.size()));
  }
  [[nodiscard]] QuerySet create_timestamps(
      std::uint32_t count);  // Needs the feature timestamp-query.

  // Compiles a pipeline. Fails with invalid_argument and "LINE:COLUMN: message" for the first error
  // of the shader.
  [[nodiscard]] Async<Result<Pipeline>> create_pipeline(PipelineOptions options);
  // Returns all messages of the compiler about a shader, without making a pipeline.
  [[nodiscard]] Async<Result<std::vector<CompileMessage>>> compile_messages(std::string wgsl);

  [[nodiscard]] Encoder create_encoder(std::string_view label = "");
  void submit(Encoder encoder);
  // Writes through the queue's own staging memory; offset and bytes.size() are multiples of 4.
  void write(const Buffer& buffer, std::uint64_t offset, ByteSpan bytes);
  // Maps [offset, offset + out.size()) of a map_read buffer and copies it to `out`, which stays
  // valid until the read is done. offset is a multiple of 8.
  [[nodiscard]] Async<Result<>> read(const Buffer& buffer, std::uint64_t offset,
                                     std::span<std::uint8_t> out);
  // Waits until all submitted work is done.
  [[nodiscard]] Async<Result<>> idle();

  enum class ErrorFilter : std::uint8_t { validation, out_of_memory, internal };
  void push_error_scope(ErrorFilter filter);
  // Ends the innermost scope. Fails with its first error: invalid_argument, out_of_memory or
  // internal.
  [[nodiscard]] Async<Result<>> pop_error_scope();
  // The error messages since the last call that no scope caught.
  [[nodiscard]] std::vector<std::string> uncaptured_errors();

  // The driver's reason, once the device is lost; every later wait fails with device_lost.
  [[nodiscard]] std::optional<std::string> lost() const;
  // Sets a function that is called once when the device is lost, or at once if it is lost already.
  void on_lost(std::function<void(std::string reason)> callback);
  // Loses the device on purpose and frees its memory; all waits end with device_lost.
  void destroy();

  // The bytes of the buffers that exist now, and their maximum so far.
  [[nodiscard]] std::uint64_t buffer_bytes() const;
  [[nodiscard]] std::uint64_t buffer_bytes_peak() const;

  [[nodiscard]] Backend& backend() { return *backend_; }

 private:
  std::unique_ptr<Backend> backend_;
};

// The source of devices: native::create_instance(), web::create_instance() or
// null::create_instance().
class Instance {
 public:
  virtual ~Instance() = default;
  // Returns all adapters; in a browser, at most the one adapter that it offers.
  [[nodiscard]] virtual Async<Result<std::vector<AdapterInfo>>> adapters() = 0;
  // Creates a device on adapters()[index]. Without an index the best adapter is taken: a discrete
  // GPU before an integrated one before a CPU.
  [[nodiscard]] virtual Async<Result<std::unique_ptr<Device>>> create_device(
      DeviceOptions options, std::optional<std::size_t> index = {}) = 0;
};

}  // namespace weft::gpu
