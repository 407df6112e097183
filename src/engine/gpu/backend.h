// The interface that a backend implements: the device as plain calls on handles. Users see Device;
// only native/, web/ and null/ (and the rings, which start several operations at once) see Backend.
//
// Operations that take a Completion return at once and complete later, never inside the call.
// Handles are the backend's own numbers; 0 is not a handle. Labels and spans are read only during
// the call, except the destination of read().
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

// The loss of a device, and the errors that no scope caught. Drivers report these from threads of
// their own, so a lock guards them (see Backend::health).
struct Health {
  static constexpr std::size_t errors_max = 64;

  std::optional<std::string> lost;
  std::vector<std::string> errors;
  std::size_t errors_dropped = 0;
  std::function<void(std::string)> on_lost;

  void add_error(std::string message);
};
using SharedHealth = std::shared_ptr<Guarded<Health>>;

// Calls on_lost if a loss was not announced yet. Runs on the device's thread, without the lock.
void announce_loss(const SharedHealth& health);

// One dispatch and the state that it sets. A handle of 0 keeps the pipeline or group that is set.
struct Dispatch {
  static constexpr std::size_t groups_max = 4;
  Handle pipeline = 0;
  std::array<Handle, groups_max> groups{};
  Workgroups workgroups;
};

// Large: it has a method for each operation that a platform must provide.
class Backend {
 public:
  struct Description {
    AdapterInfo adapter;
    Limits limits;                      // The limits of the device.
    std::vector<std::string> features;  // The enabled features.
    bool debug = false;                 // The value of DeviceOptions::debug.
    bool trusted_shaders = false;       // The value of DeviceOptions::trusted_shaders.
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

  // Methods that create and release objects.
  [[nodiscard]] virtual Handle create_buffer(const BufferOptions& options) = 0;
  [[nodiscard]] virtual Handle create_bind_group(Handle pipeline, std::uint32_t group,
                                                 std::span<const BoundBuffer> buffers) = 0;
  [[nodiscard]] virtual Handle create_timestamps(std::uint32_t count) = 0;
  virtual void create_pipeline(const PipelineOptions& options, Completion<Handle> done) = 0;
  virtual void compile_messages(const std::string& wgsl,
                                Completion<std::vector<CompileMessage>> done) = 0;
  virtual void release(Handle handle, ObjectKind kind) = 0;

  // Methods that record commands. end_pass() and submit() also release their pass or encoder.
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

  // The methods of the queue.
  virtual void write(Handle buffer, std::uint64_t offset, ByteSpan bytes) = 0;
  virtual void read(Handle buffer, std::uint64_t offset, std::span<std::uint8_t> out,
                    Completion<> done) = 0;
  virtual void idle(Completion<> done) = 0;

  // The methods for errors.
  virtual void push_error_scope(Device::ErrorFilter filter) = 0;
  virtual void pop_error_scope(Completion<> done) = 0;
  // Loses the device on request.
  virtual void destroy() = 0;

  // Counts the bytes of the buffers that exist. Object calls this function.
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
// The features to request from an adapter: those of `options.features`, or of all known features,
// that the adapter has.
[[nodiscard]] std::vector<std::string> wanted_features(const AdapterInfo& adapter,
                                                       const DeviceOptions& options);
// The index of the best adapter: discrete before integrated before unknown before cpu.
[[nodiscard]] std::optional<std::size_t> best_adapter(std::span<const AdapterInfo> adapters);
// "LINE:COLUMN: text" of the first error among a shader's messages.
[[nodiscard]] std::optional<std::string> first_error(std::span<const CompileMessage> messages);

}  // namespace weft::gpu
