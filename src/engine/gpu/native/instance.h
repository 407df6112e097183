// The gpu layer on Dawn: Vulkan, Direct3D 12 or Metal, whatever the machine has.
#pragma once

#include <memory>

#include "engine/gpu/run.h"

namespace weft::gpu::native {

[[nodiscard]] std::unique_ptr<PumpedInstance> create_instance();

}  // namespace weft::gpu::native
