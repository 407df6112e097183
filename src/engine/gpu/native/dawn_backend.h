// One Dawn device as a Backend. Handles are WGPU pointers; a pipeline's handle is a pointer to
// DawnPipeline.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <dawn/webgpu_cpp.h>

#include "engine/gpu/backend.h"
#include "engine/gpu/native/loop.h"
#include "engine/gpu/staging.h"

namespace weft::gpu::native {

// Large: it has the methods of Backend.
class DawnBackend final : public Backend, public MappedStaging {
 public:
  // `health` is the object that the device's callbacks report to.
  DawnBackend(Description description, std::shared_ptr<Loop> loop, wgpu::Device device,
              SharedHealth health);
  ~DawnBackend() override;

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

  Handle create_staging(std::uint64_t size) override;
  std::span<std::uint8_t> mapped_bytes(Handle staging, std::uint64_t size) override;
  void unmap(Handle staging) override;
  void map(Handle staging, std::uint64_t size, Completion<> done) override;

  void push_error_scope(Device::ErrorFilter filter) override;
  void pop_error_scope(Completion<> done) override;
  void destroy() override;

  [[nodiscard]] const wgpu::Device& device() const { return device_; }
  // The loop that all devices of the instance share.
  [[nodiscard]] Loop& loop() const { return *loop_; }

 private:
  const std::shared_ptr<Loop> loop_;
  const wgpu::Device device_;
  const wgpu::Queue queue_;
};

}  // namespace weft::gpu::native
