// The capabilities of a device, which a worker sends in its hello.
#pragma once

#include "common/base/async.h"
#include "common/base/result.h"
#include "common/protocol/capabilities.h"
#include "engine/gpu/device.h"

namespace weft::worker {

// Returns the device's capabilities without the measured rates. `memory_bytes` is the memory that a
// task may use.
[[nodiscard]] protocol::Capabilities capabilities_of(const gpu::Device& device,
                                                     std::uint64_t memory_bytes);
// The capabilities of the built-in kernels on the processor.
[[nodiscard]] protocol::Capabilities cpu_capabilities(std::uint64_t memory_bytes);

}  // namespace weft::worker
