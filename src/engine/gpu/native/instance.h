// The gpu layer on Dawn: Vulkan, Direct3D 12 or Metal, whatever the machine has.
#pragma once

#include <memory>

#include "engine/gpu/run.h"

namespace weft::gpu::native {

// One for a process: each loads the drivers, and NVIDIA's cannot be loaded again after some thirty
// times ("cannot allocate memory in static TLS block"). Devices may come and go as often as they
// like.
[[nodiscard]] std::unique_ptr<PumpedInstance> create_instance();

}  // namespace weft::gpu::native
