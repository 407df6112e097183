// Dawn's adapters in the types of this layer, and the toggles that are set on them.
#pragma once

#include <string_view>
#include <vector>

#include <dawn/native/DawnNative.h>
#include <dawn/webgpu_cpp.h>

#include "engine/gpu/device.h"

namespace weft::gpu::native {

// The toggles for a device, chained to adapter options and to device descriptors. The result refers
// to static storage.
[[nodiscard]] wgpu::DawnTogglesDescriptor toggles(bool trusted_shaders);

struct FoundAdapter {
  wgpu::Adapter adapter;
  AdapterInfo info;
};
// Returns the adapters that can compute (no OpenGL, no null device). Their features are those that
// they have with the toggles for `trusted_shaders`.
[[nodiscard]] std::vector<FoundAdapter> find_adapters(dawn::native::Instance& dawn,
                                                      bool trusted_shaders);

[[nodiscard]] Limits to_limits(const wgpu::Limits& limits);
// Dawn's feature for a WebGPU name; CoreFeaturesAndLimits for a name that is not in
// known_features().
[[nodiscard]] wgpu::FeatureName to_feature(std::string_view name);

}  // namespace weft::gpu::native
