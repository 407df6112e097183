// The state that a null instance and its devices share.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "engine/gpu/null/instance.h"

namespace weft::gpu::null {

struct NullBuffer {
  std::uint64_t size = 0;
  BufferUsage usage = BufferUsage::storage;
  ByteVector bytes;  // Ends at the last written byte; all bytes after that count as zeros.
};

struct State {
  static constexpr std::size_t commands_max = 1'000'000;

  std::vector<AdapterInfo> adapters;
  Failures failures;
  std::shared_ptr<ReadyQueue> ready = std::make_shared<ReadyQueue>();
  // The calls that complete operations, the oldest first.
  std::vector<std::function<void()>> under_way;
  bool held = false;
  std::vector<std::weak_ptr<Guarded<Health>>> devices;
  std::vector<Command> commands;
  std::map<Handle, NullBuffer> buffers;
  std::map<Handle, std::vector<BoundRange>> bind_groups;
  std::function<void(const Command&)> kernel;
  Handle last_handle = 0;

  void record(Command command);
  void write(Handle buffer, std::uint64_t offset, ByteSpan bytes);
  [[nodiscard]] ByteVector read(Handle buffer, std::uint64_t offset, std::uint64_t size) const;
};

// Large: it has the methods of Backend.
class NullBackend final : public Backend {
 public:
  NullBackend(Description description, std::shared_ptr<State> state);
  ~NullBackend() override;

  Handle create_buffer(const BufferOptions& options) override;
  Handle create_bind_group(Handle pipeline, std::uint32_t group,
                           std::span<const BoundBuffer> buffers) override;
  Handle create_timestamps(std::uint32_t count) override;
  void create_pipeline(const PipelineOptions& options, Completion<Handle> done) override;
  void compile_messages(const std::string& wgsl,
                        Completion<std::vector<CompileMessage>> done) override;
  void release(Handle handle, ObjectKind kind) override;
  Handle create_encoder(std::string_view label) override;
  Handle begin_pass(Handle encoder, std::string_view label,
                    const TimestampWrites& timestamps) override;
  void dispatch(Handle pass, const Dispatch& dispatch) override;
  void set_immediates(Handle pass, ByteSpan bytes) override;
  void end_pass(Handle pass) override;
  void copy(Handle encoder, Handle source, std::uint64_t source_offset, Handle destination,
            std::uint64_t destination_offset, std::uint64_t size) override;
  void clear(Handle encoder, Handle buffer, std::uint64_t offset, std::uint64_t size) override;
  void resolve(Handle encoder, Handle query_set, std::uint32_t first, std::uint32_t count,
               Handle destination, std::uint64_t offset) override;
  void submit(Handle encoder) override;
  void write(Handle buffer, std::uint64_t offset, ByteSpan bytes) override;
  void read(Handle buffer, std::uint64_t offset, std::span<std::uint8_t> out,
            Completion<> done) override;
  void idle(Completion<> done) override;
  void push_error_scope(Device::ErrorFilter filter) override;
  void pop_error_scope(Completion<> done) override;
  void destroy() override;

 private:
  struct Scope {
    Device::ErrorFilter filter;
    std::optional<Error> error;
  };
  // The actions of a submit, in order.
  struct Recording {
    std::vector<std::function<void()>> steps;
  };
  struct OpenPass {
    Handle encoder = 0;
    Dispatch set;  // The state after all dispatches so far.
  };

  Handle next() { return ++state_->last_handle; }
  // Calls `done` at a later poll, with device_lost if the device is lost by then.
  template <class T>
  void later(Completion<T> done, std::function<Result<T>()> result);
  void raise(Device::ErrorFilter kind, std::string message);
  [[nodiscard]] bool is_lost() const;

  const std::shared_ptr<State> state_;
  std::vector<Scope> scopes_;
  std::map<Handle, Recording> recordings_;
  std::map<Handle, OpenPass> passes_;
};

}  // namespace weft::gpu::null
