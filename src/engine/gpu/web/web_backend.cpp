#include "engine/gpu/web/web_backend.h"

#include <charconv>
#include <utility>

#include "engine/gpu/web/imports.h"
#include "engine/gpu/web/operation.h"

namespace weft::gpu::web {
namespace {

std::uint32_t id(Handle handle) { return static_cast<std::uint32_t>(handle); }
std::uint32_t length(std::string_view text) { return static_cast<std::uint32_t>(text.size()); }
Result<> nothing(double, std::string_view) { return {}; }

std::uint64_t to_number(std::string_view text) {
  std::uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// Removes the part of `text` before `separator`, and the separator, and returns that part.
std::string_view take(std::string_view& text, char separator) {
  const std::size_t end = std::min(text.find(separator), text.size());
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return part;
}

std::vector<CompileMessage> parse_messages(std::string_view text) {
  std::vector<CompileMessage> messages;
  while (!text.empty()) {
    std::string_view record = take(text, '\x1e');
    const std::string_view kind = take(record, '\x1f');
    CompileMessage& message = messages.emplace_back();
    message.kind = CompileMessage::Kind::info;
    if (kind == "error") message.kind = CompileMessage::Kind::error;
    if (kind == "warning") message.kind = CompileMessage::Kind::warning;
    message.line = to_number(take(record, '\x1f'));
    message.column = to_number(take(record, '\x1f'));
    message.text = std::string(record);
  }
  return messages;
}

}  // namespace

WebBackend::WebBackend(Description description, std::shared_ptr<ReadyQueue> ready,
                       SharedHealth health, std::uint32_t device)
    : Backend(std::move(description), std::move(ready), std::move(health)), device_(device) {}

WebBackend::~WebBackend() { weft_gpu_release(device_, 1); }

Handle WebBackend::create_buffer(const BufferOptions& options) {
  return weft_gpu_buffer(device_, static_cast<double>(options.size),
                         static_cast<std::uint32_t>(options.usage), options.label.data(),
                         length(options.label));
}

Handle WebBackend::create_bind_group(Handle pipeline, std::uint32_t group,
                                     std::span<const BoundBuffer> buffers) {
  std::vector<std::uint32_t> bindings;
  std::vector<std::uint32_t> handles;
  std::vector<double> ranges;
  for (const BoundBuffer& bound : buffers) {
    bindings.push_back(bound.binding);
    handles.push_back(id(bound.buffer.handle()));
    ranges.push_back(static_cast<double>(bound.offset));
    ranges.push_back(bound.size == 0 ? -1.0 : static_cast<double>(bound.size));
  }
  return weft_gpu_bind_group(device_, id(pipeline), group,
                             static_cast<std::uint32_t>(buffers.size()), bindings.data(),
                             handles.data(), ranges.data());
}

Handle WebBackend::create_timestamps(std::uint32_t count) {
  return weft_gpu_timestamps(device_, count);
}

void WebBackend::create_pipeline(const PipelineOptions& options, Completion<Handle> done) {
  std::vector<std::uint32_t> layout;
  for (const GroupLayout& group : options.groups) {
    layout.push_back(static_cast<std::uint32_t>(group.size()));
    for (const BindingLayout& binding : group) {
      layout.push_back(binding.binding);
      layout.push_back(static_cast<std::uint32_t>(binding.kind));
    }
  }
  std::string names;
  std::vector<double> values;
  for (const auto& [name, value] : options.constants) {
    if (!names.empty()) names += '\n';
    names += name;
    values.push_back(value);
  }
  const auto convert = [done](double handle, std::string_view) -> Result<Handle> {
    if (done.wanted()) return static_cast<Handle>(handle);
    weft_gpu_release(static_cast<std::uint32_t>(handle), 0);
    return fail(ErrorCode::cancelled, "The request for this pipeline was abandoned.");
  };
  weft_gpu_pipeline(operation<Handle>(ready(), done, convert), device_, options.wgsl.data(),
                    length(options.wgsl), options.entry.data(), length(options.entry),
                    options.label.data(), length(options.label), layout.data(),
                    static_cast<std::uint32_t>(layout.size()), names.data(), length(names),
                    values.data(), options.immediate_bytes);
}

void WebBackend::compile_messages(const std::string& wgsl,
                                  Completion<std::vector<CompileMessage>> done) {
  const auto convert = [](double, std::string_view text) -> Result<std::vector<CompileMessage>> {
    return parse_messages(text);
  };
  weft_gpu_messages(operation<std::vector<CompileMessage>>(ready(), std::move(done), convert),
                    device_, wgsl.data(), length(wgsl));
}

void WebBackend::release(Handle handle, ObjectKind kind) {
  const bool destroy = kind == ObjectKind::buffer || kind == ObjectKind::query_set;
  weft_gpu_release(id(handle), destroy ? 1 : 0);
}

Handle WebBackend::create_encoder(std::string_view label) {
  return weft_gpu_encoder(device_, label.data(), length(label));
}

Handle WebBackend::begin_pass(Handle encoder, std::string_view label,
                              const TimestampWrites& timestamps) {
  const std::uint32_t query_set =
      timestamps.query_set == nullptr ? 0 : id(timestamps.query_set->handle());
  return weft_gpu_begin_pass(id(encoder), label.data(), length(label), query_set,
                             timestamps.begin_index, timestamps.end_index);
}

void WebBackend::dispatch(Handle pass, const Dispatch& dispatch) {
  const auto& groups = dispatch.groups;
  weft_gpu_dispatch(id(pass), id(dispatch.pipeline), id(groups[0]), id(groups[1]), id(groups[2]),
                    id(groups[3]), dispatch.workgroups.x, dispatch.workgroups.y,
                    dispatch.workgroups.z);
}

void WebBackend::set_immediates(Handle pass, ByteSpan bytes) {
  weft_gpu_immediates(id(pass), bytes.data(), static_cast<std::uint32_t>(bytes.size()));
}
void WebBackend::end_pass(Handle pass) { weft_gpu_end_pass(id(pass)); }

void WebBackend::copy(Handle encoder, Handle source, std::uint64_t source_offset,
                      Handle destination, std::uint64_t destination_offset, std::uint64_t size) {
  weft_gpu_copy(id(encoder), id(source), static_cast<double>(source_offset), id(destination),
                static_cast<double>(destination_offset), static_cast<double>(size));
}

void WebBackend::clear(Handle encoder, Handle buffer, std::uint64_t offset, std::uint64_t size) {
  weft_gpu_clear(id(encoder), id(buffer), static_cast<double>(offset), static_cast<double>(size));
}

void WebBackend::resolve(Handle encoder, Handle query_set, std::uint32_t first, std::uint32_t count,
                         Handle destination, std::uint64_t offset) {
  weft_gpu_resolve(id(encoder), id(query_set), first, count, id(destination),
                   static_cast<double>(offset));
}

void WebBackend::submit(Handle encoder) { weft_gpu_submit(device_, id(encoder)); }

void WebBackend::write(Handle buffer, std::uint64_t offset, ByteSpan bytes) {
  weft_gpu_write(device_, id(buffer), static_cast<double>(offset), bytes.data(),
                 static_cast<double>(bytes.size()));
}

void WebBackend::read(Handle buffer, std::uint64_t offset, std::span<std::uint8_t> out,
                      Completion<> done) {
  weft_gpu_read(operation<void>(ready(), std::move(done), nothing), id(buffer),
                static_cast<double>(offset), static_cast<double>(out.size()), out.data());
}

void WebBackend::idle(Completion<> done) {
  weft_gpu_idle(operation<void>(ready(), std::move(done), nothing), device_);
}

void WebBackend::push_error_scope(Device::ErrorFilter filter) {
  weft_gpu_push_scope(device_, static_cast<int>(filter));
}
void WebBackend::pop_error_scope(Completion<> done) {
  weft_gpu_pop_scope(operation<void>(ready(), std::move(done), nothing), device_);
}

void WebBackend::destroy() { weft_gpu_destroy(device_); }

}  // namespace weft::gpu::web
