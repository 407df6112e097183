#include "engine/gpu/readback.h"

#include <algorithm>
#include <utility>

#include "common/base/check.h"

namespace weft::gpu {

ReadbackRing::ReadbackRing(Device& device, Options options)
    : device_(device), options_(options), slots_(options.slots) {
  for (Slot& slot : slots_) {
    slot.buffer =
        device_.create_buffer({.size = options_.slot_bytes,
                               .usage = BufferUsage::map_read | BufferUsage::copy_destination,
                               .label = "readback"});
    slot.bytes.resize(slot.buffer.size());
  }
}

ReadbackRing::~ReadbackRing() {
  check(std::ranges::none_of(slots_, &Slot::taken), "a readback ring outlives its reads");
}

std::size_t ReadbackRing::free_slots() const {
  return static_cast<std::size_t>(std::ranges::count_if(slots_, &Slot::free));
}

Result<Readback> ReadbackRing::record(Encoder& encoder, const Buffer& source, std::uint64_t offset,
                                      std::uint64_t size) {
  return record_parts(encoder, source, std::span(&offset, 1), size);
}

Result<Readback> ReadbackRing::record_parts(Encoder& encoder, const Buffer& source,
                                            std::span<const std::uint64_t> offsets,
                                            std::uint64_t part) {
  const std::uint64_t size = offsets.size() * part;
  if (size > options_.slot_bytes)
    return fail(ErrorCode::resource_exhausted,
                "A read of {} bytes is larger than a slot of the readback ring, {} bytes "
                "(slot_bytes raises the size).",
                size, options_.slot_bytes);
  for (const std::uint64_t offset : offsets) {
    if (offset % 4 != 0 || part % 4 != 0)
      return fail(ErrorCode::invalid_argument,
                  "A read of {} bytes at {} is not possible: both must be multiples of 4.", part,
                  offset);
  }
  const auto slot = std::ranges::find_if(slots_, &Slot::free);
  if (slot == slots_.end())
    return fail(ErrorCode::resource_exhausted,
                "All {} slots of the readback ring are in use (slots raises their number).",
                slots_.size());
  slot->taken = true;
  slot->wait.reset();
  for (std::size_t i = 0; i < offsets.size(); ++i)
    encoder.copy(source, offsets[i], slot->buffer, i * part, part);
  return Readback(*this, static_cast<std::size_t>(slot - slots_.begin()), size);
}

Readback::Readback(Readback&& other) noexcept
    : ring_(std::exchange(other.ring_, nullptr)), slot_(other.slot_), size_(other.size_) {}

Readback::~Readback() {
  if (ring_ != nullptr) ring_->slots_[slot_].taken = false;
}

void Readback::begin() {
  ReadbackRing::Slot& slot = ring_->slots_[slot_];
  check(!slot.wait.has_value(), "a read begins once");
  Backend& backend = ring_->device_.backend();
  slot.wait.emplace(backend.ready());
  backend.read(slot.buffer.handle(), 0, std::span(slot.bytes).first(size_),
               slot.wait->completion());
}

Async<Result<ByteSpan>> Readback::bytes() {
  ReadbackRing::Slot& slot = ring_->slots_[slot_];
  check(slot.wait.has_value(), "a read is awaited after begin()");
  const Result<> result = co_await *slot.wait;
  if (auto lost = ring_->device_.lost())
    co_return fail(ErrorCode::device_lost, "The GPU device is lost: {}", *lost);
  if (!result) co_return std::unexpected(result.error());
  co_return ByteSpan(slot.bytes).first(size_);
}

}  // namespace weft::gpu
