#include <algorithm>
#include <utility>

#include "common/base/format.h"
#include "engine/gpu/null/state.h"

namespace weft::gpu::null {

void State::record(Command command) {
  check(commands.size() < commands_max,
        "a null instance records a million commands; forget_commands() makes room");
  commands.push_back(std::move(command));
}

void State::write(Handle buffer, std::uint64_t offset, ByteSpan bytes) {
  const auto found = buffers.find(buffer);
  if (found == buffers.end() || bytes.empty()) return;
  NullBuffer& target = found->second;
  if (target.bytes.size() < offset + bytes.size()) target.bytes.resize(offset + bytes.size());
  std::ranges::copy(bytes, target.bytes.begin() + static_cast<std::ptrdiff_t>(offset));
}

ByteVector State::read(Handle buffer, std::uint64_t offset, std::uint64_t size) const {
  ByteVector out(size);
  const auto found = buffers.find(buffer);
  if (found == buffers.end()) return out;
  const ByteVector& bytes = found->second.bytes;
  for (std::uint64_t i = 0; i < size && offset + i < bytes.size(); ++i) out[i] = bytes[offset + i];
  return out;
}

NullBackend::NullBackend(Description description, std::shared_ptr<State> state)
    : Backend(std::move(description), state->ready), state_(std::move(state)) {}

NullBackend::~NullBackend() { destroy(); }

bool NullBackend::is_lost() const {
  return health()->with([](const Health& state) { return state.lost.has_value(); });
}

template <class T>
void NullBackend::later(Completion<T> done, std::function<Result<T>()> result) {
  state_->under_way.push_back(
      [done = std::move(done), result = std::move(result), health = health()] {
        const auto lost = health->with([](const Health& state) { return state.lost; });
        if (lost) return done(fail(ErrorCode::device_lost, "The GPU device is lost: {}", *lost));
        done(result());
      });
}

void NullBackend::raise(Device::ErrorFilter kind, std::string message) {
  const auto scope = std::find_if(scopes_.rbegin(), scopes_.rend(),
                                  [&](const Scope& open) { return open.filter == kind; });
  if (scope == scopes_.rend())
    return health()->with([&](Health& state) { state.add_error(std::move(message)); });
  auto code = ErrorCode::internal;
  if (kind == Device::ErrorFilter::validation) code = ErrorCode::invalid_argument;
  if (kind == Device::ErrorFilter::out_of_memory) code = ErrorCode::out_of_memory;
  if (!scope->error) scope->error = Error{code, std::move(message)};
}

Handle NullBackend::create_buffer(const BufferOptions& options) {
  const Handle handle = next();
  state_->record({.kind = Command::Kind::create_buffer,
                  .object = handle,
                  .size = options.size,
                  .label = std::string(options.label)});
  if (options.size > description().limits.buffer_bytes_max) {
    raise(Device::ErrorFilter::validation,
          weft::format("Buffer size ({}) exceeds the max buffer size limit ({}).", options.size,
                       description().limits.buffer_bytes_max));
  } else if (buffer_bytes() + options.size > state_->failures.buffer_bytes_max) {
    raise(Device::ErrorFilter::out_of_memory,
          weft::format("There is no memory for a buffer of {} bytes.", options.size));
  } else {
    state_->buffers[handle] = {options.size, options.usage, {}};
  }
  return handle;
}

Handle NullBackend::create_bind_group(Handle, std::uint32_t, std::span<const BoundBuffer> buffers) {
  const Handle handle = next();
  state_->record({.kind = Command::Kind::create_bind_group, .object = handle});
  std::vector<BoundRange>& ranges = state_->bind_groups[handle];
  for (const BoundBuffer& bound : buffers) {
    const std::uint64_t size = bound.size == 0 ? bound.buffer.size() - bound.offset : bound.size;
    ranges.push_back({bound.binding, bound.buffer.handle(), bound.offset, size});
    if (bound.offset + size > bound.buffer.size())
      raise(Device::ErrorFilter::validation,
            weft::format("Binding {} reaches past the end of its buffer.", bound.binding));
    if (bound.offset % description().limits.storage_offset_alignment != 0)
      raise(Device::ErrorFilter::validation,
            weft::format("Binding {} has an offset ({}) that is not aligned.", bound.binding,
                         bound.offset));
  }
  return handle;
}

Handle NullBackend::create_timestamps(std::uint32_t count) {
  const Handle handle = next();
  state_->record({.kind = Command::Kind::create_timestamps, .object = handle, .size = count});
  return handle;
}

void NullBackend::create_pipeline(const PipelineOptions& options, Completion<Handle> done) {
  const Handle handle = next();
  state_->record(
      {.kind = Command::Kind::create_pipeline, .object = handle, .label = options.label});
  later<Handle>(std::move(done), [handle, state = state_]() -> Result<Handle> {
    const auto& message = state->failures.compile;
    if (!message || message->kind != CompileMessage::Kind::error) return handle;
    return std::unexpected(Error{ErrorCode::invalid_argument, *first_error({&*message, 1})});
  });
}

void NullBackend::compile_messages(const std::string&,
                                   Completion<std::vector<CompileMessage>> done) {
  later<std::vector<CompileMessage>>(std::move(done),
                                     [state = state_]() -> Result<std::vector<CompileMessage>> {
                                       if (!state->failures.compile)
                                         return std::vector<CompileMessage>{};
                                       return std::vector{*state->failures.compile};
                                     });
}

void NullBackend::release(Handle handle, ObjectKind kind) {
  state_->record({.kind = Command::Kind::release, .object = handle});
  if (kind == ObjectKind::buffer) state_->buffers.erase(handle);
  if (kind == ObjectKind::bind_group) state_->bind_groups.erase(handle);
  if (kind == ObjectKind::encoder) recordings_.erase(handle);
}

Handle NullBackend::create_encoder(std::string_view) {
  const Handle handle = next();
  recordings_[handle] = {};
  return handle;
}

Handle NullBackend::begin_pass(Handle encoder, std::string_view label,
                               const TimestampWrites& timestamps) {
  const Handle handle = next();
  passes_[handle] = {encoder, {}};
  state_->record({.kind = Command::Kind::begin_pass,
                  .object = handle,
                  .other = timestamps.query_set == nullptr ? 0 : timestamps.query_set->handle(),
                  .label = std::string(label)});
  return handle;
}

void NullBackend::dispatch(Handle pass, const Dispatch& dispatch) {
  OpenPass& open = passes_.at(pass);
  if (dispatch.pipeline != 0) open.set.pipeline = dispatch.pipeline;
  for (std::size_t i = 0; i < Dispatch::groups_max; ++i) {
    if (dispatch.groups[i] != 0) open.set.groups[i] = dispatch.groups[i];
  }
  const Command command{.kind = Command::Kind::dispatch,
                        .object = pass,
                        .other = open.set.pipeline,
                        .groups = open.set.groups,
                        .workgroups = dispatch.workgroups};
  state_->record(command);
  recordings_.at(open.encoder).steps.emplace_back([state = state_.get(), command] {
    if (state->kernel) state->kernel(command);
  });
}

void NullBackend::set_immediates(Handle pass, ByteSpan bytes) {
  state_->record({.kind = Command::Kind::set_immediates, .object = pass, .size = bytes.size()});
}

void NullBackend::end_pass(Handle pass) {
  passes_.erase(pass);
  state_->record({.kind = Command::Kind::end_pass, .object = pass});
}

void NullBackend::copy(Handle encoder, Handle source, std::uint64_t source_offset,
                       Handle destination, std::uint64_t destination_offset, std::uint64_t size) {
  state_->record({.kind = Command::Kind::copy,
                  .object = source,
                  .other = destination,
                  .offset = source_offset,
                  .size = size});
  recordings_.at(encoder).steps.emplace_back([=, state = state_.get()] {
    state->write(destination, destination_offset, state->read(source, source_offset, size));
  });
}

void NullBackend::clear(Handle encoder, Handle buffer, std::uint64_t offset, std::uint64_t size) {
  state_->record({.kind = Command::Kind::clear, .object = buffer, .offset = offset, .size = size});
  recordings_.at(encoder).steps.emplace_back(
      [=, state = state_.get()] { state->write(buffer, offset, ByteVector(size)); });
}

// The null device's time goes in steps of a microsecond: query i reads (i + 1) * 1000 ns.
void NullBackend::resolve(Handle encoder, Handle query_set, std::uint32_t first,
                          std::uint32_t count, Handle destination, std::uint64_t offset) {
  state_->record({.kind = Command::Kind::resolve,
                  .object = query_set,
                  .other = destination,
                  .offset = offset,
                  .size = count});
  recordings_.at(encoder).steps.emplace_back([=, state = state_.get()] {
    ByteVector times;
    for (std::uint32_t i = 0; i < count; ++i)
      append_le(times, std::uint64_t{1000} * (first + i + 1));
    state->write(destination, offset, times);
  });
}

void NullBackend::submit(Handle encoder) {
  state_->record({.kind = Command::Kind::submit, .object = encoder});
  const auto recording = recordings_.extract(encoder);
  if (auto error = std::exchange(state_->failures.submit_error, {}))
    return raise(Device::ErrorFilter::validation, std::move(*error));
  if (is_lost()) return;
  for (const auto& step : recording.mapped().steps) step();
}

void NullBackend::write(Handle buffer, std::uint64_t offset, ByteSpan bytes) {
  state_->record(
      {.kind = Command::Kind::write, .object = buffer, .offset = offset, .size = bytes.size()});
  const auto found = state_->buffers.find(buffer);
  if (found == state_->buffers.end()) return;
  if (offset + bytes.size() > found->second.size)
    return raise(Device::ErrorFilter::validation, "A write reaches past the end of its buffer.");
  if (!is_lost()) state_->write(buffer, offset, bytes);
}

void NullBackend::read(Handle buffer, std::uint64_t offset, std::span<std::uint8_t> out,
                       Completion<> done) {
  state_->record(
      {.kind = Command::Kind::read, .object = buffer, .offset = offset, .size = out.size()});
  const bool exists = state_->buffers.contains(buffer);
  later<void>(done, [=, state = state_]() -> Result<> {
    if (!exists)
      return fail(ErrorCode::invalid_argument, "A buffer cannot be read: it was never made.");
    if (done.wanted()) std::ranges::copy(state->read(buffer, offset, out.size()), out.begin());
    return {};
  });
}

void NullBackend::idle(Completion<> done) {
  state_->record({.kind = Command::Kind::idle});
  later<void>(std::move(done), [] { return Result<>{}; });
}

void NullBackend::push_error_scope(Device::ErrorFilter filter) { scopes_.push_back({filter, {}}); }

void NullBackend::pop_error_scope(Completion<> done) {
  check(!scopes_.empty(), "a scope is popped as often as pushed");
  Scope scope = std::move(scopes_.back());
  scopes_.pop_back();
  later<void>(std::move(done), [error = std::move(scope.error)]() -> Result<> {
    if (error) return std::unexpected(*error);
    return {};
  });
}

void NullBackend::destroy() {
  health()->with([](Health& state) {
    if (!state.lost) state.lost = "The device was destroyed.";
  });
}

}  // namespace weft::gpu::null
