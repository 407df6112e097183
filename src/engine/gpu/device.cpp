#include "engine/gpu/device.h"

#include <algorithm>
#include <utility>

#include "common/base/check.h"
#include "common/base/format.h"
#include "common/base/log.h"
#include "engine/gpu/backend.h"

namespace weft::gpu {
namespace {

std::unexpected<Error> lost_error(const std::string& reason) {
  return fail(ErrorCode::device_lost, "The GPU device is lost: {}", reason);
}

// The result of a wait, unless the device was lost meanwhile: drivers report success for work that
// a lost device never did.
template <class T>
Result<T> unless_lost(const Backend& backend, Result<T> result) {
  auto lost = backend.health()->with([](const Health& health) { return health.lost; });
  if (lost) return lost_error(*lost);
  return result;
}

// Reports the errors of a submit for DeviceOptions::debug. It refers to no part of the device
// except the shared health.
Async<> report_submit(Wait<> scope, SharedHealth health, std::string label) {
  Result<> result = co_await scope;
  if (result || health->with([](const Health& state) { return state.lost.has_value(); })) co_return;
  log_error("gpu: submit \"{}\": {}", label, result.error().message);
  health->with([&](Health& state) {
    state.add_error(weft::format("submit \"{}\": {}", label, result.error().message));
  });
}

}  // namespace

Object::Object(Backend& backend, Handle handle, ObjectKind kind, std::uint64_t buffer_bytes)
    : backend_(&backend), buffer_bytes_(buffer_bytes), handle_(handle), kind_(kind) {
  if (buffer_bytes_ > 0) backend_->count_buffer_bytes(static_cast<std::int64_t>(buffer_bytes_));
}

Object::Object(Object&& other) noexcept
    : backend_(other.backend_),
      buffer_bytes_(std::exchange(other.buffer_bytes_, 0)),
      handle_(std::exchange(other.handle_, 0)),
      kind_(other.kind_) {}

Object& Object::operator=(Object&& other) noexcept {
  std::swap(backend_, other.backend_);
  std::swap(buffer_bytes_, other.buffer_bytes_);
  std::swap(handle_, other.handle_);
  std::swap(kind_, other.kind_);
  return *this;
}

Object::~Object() {
  if (buffer_bytes_ > 0) backend_->count_buffer_bytes(-static_cast<std::int64_t>(buffer_bytes_));
  if (handle_ != 0) backend_->release(handle_, kind_);
}

Handle Object::take() { return std::exchange(handle_, 0); }

Pass::Pass(Pass&& other) noexcept
    : backend_(other.backend_),
      handle_(std::exchange(other.handle_, 0)),
      pipeline_(other.pipeline_),
      groups_(other.groups_) {}

void Pass::run(const Pipeline& pipeline, std::span<const BindGroup* const> groups,
               Workgroups workgroups) {
  check(handle_ != 0, "a pass that has ended takes no more dispatches");
  check(groups.size() <= groups_max, "WebGPU has four bind groups");
  Dispatch dispatch;
  if (pipeline.handle() != pipeline_) dispatch.pipeline = pipeline_ = pipeline.handle();
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (groups[i] != nullptr && groups[i]->handle() != groups_[i])
      dispatch.groups[i] = groups_[i] = groups[i]->handle();
  }
  dispatch.workgroups = workgroups;
  backend_->dispatch(handle_, dispatch);
}

void Pass::set_immediates(ByteSpan bytes) {
  check(handle_ != 0, "a pass that has ended takes no more immediates");
  backend_->set_immediates(handle_, bytes);
}

void Pass::end() {
  if (handle_ != 0) backend_->end_pass(std::exchange(handle_, 0));
}

Pass Encoder::begin_pass(std::string_view label, TimestampWrites timestamps) {
  return Pass(*backend_, backend_->begin_pass(handle(), label, timestamps));
}

void Encoder::copy(const Buffer& source, std::uint64_t source_offset, const Buffer& destination,
                   std::uint64_t destination_offset, std::uint64_t size) {
  backend_->copy(handle(), source.handle(), source_offset, destination.handle(), destination_offset,
                 size);
}

void Encoder::clear(const Buffer& buffer, std::uint64_t offset, std::uint64_t size) {
  backend_->clear(handle(), buffer.handle(), offset, size);
}

void Encoder::resolve(const QuerySet& query_set, std::uint32_t first, std::uint32_t count,
                      const Buffer& destination, std::uint64_t offset) {
  backend_->resolve(handle(), query_set.handle(), first, count, destination.handle(), offset);
}

Device::Device(std::unique_ptr<Backend> backend) : backend_(std::move(backend)) {}
Device::~Device() = default;

const AdapterInfo& Device::adapter() const { return backend_->description().adapter; }
const Limits& Device::limits() const { return backend_->description().limits; }
bool Device::has(std::string_view feature) const {
  const auto& enabled = backend_->description().features;
  const auto& language = adapter().wgsl_features;
  return std::ranges::find(enabled, feature) != enabled.end() ||
         std::ranges::find(language, feature) != language.end();
}

Buffer Device::create_buffer(const BufferOptions& options) {
  BufferOptions rounded = options;
  rounded.size = std::max<std::uint64_t>(4, (options.size + 3) / 4 * 4);
  return Buffer(*backend_, backend_->create_buffer(rounded), rounded.size);
}

BindGroup Device::create_bind_group(const Pipeline& pipeline, std::uint32_t group,
                                    std::span<const BoundBuffer> buffers) {
  return BindGroup(*backend_, backend_->create_bind_group(pipeline.handle(), group, buffers),
                   ObjectKind::bind_group);
}

QuerySet Device::create_timestamps(std::uint32_t count) {
  return QuerySet(*backend_, backend_->create_timestamps(count), ObjectKind::query_set);
}

Async<Result<Pipeline>> Device::create_pipeline(PipelineOptions options) {
  Wait<Handle> wait(backend_->ready());
  backend_->create_pipeline(options, wait.completion());
  Result<Handle> handle = co_await wait;
  Result<Pipeline> pipeline = std::move(handle).transform(
      [this](Handle made) { return Pipeline(*backend_, made, ObjectKind::pipeline); });
  co_return unless_lost(*backend_, std::move(pipeline));
}

Async<Result<std::vector<CompileMessage>>> Device::compile_messages(std::string wgsl) {
  Wait<std::vector<CompileMessage>> wait(backend_->ready());
  backend_->compile_messages(wgsl, wait.completion());
  co_return unless_lost(*backend_, co_await wait);
}

Encoder Device::create_encoder(std::string_view label) {
  return Encoder(*backend_, backend_->create_encoder(label), label);
}

void Device::submit(Encoder encoder) {
  check(encoder.handle() != 0, "an encoder is submitted once");
  if (!backend_->description().debug) return backend_->submit(encoder.take());
  Wait<> scope(backend_->ready());
  backend_->push_error_scope(ErrorFilter::validation);
  backend_->submit(encoder.take());
  backend_->pop_error_scope(scope.completion());
  start(report_submit(std::move(scope), backend_->health(), encoder.label_));
}

void Device::write(const Buffer& buffer, std::uint64_t offset, ByteSpan bytes) {
  if (!bytes.empty()) backend_->write(buffer.handle(), offset, bytes);
}

Async<Result<>> Device::read(const Buffer& buffer, std::uint64_t offset,
                             std::span<std::uint8_t> out) {
  Wait<> wait(backend_->ready());
  backend_->read(buffer.handle(), offset, out, wait.completion());
  co_return unless_lost(*backend_, co_await wait);
}

Async<Result<>> Device::idle() {
  Wait<> wait(backend_->ready());
  backend_->idle(wait.completion());
  co_return unless_lost(*backend_, co_await wait);
}

void Device::push_error_scope(ErrorFilter filter) { backend_->push_error_scope(filter); }

Async<Result<>> Device::pop_error_scope() {
  Wait<> wait(backend_->ready());
  backend_->pop_error_scope(wait.completion());
  co_return unless_lost(*backend_, co_await wait);
}

std::vector<std::string> Device::uncaptured_errors() {
  return backend_->health()->with([](Health& health) {
    auto errors = std::exchange(health.errors, {});
    if (health.errors_dropped > 0)
      errors.push_back(
          weft::format("{} more errors were dropped.", std::exchange(health.errors_dropped, 0)));
    return errors;
  });
}

std::optional<std::string> Device::lost() const {
  return backend_->health()->with([](const Health& health) { return health.lost; });
}

void Device::on_lost(std::function<void(std::string reason)> callback) {
  backend_->health()->with([&](Health& health) { health.on_lost = std::move(callback); });
  announce_loss(backend_->health());
}

void Device::destroy() { backend_->destroy(); }

std::uint64_t Device::buffer_bytes() const { return backend_->buffer_bytes(); }
std::uint64_t Device::buffer_bytes_peak() const { return backend_->buffer_bytes_peak(); }

}  // namespace weft::gpu
