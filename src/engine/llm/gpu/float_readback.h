// Reads floats from the device's buffers to the CPU. The staging memory is kept for the next read,
// because making it takes 0.1 ms and freeing it may wait for the device.
//
//   FloatReadback::Copy copy = floats.record(encoder, buffer, count);
//   device.submit(std::move(encoder));
//   WEFT_CO_ASSIGN(const std::vector<float> out, co_await floats.read(std::move(copy)));
//
// Threading: the device's thread. Lifetime: the device outlives the FloatReadback, which outlives
// its reads. Errors: the device's errors. Bounds: one buffer for each copy that is under way.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "common/base/async.h"
#include "common/base/result.h"
#include "engine/gpu/device.h"

namespace weft::llm {

class FloatReadback {
  struct Staging {
    gpu::Buffer buffer;
    bool taken = false;
  };

 public:
  class Copy {
    friend class FloatReadback;
    std::shared_ptr<Staging> staging_;
    std::uint64_t count_ = 0;
  };

  explicit FloatReadback(gpu::Device& device) : device_(device) {}

  // Records a copy of `count` floats, beginning with the float of index `first`.
  [[nodiscard]] Copy record(gpu::Encoder& encoder, const gpu::Buffer& buffer, std::uint64_t count,
                            std::uint64_t first = 0);
  // Waits for the copy's floats. Called after its encoder was submitted, once for each copy.
  [[nodiscard]] Async<Result<std::vector<float>>> read(Copy copy);

 private:
  gpu::Device& device_;
  std::vector<std::shared_ptr<Staging>> stagings_;
};

}  // namespace weft::llm
