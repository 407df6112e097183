// The gpu layer on navigator.gpu, for a module in a dedicated Worker or in a page. The event loop
// resumes all waits.
#pragma once

#include <memory>

#include "engine/gpu/device.h"

namespace weft::gpu::web {

[[nodiscard]] std::unique_ptr<Instance> create_instance();

}  // namespace weft::gpu::web
