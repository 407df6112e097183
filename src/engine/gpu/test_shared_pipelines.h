// A device that compiles no pipeline twice, for the tests of one program: a second engine of a
// model takes the pipelines of the first engine. On software devices compilation is a large part of
// the time of such tests. Compiled pipelines are kept until the device is destroyed.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "engine/gpu/backend.h"
#include "engine/gpu/pipeline_cache.h"

namespace weft::gpu::test {

class SharedPipelines final : public Backend {
 public:
  static std::unique_ptr<Device> over(std::unique_ptr<Device> device) {
    return std::make_unique<Device>(std::make_unique<SharedPipelines>(std::move(device)));
  }

  explicit SharedPipelines(std::unique_ptr<Device> device)
      : Backend(device->backend().description(), device->backend().ready(),
                device->backend().health()),
        device_(std::move(device)),
        pipelines_(*device_, {.pipelines_max = std::size_t{1} << 20}) {}

  Handle create_buffer(const BufferOptions& options) override {
    return below().create_buffer(options);
  }
  Handle create_bind_group(Handle pipeline, std::uint32_t group,
                           std::span<const BoundBuffer> buffers) override {
    return below().create_bind_group(pipeline, group, buffers);
  }
  Handle create_timestamps(std::uint32_t count) override {
    return below().create_timestamps(count);
  }
  void create_pipeline(const PipelineOptions& options, Completion<Handle> done) override {
    using Shared = std::shared_ptr<const Pipeline>;
    start<Result<Shared>>(pipelines_.get(options), [done](Result<Shared> made) {
      done(std::move(made).transform([](const Shared& pipeline) { return pipeline->handle(); }));
    });
  }
  void compile_messages(const std::string& wgsl,
                        Completion<std::vector<CompileMessage>> done) override {
    below().compile_messages(wgsl, std::move(done));
  }
  void release(Handle handle, ObjectKind kind) override {
    if (kind != ObjectKind::pipeline) below().release(handle, kind);
  }

  Handle create_encoder(std::string_view label) override { return below().create_encoder(label); }
  Handle begin_pass(Handle encoder, std::string_view label,
                    const TimestampWrites& timestamps) override {
    return below().begin_pass(encoder, label, timestamps);
  }
  void dispatch(Handle pass, const Dispatch& dispatch) override {
    below().dispatch(pass, dispatch);
  }
  void set_immediates(Handle pass, ByteSpan bytes) override { below().set_immediates(pass, bytes); }
  void end_pass(Handle pass) override { below().end_pass(pass); }
  void copy(Handle encoder, Handle source, std::uint64_t source_offset, Handle destination,
            std::uint64_t destination_offset, std::uint64_t size) override {
    below().copy(encoder, source, source_offset, destination, destination_offset, size);
  }
  void clear(Handle encoder, Handle buffer, std::uint64_t offset, std::uint64_t size) override {
    below().clear(encoder, buffer, offset, size);
  }
  void resolve(Handle encoder, Handle query_set, std::uint32_t first, std::uint32_t count,
               Handle destination, std::uint64_t offset) override {
    below().resolve(encoder, query_set, first, count, destination, offset);
  }
  void submit(Handle encoder) override { below().submit(encoder); }

  void write(Handle buffer, std::uint64_t offset, ByteSpan bytes) override {
    below().write(buffer, offset, bytes);
  }
  void read(Handle buffer, std::uint64_t offset, std::span<std::uint8_t> out,
            Completion<> done) override {
    below().read(buffer, offset, out, std::move(done));
  }
  void idle(Completion<> done) override { below().idle(std::move(done)); }

  void push_error_scope(Device::ErrorFilter filter) override { below().push_error_scope(filter); }
  void pop_error_scope(Completion<> done) override { below().pop_error_scope(std::move(done)); }
  void destroy() override { below().destroy(); }

 private:
  [[nodiscard]] Backend& below() const { return device_->backend(); }

  std::unique_ptr<Device> device_;
  PipelineCache pipelines_;
};

}  // namespace weft::gpu::test
