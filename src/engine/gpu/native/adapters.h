// Dawn's adapters in our words, and the toggles that we set on them.
#pragma once

#include <string_view>
#include <vector>

#include <dawn/native/DawnNative.h>
#include <dawn/webgpu_cpp.h>

#include "engine/gpu/device.h"

namespace weft::gpu::native {

// The toggles for a device, chained to adapter options and device descriptors alike.
// Static storage behind it.
[[nodiscard]] wgpu::DawnTogglesDescriptor toggles(bool trusted_shaders);

struct FoundAdapter {
  wgpu::Adapter adapter;
  AdapterInfo info;
};
// Adapters with everything that compute needs (no OpenGL, no null device), as they are with these
// toggles.
[[nodiscard]] std::vector<FoundAdapter> find_adapters(dawn::native::Instance& dawn,
                                                      bool trusted_shaders);

[[nodiscard]] Limits to_limits(const wgpu::Limits& limits);
// Dawn's feature for WebGPU's name; CoreFeaturesAndLimits for one that known_features() does not
// list.
[[nodiscard]] wgpu::FeatureName to_feature(std::string_view name);

}  // namespace weft::gpu::native
