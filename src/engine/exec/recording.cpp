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
  // Pops both scopes at once. Device::pop_error_scope() would pop a scope only when its result is
  // awaited.
  gpu::Backend& backend = device_.backend();
  gpu::Wait<> validation(backend.ready());
  backend.pop_error_scope(validation.completion());
  gpu::Wait<> memory(backend.ready());
  backend.pop_error_scope(memory.completion());
  return {std::move(validation), std::move(memory)};
}

Async<Result<>> ErrorScopes::Caught::result() {
  // An error of exhausted memory takes precedence, because an invalid buffer causes further
  // validation errors.
  Result<> memory = co_await memory_;
  Result<> validation = co_await validation_;
  co_return memory ? validation : memory;
}

TaskTimer::TaskTimer(gpu::Device& device, std::size_t passes) {
  if (passes <= passes_max)
    timer_.emplace(device,
                   gpu::PassTimer::Options{.passes_max = static_cast<std::uint32_t>(passes)});
}

gpu::TimestampWrites TaskTimer::next_pass() {
  return timer_ ? timer_->next("task") : gpu::TimestampWrites();
}

void TaskTimer::record(gpu::Encoder& encoder) {
  if (timer_) timer_->record(encoder);
}

Async<Result<double>> TaskTimer::seconds() {
  if (!timer_) co_return 0.0;
  WEFT_CO_ASSIGN(const std::vector<gpu::PassTime> times, co_await timer_->times());
  double seconds = 0;
  for (const gpu::PassTime& time : times) seconds += time.seconds();
  co_return seconds;
}

Readback::Readback(gpu::Device& device, std::uint64_t slot_bytes_max, std::size_t slots)
    : device_(device),
      stride_(round_up(slot_bytes_max, 4)),
      buffer_(device.create_buffer(
          {.size = stride_ * slots,
           .usage = gpu::BufferUsage::map_read | gpu::BufferUsage::copy_destination,
           .label = "output read back"})) {}

void Readback::copy(gpu::Encoder& encoder, const gpu::Buffer& source, std::uint64_t bytes) {
  encoder.copy(source, 0, buffer_, stride_ * sizes_.size(), round_up(bytes, 4));
  sizes_.push_back(bytes);
}

Async<Result<ByteVector>> Readback::join() {
  ByteVector all(buffer_.size());
  WEFT_CO_OK(co_await device_.read(buffer_, 0, all));
  // Removes the padding between the slots: each slot moves forward to the end of the one before it.
  std::uint64_t end = 0;
  for (std::size_t slot = 0; slot < sizes_.size(); ++slot) {
    if (end != stride_ * slot)
      std::memmove(all.data() + end, all.data() + stride_ * slot, sizes_[slot]);
    end += sizes_[slot];
  }
  all.resize(end);
  co_return all;
}

void write_padded(gpu::Device& device, const gpu::Buffer& buffer, std::uint64_t offset,
                  ByteSpan bytes) {
  const std::size_t whole = bytes.size() / 4 * 4;
  device.write(buffer, offset, bytes.first(whole));
  if (whole == bytes.size()) return;
  ByteVector rest(bytes.begin() + static_cast<std::ptrdiff_t>(whole), bytes.end());
  rest.resize(4);
  device.write(buffer, offset + whole, rest);
}

}  // namespace weft::exec
