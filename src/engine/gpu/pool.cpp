#include "engine/gpu/pool.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "common/base/check.h"

namespace weft::gpu {
namespace {

constexpr std::uint64_t smallest_bytes = 256;
constexpr std::uint64_t powers_of_two_until = 1 << 20;

std::uint64_t rounded(std::uint64_t size) {
  if (size <= powers_of_two_until) return std::bit_ceil(std::max(size, smallest_bytes));
  const std::uint64_t step = std::bit_floor(size) / 8;  // Wastes an eighth at most, where a power of two would waste half.
  return (size + step - 1) / step * step;
}

}  // namespace

BufferPool::Lease::Lease(Lease&& other) noexcept
    : pool_(std::exchange(other.pool_, nullptr)), buffer_(std::move(other.buffer_)), usage_(other.usage_) {}

BufferPool::Lease::~Lease() {
  if (pool_ != nullptr) pool_->give_back(std::move(buffer_), usage_);
}

BufferPool::~BufferPool() { check(leased_ == 0, "a buffer pool outlives its leases"); }

Result<BufferPool::Lease> BufferPool::acquire(std::uint64_t size, BufferUsage usage) {
  const std::uint64_t device_max = device_.limits().buffer_bytes_max;
  if (size > device_max) return fail(ErrorCode::resource_exhausted, "A buffer of {} bytes is over this GPU's limit ({}).", size, device_max);
  const std::uint64_t bytes = std::min(rounded(size), std::max(device_max, size));
  for (std::size_t i = idle_.size(); i-- > 0;) {
    if (idle_[i].usage != usage || idle_[i].buffer.size() != bytes) continue;
    Buffer found = std::move(idle_[i].buffer);
    idle_.erase(idle_.begin() + static_cast<std::ptrdiff_t>(i));
    leased_ += bytes;
    return Lease(*this, std::move(found), usage);
  }
  if (bytes > options_.resident_bytes_max || leased_ + bytes > options_.resident_bytes_max) {
    return fail(ErrorCode::out_of_memory, "A buffer of {} bytes does not fit: {} of {} bytes are lent (resident_bytes_max raises it).", bytes,
                leased_, options_.resident_bytes_max);
  }
  trim(options_.resident_bytes_max - bytes);
  Buffer made = device_.create_buffer({.size = bytes, .usage = usage, .label = "pool"});
  resident_ += made.size();
  leased_ += made.size();
  return Lease(*this, std::move(made), usage);
}

void BufferPool::trim(std::uint64_t target) {
  std::size_t dropped = 0;
  while (resident_ > target && dropped < idle_.size()) resident_ -= idle_[dropped++].buffer.size();
  idle_.erase(idle_.begin(), idle_.begin() + static_cast<std::ptrdiff_t>(dropped));
}

void BufferPool::give_back(Buffer buffer, BufferUsage usage) {
  leased_ -= buffer.size();
  idle_.push_back({std::move(buffer), usage});
}

}  // namespace weft::gpu
