// What a device is, as a worker says it in its hello.
#pragma once

#include "common/base/async.h"
#include "common/base/result.h"
#include "common/protocol/capabilities.h"
#include "engine/gpu/device.h"

namespace weft::worker {

// Without rates; memory_bytes is what a task may use.
[[nodiscard]] protocol::Capabilities capabilities_of(const gpu::Device& device,
                                                     std::uint64_t memory_bytes);
// The capabilities of the built-in kernels on the processor.
[[nodiscard]] protocol::Capabilities cpu_capabilities(std::uint64_t memory_bytes);

}  // namespace weft::worker
