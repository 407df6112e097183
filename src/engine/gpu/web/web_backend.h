// One device of the browser as a Backend. Handles are indices into the table of web.js.
#pragma once

#include <memory>

#include "engine/gpu/backend.h"

namespace weft::gpu::web {

class WebBackend final : public Backend {
 public:
  WebBackend(Description description, std::shared_ptr<ReadyQueue> ready, SharedHealth health,
             std::uint32_t device);
  ~WebBackend() override;

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
  const std::uint32_t device_;
};

}  // namespace weft::gpu::web
