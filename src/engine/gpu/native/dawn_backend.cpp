#include "engine/gpu/native/dawn_backend.h"

#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

#include "common/base/format.h"

namespace weft::gpu::native {
namespace {

constexpr auto callback_mode = wgpu::CallbackMode::WaitAnyOnly;

// The longest busy wait for one operation of a graphics card. It covers a frame of a small
// detector; longer work does not gain from it.
constexpr std::chrono::milliseconds busy_wait(1);
// A machine with fewer processors than this has none to spare for a busy wait.
constexpr unsigned busy_processors_min = 4;

struct DawnPipeline {
  wgpu::ComputePipeline pipeline;
  std::vector<wgpu::BindGroupLayout> groups;
};

template <class T>
T as(Handle handle) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the number is a pointer of Dawn, made by give().
  return reinterpret_cast<T>(handle);
}
template <class Object>
Handle give(Object object) {
  return reinterpret_cast<Handle>(object.MoveToCHandle());
}
WGPUStringView view(std::string_view text) { return {text.data(), text.size()}; }
// Copies a message without its last line ends, because some messages of Dawn end with empty lines.
std::string text(wgpu::StringView view) {
  std::string copy{std::string_view(view)};
  copy.erase(copy.find_last_not_of('\n') + 1);
  return copy;
}

std::vector<CompileMessage> to_messages(const wgpu::CompilationInfo* info) {
  std::vector<CompileMessage> messages;
  if (info == nullptr) return messages;
  for (std::size_t i = 0; i < info->messageCount; ++i) {
    const wgpu::CompilationMessage& message = info->messages[i];
    auto kind = CompileMessage::Kind::info;
    if (message.type == wgpu::CompilationMessageType::Error) kind = CompileMessage::Kind::error;
    if (message.type == wgpu::CompilationMessageType::Warning) kind = CompileMessage::Kind::warning;
    messages.push_back({kind, message.lineNum, message.linePos, text(message.message)});
  }
  return messages;
}

ErrorCode to_code(wgpu::ErrorType type) {
  switch (type) {
    case wgpu::ErrorType::Validation:
      return ErrorCode::invalid_argument;
    case wgpu::ErrorType::OutOfMemory:
      return ErrorCode::out_of_memory;
    default:
      return ErrorCode::internal;
  }
}

wgpu::BufferBindingType to_binding_type(BindingKind kind) {
  switch (kind) {
    case BindingKind::uniform:
      return wgpu::BufferBindingType::Uniform;
    case BindingKind::storage_read:
      return wgpu::BufferBindingType::ReadOnlyStorage;
    case BindingKind::storage:
      break;
  }
  return wgpu::BufferBindingType::Storage;
}

std::vector<wgpu::BindGroupLayout> create_layouts(const wgpu::Device& device,
                                                  const PipelineOptions& options) {
  std::vector<wgpu::BindGroupLayout> layouts;
  for (const GroupLayout& group : options.groups) {
    std::vector<wgpu::BindGroupLayoutEntry> entries(group.size());
    for (std::size_t i = 0; i < group.size(); ++i) {
      entries[i].binding = group[i].binding;
      entries[i].visibility = wgpu::ShaderStage::Compute;
      entries[i].buffer.type = to_binding_type(group[i].kind);
    }
    wgpu::BindGroupLayoutDescriptor descriptor;
    descriptor.label = wgpu::StringView(options.label);
    descriptor.entryCount = entries.size();
    descriptor.entries = entries.data();
    layouts.push_back(device.CreateBindGroupLayout(&descriptor));
  }
  return layouts;
}

// A pipeline that is being made. Three results arrive in any order (the error scope around shader
// and layouts, the compiler's messages, the pipeline), and the last of them completes it.
struct PipelineBuild {
  Completion<Handle> done;
  std::unique_ptr<DawnPipeline> made = std::make_unique<DawnPipeline>();
  std::vector<CompileMessage> messages;
  std::optional<Error> scope_error;
  std::optional<Error> pipeline_error;
  int missing = 3;

  void arrived() {
    if (--missing > 0) return;
    // The compiler's message is preferred, because it has line and column.
    if (auto error = first_error(messages))
      return done(std::unexpected(Error{ErrorCode::invalid_argument, std::move(*error)}));
    if (scope_error) return done(std::unexpected(std::move(*scope_error)));
    if (pipeline_error) return done(std::unexpected(std::move(*pipeline_error)));
    if (done.wanted()) return done(reinterpret_cast<Handle>(made.release()));
    done(fail(ErrorCode::cancelled, "The request for this pipeline was abandoned."));
  }
};

wgpu::ShaderModule create_shader(const wgpu::Device& device, const std::string& wgsl,
                                 const std::string& label) {
  wgpu::ShaderSourceWGSL source;
  source.code = wgpu::StringView(wgsl);
  wgpu::ShaderModuleDescriptor descriptor;
  descriptor.nextInChain = &source;
  descriptor.label = wgpu::StringView(label);
  return device.CreateShaderModule(&descriptor);
}

// Creates the layouts and the pipeline in the error scope that the caller has pushed, and pops the
// scope.
void start_pipeline(const wgpu::Device& device, Loop& loop,
                    const std::shared_ptr<PipelineBuild>& build, const PipelineOptions& options,
                    const wgpu::ShaderModule& shader) {
  build->made->groups = create_layouts(device, options);
  wgpu::PipelineLayoutDescriptor layout;
  layout.label = wgpu::StringView(options.label);
  layout.bindGroupLayoutCount = build->made->groups.size();
  layout.bindGroupLayouts = build->made->groups.data();
  layout.immediateSize = options.immediate_bytes;

  std::vector<wgpu::ConstantEntry> constants;
  for (const auto& [name, value] : options.constants) {
    wgpu::ConstantEntry entry;
    entry.key = wgpu::StringView(name);
    entry.value = value;
    constants.push_back(entry);
  }
  wgpu::ComputePipelineDescriptor descriptor;
  descriptor.label = wgpu::StringView(options.label);
  descriptor.layout = device.CreatePipelineLayout(&layout);
  descriptor.compute.module = shader;
  descriptor.compute.entryPoint = wgpu::StringView(options.entry);
  descriptor.compute.constantCount = constants.size();
  descriptor.compute.constants = constants.data();
  loop.add(device.CreateComputePipelineAsync(
               &descriptor, callback_mode,
               [build](wgpu::CreatePipelineAsyncStatus status, wgpu::ComputePipeline pipeline,
                       wgpu::StringView message) {
                 if (status == wgpu::CreatePipelineAsyncStatus::Success) {
                   build->made->pipeline = std::move(pipeline);
                 } else {
                   const bool invalid = status == wgpu::CreatePipelineAsyncStatus::ValidationError;
                   build->pipeline_error = Error{
                       invalid ? ErrorCode::invalid_argument : ErrorCode::internal, text(message)};
                 }
                 build->arrived();
               }),
           device.Get());
  loop.add(device.PopErrorScope(callback_mode,
                                [build](wgpu::PopErrorScopeStatus status, wgpu::ErrorType type,
                                        wgpu::StringView message) {
                                  if (status == wgpu::PopErrorScopeStatus::Success &&
                                      type != wgpu::ErrorType::NoError)
                                    build->scope_error = Error{to_code(type), text(message)};
                                  build->arrived();
                                }),
           device.Get());
}

}  // namespace

DawnBackend::DawnBackend(Description description, std::shared_ptr<Loop> loop, wgpu::Device device,
                         SharedHealth health)
    : Backend(std::move(description), loop->ready(), std::move(health)),
      loop_(std::move(loop)),
      device_(std::move(device)),
      queue_(device_.GetQueue()) {
  loop_->watch(this->health());
  if (this->description().adapter.kind == AdapterKind::discrete &&
      std::thread::hardware_concurrency() >= busy_processors_min)
    loop_->set_busy_wait(busy_wait);
}

DawnBackend::~DawnBackend() { device_.Destroy(); }

Handle DawnBackend::create_buffer(const BufferOptions& options) {
  wgpu::BufferDescriptor descriptor;
  descriptor.label = wgpu::StringView(options.label);
  descriptor.usage = static_cast<wgpu::BufferUsage>(options.usage);
  descriptor.size = options.size;
  return give(device_.CreateBuffer(&descriptor));
}

Handle DawnBackend::create_bind_group(Handle pipeline, std::uint32_t group,
                                      std::span<const BoundBuffer> buffers) {
  const auto& layouts = as<DawnPipeline*>(pipeline)->groups;
  check(group < layouts.size(), "the pipeline has a layout for this bind group");
  std::vector<wgpu::BindGroupEntry> entries(buffers.size());
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    entries[i].binding = buffers[i].binding;
    entries[i].buffer = wgpu::Buffer(as<WGPUBuffer>(buffers[i].buffer.handle()));
    entries[i].offset = buffers[i].offset;
    entries[i].size = buffers[i].size == 0 ? wgpu::kWholeSize : buffers[i].size;
  }
  wgpu::BindGroupDescriptor descriptor;
  descriptor.layout = layouts[group];
  descriptor.entryCount = entries.size();
  descriptor.entries = entries.data();
  return give(device_.CreateBindGroup(&descriptor));
}

Handle DawnBackend::create_timestamps(std::uint32_t count) {
  wgpu::QuerySetDescriptor descriptor;
  descriptor.type = wgpu::QueryType::Timestamp;
  descriptor.count = count;
  return give(device_.CreateQuerySet(&descriptor));
}

void DawnBackend::create_pipeline(const PipelineOptions& options, Completion<Handle> done) {
  const auto build = std::make_shared<PipelineBuild>(std::move(done));
  device_.PushErrorScope(wgpu::ErrorFilter::Validation);
  const wgpu::ShaderModule shader = create_shader(device_, options.wgsl, options.label);
  if (!description().trusted_shaders) {
    start_pipeline(device_, *loop_, build, options, shader);
    loop_->add(shader.GetCompilationInfo(
                   callback_mode,
                   [build](wgpu::CompilationInfoRequestStatus, const wgpu::CompilationInfo* info) {
                     build->messages = to_messages(info);
                     build->arrived();
                   }),
               device_.Get());
    return;
  }
  // The compiler's messages are read first, because without validation Dawn crashes if a pipeline
  // is made of a shader that did not compile.
  loop_->add(device_.PopErrorScope(callback_mode, [](wgpu::PopErrorScopeStatus, wgpu::ErrorType,
                                                     wgpu::StringView) {}),
             device_.Get());
  loop_->add(
      shader.GetCompilationInfo(
          callback_mode,
          [build, options, shader, device = device_, loop = loop_](
              wgpu::CompilationInfoRequestStatus, const wgpu::CompilationInfo* info) {
            build->messages = to_messages(info);
            if (!first_error(build->messages) && !options.wgsl.contains("fn " + options.entry)) {
              build->scope_error =
                  Error{ErrorCode::invalid_argument,
                        weft::format("The shader has no entry point \"{}\".", options.entry)};
            }
            if (first_error(build->messages) || build->scope_error) {
              build->missing = 1;
            } else {
              device.PushErrorScope(wgpu::ErrorFilter::Validation);
              start_pipeline(device, *loop, build, options, shader);
            }
            build->arrived();
          }),
      device_.Get());
}

void DawnBackend::compile_messages(const std::string& wgsl,
                                   Completion<std::vector<CompileMessage>> done) {
  device_.PushErrorScope(wgpu::ErrorFilter::Validation);
  const wgpu::ShaderModule shader = create_shader(device_, wgsl, "");
  loop_->add(device_.PopErrorScope(callback_mode, [](wgpu::PopErrorScopeStatus, wgpu::ErrorType,
                                                     wgpu::StringView) {}),
             device_.Get());
  loop_->add(
      shader.GetCompilationInfo(
          callback_mode, [done](wgpu::CompilationInfoRequestStatus,
                                const wgpu::CompilationInfo* info) { done(to_messages(info)); }),
      device_.Get());
}

void DawnBackend::release(Handle handle, ObjectKind kind) {
  switch (kind) {
    case ObjectKind::buffer:
      wgpuBufferDestroy(as<WGPUBuffer>(handle));
      wgpuBufferRelease(as<WGPUBuffer>(handle));
      break;
    case ObjectKind::pipeline:
      delete as<DawnPipeline*>(handle);
      break;
    case ObjectKind::bind_group:
      wgpuBindGroupRelease(as<WGPUBindGroup>(handle));
      break;
    case ObjectKind::query_set:
      wgpuQuerySetRelease(as<WGPUQuerySet>(handle));
      break;
    case ObjectKind::encoder:
      wgpuCommandEncoderRelease(as<WGPUCommandEncoder>(handle));
      break;
  }
}

Handle DawnBackend::create_encoder(std::string_view label) {
  wgpu::CommandEncoderDescriptor descriptor;
  descriptor.label = wgpu::StringView(label);
  return give(device_.CreateCommandEncoder(&descriptor));
}

Handle DawnBackend::begin_pass(Handle encoder, std::string_view label,
                               const TimestampWrites& timestamps) {
  WGPUPassTimestampWrites writes = WGPU_PASS_TIMESTAMP_WRITES_INIT;
  WGPUComputePassDescriptor descriptor = WGPU_COMPUTE_PASS_DESCRIPTOR_INIT;
  descriptor.label = view(label);
  if (timestamps.query_set != nullptr) {
    writes.querySet = as<WGPUQuerySet>(timestamps.query_set->handle());
    writes.beginningOfPassWriteIndex = timestamps.begin_index;
    writes.endOfPassWriteIndex = timestamps.end_index;
    descriptor.timestampWrites = &writes;
  }
  return reinterpret_cast<Handle>(
      wgpuCommandEncoderBeginComputePass(as<WGPUCommandEncoder>(encoder), &descriptor));
}

// This function uses Dawn's C entry points, which count no references, because it is called most
// often.
void DawnBackend::dispatch(Handle pass, const Dispatch& dispatch) {
  const auto encoder = as<WGPUComputePassEncoder>(pass);
  if (dispatch.pipeline != 0)
    wgpuComputePassEncoderSetPipeline(encoder,
                                      as<DawnPipeline*>(dispatch.pipeline)->pipeline.Get());
  for (std::uint32_t i = 0; i < Dispatch::groups_max; ++i) {
    if (dispatch.groups[i] != 0)
      wgpuComputePassEncoderSetBindGroup(encoder, i, as<WGPUBindGroup>(dispatch.groups[i]), 0,
                                         nullptr);
  }
  wgpuComputePassEncoderDispatchWorkgroups(encoder, dispatch.workgroups.x, dispatch.workgroups.y,
                                           dispatch.workgroups.z);
}

void DawnBackend::set_immediates(Handle pass, ByteSpan bytes) {
  wgpuComputePassEncoderSetImmediates(as<WGPUComputePassEncoder>(pass), 0, bytes.data(),
                                      bytes.size());
}

void DawnBackend::end_pass(Handle pass) {
  wgpuComputePassEncoderEnd(as<WGPUComputePassEncoder>(pass));
  wgpuComputePassEncoderRelease(as<WGPUComputePassEncoder>(pass));
}

void DawnBackend::copy(Handle encoder, Handle source, std::uint64_t source_offset,
                       Handle destination, std::uint64_t destination_offset, std::uint64_t size) {
  wgpuCommandEncoderCopyBufferToBuffer(as<WGPUCommandEncoder>(encoder), as<WGPUBuffer>(source),
                                       source_offset, as<WGPUBuffer>(destination),
                                       destination_offset, size);
}

void DawnBackend::clear(Handle encoder, Handle buffer, std::uint64_t offset, std::uint64_t size) {
  wgpuCommandEncoderClearBuffer(as<WGPUCommandEncoder>(encoder), as<WGPUBuffer>(buffer), offset,
                                size);
}

void DawnBackend::resolve(Handle encoder, Handle query_set, std::uint32_t first,
                          std::uint32_t count, Handle destination, std::uint64_t offset) {
  wgpuCommandEncoderResolveQuerySet(as<WGPUCommandEncoder>(encoder), as<WGPUQuerySet>(query_set),
                                    first, count, as<WGPUBuffer>(destination), offset);
}

void DawnBackend::submit(Handle encoder) {
  const WGPUCommandBuffer commands =
      wgpuCommandEncoderFinish(as<WGPUCommandEncoder>(encoder), nullptr);
  wgpuQueueSubmit(queue_.Get(), 1, &commands);
  wgpuCommandBufferRelease(commands);
  wgpuCommandEncoderRelease(as<WGPUCommandEncoder>(encoder));
}

void DawnBackend::write(Handle buffer, std::uint64_t offset, ByteSpan bytes) {
  wgpuQueueWriteBuffer(queue_.Get(), as<WGPUBuffer>(buffer), offset, bytes.data(), bytes.size());
}

void DawnBackend::read(Handle handle, std::uint64_t offset, std::span<std::uint8_t> out,
                       Completion<> done) {
  const wgpu::Buffer buffer(as<WGPUBuffer>(handle));
  loop_->add(buffer.MapAsync(wgpu::MapMode::Read, offset, out.size(), callback_mode,
                             [=](wgpu::MapAsyncStatus status, wgpu::StringView message) {
                               if (status != wgpu::MapAsyncStatus::Success)
                                 return done(fail(ErrorCode::invalid_argument,
                                                  "A buffer cannot be read: {}", text(message)));
                               if (done.wanted() && !out.empty())
                                 std::memcpy(out.data(),
                                             buffer.GetConstMappedRange(offset, out.size()),
                                             out.size());
                               buffer.Unmap();
                               done({});
                             }),
             queue_.Get());
}

Handle DawnBackend::create_staging(std::uint64_t size) {
  wgpu::BufferDescriptor descriptor;
  descriptor.label = "staging";
  descriptor.usage = wgpu::BufferUsage::MapWrite | wgpu::BufferUsage::CopySrc;
  descriptor.size = size;
  descriptor.mappedAtCreation = true;
  return give(device_.CreateBuffer(&descriptor));
}

std::span<std::uint8_t> DawnBackend::mapped_bytes(Handle staging, std::uint64_t size) {
  void* const bytes = wgpuBufferGetMappedRange(as<WGPUBuffer>(staging), 0, size);
  if (bytes == nullptr) return {};
  return {static_cast<std::uint8_t*>(bytes), size};
}

void DawnBackend::unmap(Handle staging) { wgpuBufferUnmap(as<WGPUBuffer>(staging)); }

void DawnBackend::map(Handle staging, std::uint64_t size, Completion<> done) {
  const wgpu::Buffer buffer(as<WGPUBuffer>(staging));
  loop_->add(buffer.MapAsync(wgpu::MapMode::Write, 0, size, callback_mode,
                             [=](wgpu::MapAsyncStatus status, wgpu::StringView message) {
                               if (status != wgpu::MapAsyncStatus::Success)
                                 return done(fail(ErrorCode::internal,
                                                  "A buffer cannot be mapped: {}", text(message)));
                               done({});
                             }),
             queue_.Get());
}

void DawnBackend::idle(Completion<> done) {
  loop_->add(
      queue_.OnSubmittedWorkDone(
          callback_mode,
          [done](wgpu::QueueWorkDoneStatus status, wgpu::StringView message) {
            if (status != wgpu::QueueWorkDoneStatus::Success)
              return done(fail(ErrorCode::internal, "The GPU queue fails: {}", text(message)));
            done({});
          }),
      queue_.Get());
}

void DawnBackend::push_error_scope(Device::ErrorFilter filter) {
  switch (filter) {
    case Device::ErrorFilter::validation:
      return device_.PushErrorScope(wgpu::ErrorFilter::Validation);
    case Device::ErrorFilter::out_of_memory:
      return device_.PushErrorScope(wgpu::ErrorFilter::OutOfMemory);
    case Device::ErrorFilter::internal:
      return device_.PushErrorScope(wgpu::ErrorFilter::Internal);
  }
}

void DawnBackend::pop_error_scope(Completion<> done) {
  loop_->add(
      device_.PopErrorScope(
          callback_mode,
          [done](wgpu::PopErrorScopeStatus status, wgpu::ErrorType type, wgpu::StringView message) {
            if (status != wgpu::PopErrorScopeStatus::Success)
              return done(
                  fail(ErrorCode::internal, "An error scope cannot be popped: {}", text(message)));
            if (type != wgpu::ErrorType::NoError)
              return done(std::unexpected(Error{to_code(type), text(message)}));
            done({});
          }),
      device_.Get());
}

void DawnBackend::destroy() { device_.Destroy(); }

}  // namespace weft::gpu::native
