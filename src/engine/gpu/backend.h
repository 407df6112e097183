// What a backend implements: the device as plain calls on handles. Users see Device; only native/,
// web/ and null/ (and the rings, which start several operations at once) see this.
//
// Operations that take a Completion return at once and complete later, never inside the call.
// Handles are the backend's own; 0 is no handle. Labels and spans are read during the call only,
// except read()'s destination.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/bytes.h"
#include "common/base/guarded.h"
#include "engine/gpu/completion.h"
#include "engine/gpu/device.h"

namespace weft::gpu {

// What went wrong on a device outside of any call: its loss, and errors that met no scope. Drivers
// report these from threads of their own, hence the lock around it (see Backend::health).
struct Health {
  static constexpr std::size_t errors_max = 64;

  std::optional<std::string> lost;
  std::vector<std::string> errors;
  std::size_t errors_dropped = 0;
  std::function<void(std::string)> on_lost;

  void add_error(std::string message);
};
using SharedHealth = std::shared_ptr<Guarded<Health>>;

// Calls on_lost if there was a loss that it has not heard of. On the device's thread, outside of
// the lock.
void announce_loss(const SharedHealth& health);

// One dispatch and the state that it changes; 0 keeps what is set.
struct Dispatch {
  static constexpr std::size_t groups_max = 4;
  Handle pipeline = 0;
  std::array<Handle, groups_max> groups{};
  Workgroups workgroups;
};

// Large: a method for each operation of a device that a platform has to provide.
class Backend {
 public:
  struct Description {
    AdapterInfo adapter;
    Limits limits;                      // The device's limits.
    std::vector<std::string> features;  // Enabled on it.
    bool debug = false;                 // DeviceOptions::debug and
    bool trusted_shaders = false;       // DeviceOptions::trusted_shaders.
  };

  Backend(Description description, std::shared_ptr<ReadyQueue> ready,
          SharedHealth health = std::make_shared<Guarded<Health>>())
      : description_(std::move(description)),
        ready_(std::move(ready)),
        health_(std::move(health)) {}
  Backend(const Backend&) = delete;
  virtual ~Backend() = default;

  [[nodiscard]] const Description& description() const { return description_; }
  [[nodiscard]] const std::shared_ptr<ReadyQueue>& ready() const { return ready_; }
  [[nodiscard]] const SharedHealth& health() const { return health_; }

  // Objects.
  [[nodiscard]] virtual Handle create_buffer(const BufferOptions& options) = 0;
  [[nodiscard]] virtual Handle create_bind_group(Handle pipeline, std::uint32_t group,
                                                 std::span<const BoundBuffer> buffers) = 0;
  [[nodiscard]] virtual Handle create_timestamps(std::uint32_t count) = 0;
  virtual void create_pipeline(const PipelineOptions& options, Completion<Handle> done) = 0;
  virtual void compile_messages(const std::string& wgsl,
                                Completion<std::vector<CompileMessage>> done) = 0;
  virtual void release(Handle handle, ObjectKind kind) = 0;

  // Recording. end_pass and submit also release what they end.
  [[nodiscard]] virtual Handle create_encoder(std::string_view label) = 0;
  [[nodiscard]] virtual Handle begin_pass(Handle encoder, std::string_view label,
                                          const TimestampWrites& timestamps) = 0;
  virtual void dispatch(Handle pass, const Dispatch& dispatch) = 0;
  virtual void set_immediates(Handle pass, ByteSpan bytes) = 0;
  virtual void end_pass(Handle pass) = 0;
  virtual void copy(Handle encoder, Handle source, std::uint64_t source_offset, Handle destination,
                    std::uint64_t destination_offset, std::uint64_t size) = 0;
  virtual void clear(Handle encoder, Handle buffer, std::uint64_t offset, std::uint64_t size) = 0;
  virtual void resolve(Handle encoder, Handle query_set, std::uint32_t first, std::uint32_t count,
                       Handle destination, std::uint64_t offset) = 0;
  virtual void submit(Handle encoder) = 0;

  // The queue.
  virtual void write(Handle buffer, std::uint64_t offset, ByteSpan bytes) = 0;
  virtual void read(Handle buffer, std::uint64_t offset, std::span<std::uint8_t> out,
                    Completion<> done) = 0;
  virtual void idle(Completion<> done) = 0;

  // Errors.
  virtual void push_error_scope(Device::ErrorFilter filter) = 0;
  virtual void pop_error_scope(Completion<> done) = 0;
  // Loses the device.
  virtual void destroy() = 0;

  // Bytes of the buffers that exist, kept by Object.
  void count_buffer_bytes(std::int64_t change);
  [[nodiscard]] std::uint64_t buffer_bytes() const { return buffer_bytes_; }
  [[nodiscard]] std::uint64_t buffer_bytes_peak() const { return buffer_bytes_peak_; }

 private:
  const Description description_;
  const std::shared_ptr<ReadyQueue> ready_;
  const SharedHealth health_;
  std::uint64_t buffer_bytes_ = 0;
  std::uint64_t buffer_bytes_peak_ = 0;
};

// The features that Weft knows how to use, by WebGPU's names.
[[nodiscard]] std::span<const std::string_view> known_features();
// What to ask an adapter for: of `options.features` (or of all known ones) those that it has.
[[nodiscard]] std::vector<std::string> wanted_features(const AdapterInfo& adapter,
                                                       const DeviceOptions& options);
// The index of the best adapter: discrete before integrated before unknown before cpu.
[[nodiscard]] std::optional<std::size_t> best_adapter(std::span<const AdapterInfo> adapters);
// "LINE:COLUMN: text" of the first error among a shader's messages.
[[nodiscard]] std::optional<std::string> first_error(std::span<const CompileMessage> messages);

}  // namespace weft::gpu
