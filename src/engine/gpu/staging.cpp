#include "engine/gpu/staging.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace weft::gpu {
namespace {

// The size of a piece: Dawn keeps a ring of memory for small writes, and takes new memory for each
// larger write.
constexpr std::size_t piece_bytes = 512 << 10;

std::uint64_t in_words(std::uint64_t bytes) { return (bytes + 3) / 4 * 4; }

}  // namespace

UploadRing::UploadRing(Device& device, Options options)
    : device_(device),
      staging_(dynamic_cast<MappedStaging*>(&device.backend())),
      options_(options) {
  if (staging_ == nullptr || options_.slot_bytes == 0) return;
  const std::uint64_t size = in_words(options_.slot_bytes);
  for (std::size_t i = 0; i < options_.slots; ++i)
    slots_.emplace_back().buffer = Buffer(device.backend(), staging_->create_staging(size), size);
}

UploadRing::~UploadRing() = default;

UploadRing::Slot* UploadRing::free_slot() {
  for (Slot& slot : slots_) {
    if (slot.used || (!slot.mapped && !(slot.wait && slot.wait->done()))) continue;
    slot.mapped = true;
    slot.wait.reset();
    // The span is empty if the device is lost or could not map the buffer.
    if (!staging_->mapped_bytes(slot.buffer.handle(), slot.buffer.size()).empty()) return &slot;
  }
  return nullptr;
}

void UploadRing::write(Encoder& encoder, const Buffer& buffer, ByteSpan bytes) {
  if (bytes.empty()) return;
  const std::size_t whole = bytes.size() / 4 * 4;
  Slot* const slot = bytes.size() <= options_.slot_bytes ? free_slot() : nullptr;
  if (slot != nullptr) {
    const auto mapped = staging_->mapped_bytes(slot->buffer.handle(), slot->buffer.size());
    std::memcpy(mapped.data(), bytes.data(), bytes.size());
    std::fill_n(mapped.begin() + static_cast<std::ptrdiff_t>(bytes.size()),
                in_words(bytes.size()) - bytes.size(), std::uint8_t{0});
    staging_->unmap(slot->buffer.handle());
    slot->mapped = false;
    slot->used = true;
    encoder.copy(slot->buffer, 0, buffer, 0, in_words(bytes.size()));
    return;
  }
  for (std::size_t at = 0; at < whole; at += piece_bytes)
    device_.write(buffer, at, bytes.subspan(at, std::min(piece_bytes, whole - at)));
  if (whole == bytes.size()) return;
  std::array<std::uint8_t, 4> last{};
  std::ranges::copy(bytes.subspan(whole), last.begin());
  device_.write(buffer, whole, last);
}

void UploadRing::submitted() {
  for (Slot& slot : slots_) {
    if (!slot.used) continue;
    slot.used = false;
    slot.wait.emplace(device_.backend().ready());
    staging_->map(slot.buffer.handle(), slot.buffer.size(), slot.wait->completion());
  }
}

std::size_t UploadRing::free_slots() const {
  return static_cast<std::size_t>(std::ranges::count_if(slots_, [](const Slot& slot) {
    return !slot.used && (slot.mapped || (slot.wait && slot.wait->done()));
  }));
}

}  // namespace weft::gpu
