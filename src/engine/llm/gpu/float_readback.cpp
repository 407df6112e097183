#include "engine/llm/gpu/float_readback.h"

#include <algorithm>
#include <bit>

namespace weft::llm {

using gpu::BufferUsage;

FloatReadback::Copy FloatReadback::record(gpu::Encoder& encoder, const gpu::Buffer& buffer,
                                          std::uint64_t count, std::uint64_t first) {
  const std::uint64_t bytes = count * 4;
  auto free = std::ranges::find_if(stagings_, [&](const auto& staging) {
    return !staging->taken && staging->buffer.size() >= bytes;
  });
  if (free == stagings_.end()) {
    // Free staging buffers that are too small are dropped, because they would be too small again.
    std::erase_if(stagings_, [](const auto& staging) { return !staging->taken; });
    stagings_.push_back(std::make_shared<Staging>(Staging{
        .buffer =
            device_.create_buffer({.size = std::bit_ceil(bytes),
                                   .usage = BufferUsage::map_read | BufferUsage::copy_destination,
                                   .label = "readback"})}));
    free = stagings_.end() - 1;
  }
  (*free)->taken = true;
  encoder.copy(buffer, first * 4, (*free)->buffer, 0, bytes);
  Copy out;
  out.staging_ = *free;
  out.count_ = count;
  return out;
}

Async<Result<std::vector<float>>> FloatReadback::read(Copy copy) {
  std::vector<float> out(copy.count_);
  const Result<> read = co_await device_.read(
      copy.staging_->buffer, 0, {reinterpret_cast<std::uint8_t*>(out.data()), out.size() * 4});
  copy.staging_->taken = false;
  if (!read) co_return std::unexpected(read.error());
  co_return out;
}

}  // namespace weft::llm
