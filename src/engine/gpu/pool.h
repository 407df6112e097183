// Lends GPU buffers and takes them back, so that steady work never has to create one. Sizes round up (to powers of two, from
// 1 MiB on to eighths of one); a returned buffer stays resident until it is lent again or trimmed. Contents are not
// cleared: a kernel writes what it later reads.
//
// Threading: belongs to the device's thread; nothing here locks.
// Lifetime:  the device outlives the pool, the pool its leases; destroying it with one outstanding traps.
// Invariant: leased_bytes() <= resident_bytes() <= Options::resident_bytes_max.
#pragma once

#include <cstdint>
#include <vector>

#include "common/base/result.h"
#include "engine/gpu/device.h"

namespace weft::gpu {

class BufferPool {
 public:
  struct Options {
    std::uint64_t resident_bytes_max = std::uint64_t{1} << 30;
  };

  // One borrowed buffer. Returns itself when destroyed; work that uses it is submitted before.
  class Lease {
   public:
    Lease(Lease&& other) noexcept;
    Lease& operator=(Lease&&) = delete;
    ~Lease();
    [[nodiscard]] const Buffer& buffer() const { return buffer_; }

   private:
    friend class BufferPool;
    Lease(BufferPool& pool, Buffer buffer, BufferUsage usage) : pool_(&pool), buffer_(std::move(buffer)), usage_(usage) {}
    BufferPool* pool_;
    Buffer buffer_;
    BufferUsage usage_;
  };

  BufferPool(Device& device, Options options) : device_(device), options_(options) {}
  BufferPool(const BufferPool&) = delete;
  ~BufferPool();

  // Lends a buffer of at least `size` bytes with exactly this usage. When the bound would be crossed, idle buffers are
  // destroyed first; if that is not enough, fails with out_of_memory. Fails with resource_exhausted for a buffer that
  // the device can never make.
  [[nodiscard]] Result<Lease> acquire(std::uint64_t size, BufferUsage usage);

  // Destroys idle buffers, those longest idle first, until at most `target` bytes stay resident or none is idle.
  void trim(std::uint64_t target);

  [[nodiscard]] std::uint64_t resident_bytes() const { return resident_; }
  [[nodiscard]] std::uint64_t leased_bytes() const { return leased_; }

 private:
  struct Idle {
    Buffer buffer;
    BufferUsage usage;
  };
  void give_back(Buffer buffer, BufferUsage usage);

  Device& device_;
  const Options options_;
  std::vector<Idle> idle_;  // Newest last, so that trim() drops the coldest.
  std::uint64_t resident_ = 0;
  std::uint64_t leased_ = 0;
};

}  // namespace weft::gpu
