#include "engine/exec/recording.h"

#include <cstring>

#include "engine/gpu/backend.h"

namespace weft::exec {

ErrorScopes::ErrorScopes(gpu::Device& device) : device_(device) {
  device_.push_error_scope(gpu::Device::ErrorFilter::out_of_memory);
  device_.push_error_scope(gpu::Device::ErrorFilter::validation);
}

ErrorScopes::~ErrorScopes() {
  if (open_) (void)end();
}

ErrorScopes::Caught ErrorScopes::end() {
  open_ = false;
  // Device::pop_error_scope() would pop when it is awaited; here both pop now.
  gpu::Backend& backend = device_.backend();
  gpu::Wait<> validation(backend.ready());
  backend.pop_error_scope(validation.completion());
  gpu::Wait<> memory(backend.ready());
  backend.pop_error_scope(memory.completion());
  return {std::move(validation), std::move(memory)};
}

Async<Result<>> ErrorScopes::Caught::result() {
  // Exhausted memory first: an invalid buffer makes further mistakes.
  Result<> memory = co_await memory_;
  Result<> validation = co_await validation_;
  co_return memory ? validation : memory;
}

PassTimer::PassTimer(gpu::Device& device, std::uint32_t passes) : device_(device) {
  if (!device.has("timestamp-query") || passes > passes_max) return;
  using gpu::BufferUsage;
  passes_ = passes;
  const std::uint64_t bytes = std::uint64_t{16} * passes;
  queries_ = device.create_timestamps(2 * passes);
  resolved_ = device.create_buffer({.size = bytes, .usage = BufferUsage::query_resolve | BufferUsage::copy_source, .label = "timestamps"});
  readback_ = device.create_buffer({.size = bytes, .usage = BufferUsage::map_read | BufferUsage::copy_destination, .label = "timestamps read back"});
}

gpu::TimestampWrites PassTimer::of_pass(std::uint32_t pass) const {
  if (!queries_) return {};
  return {.query_set = &*queries_, .begin_index = 2 * pass, .end_index = 2 * pass + 1};
}

void PassTimer::resolve(gpu::Encoder& encoder) const {
  if (!queries_) return;
  encoder.resolve(*queries_, 0, 2 * passes_, resolved_, 0);
  encoder.copy(resolved_, 0, readback_, 0, resolved_.size());
}

Async<Result<double>> PassTimer::seconds() {
  if (!queries_) co_return 0.0;
  std::vector<std::uint64_t> stamps(std::size_t{2} * passes_);
  WEFT_CO_OK(co_await device_.read(readback_, 0, {reinterpret_cast<std::uint8_t*>(stamps.data()), stamps.size() * sizeof(std::uint64_t)}));
  std::uint64_t nanoseconds = 0;
  for (std::size_t pass = 0; pass < passes_; ++pass) {
    // A clock that runs backwards is a driver's mistake; it counts as nothing.
    if (stamps[2 * pass + 1] > stamps[2 * pass]) nanoseconds += stamps[2 * pass + 1] - stamps[2 * pass];
  }
  co_return static_cast<double>(nanoseconds) * 1e-9;
}

Readback::Readback(gpu::Device& device, std::uint64_t slot_bytes_max, std::size_t slots)
    : device_(device),
      stride_(round_up(slot_bytes_max, 4)),
      buffer_(device.create_buffer(
          {.size = stride_ * slots, .usage = gpu::BufferUsage::map_read | gpu::BufferUsage::copy_destination, .label = "output read back"})) {}

void Readback::copy(gpu::Encoder& encoder, const gpu::Buffer& source, std::uint64_t bytes) {
  encoder.copy(source, 0, buffer_, stride_ * sizes_.size(), round_up(bytes, 4));
  sizes_.push_back(bytes);
}

Async<Result<ByteVector>> Readback::join() {
  ByteVector all(buffer_.size());
  WEFT_CO_OK(co_await device_.read(buffer_, 0, all));
  // Slots move forward onto the padding of those before them.
  std::uint64_t end = 0;
  for (std::size_t slot = 0; slot < sizes_.size(); ++slot) {
    if (end != stride_ * slot) std::memmove(all.data() + end, all.data() + stride_ * slot, sizes_[slot]);
    end += sizes_[slot];
  }
  all.resize(end);
  co_return all;
}

void write_padded(gpu::Device& device, const gpu::Buffer& buffer, std::uint64_t offset, ByteSpan bytes) {
  const std::size_t whole = bytes.size() / 4 * 4;
  device.write(buffer, offset, bytes.first(whole));
  if (whole == bytes.size()) return;
  ByteVector rest(bytes.begin() + static_cast<std::ptrdiff_t>(whole), bytes.end());
  rest.resize(4);
  device.write(buffer, offset + whole, rest);
}

}  // namespace weft::exec
