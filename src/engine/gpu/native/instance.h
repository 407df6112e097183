// The gpu layer on Dawn, with Vulkan, Direct3D 12 or Metal, depending on the machine.
#pragma once

#include <memory>

#include "engine/gpu/run.h"

namespace weft::gpu::native {

// Creates the instance of a process. A process should have only one instance: each instance loads
// the drivers, and NVIDIA's driver cannot be loaded again after about thirty times ("cannot
// allocate memory in static TLS block"). Any number of devices may be created and destroyed.
[[nodiscard]] std::unique_ptr<PumpedInstance> create_instance();

}  // namespace weft::gpu::native
