#include "engine/gpu/native/adapters.h"

#include <algorithm>
#include <array>

#include "common/base/format.h"

namespace weft::gpu::native {
namespace {

struct FeatureRow {
  std::string_view name;
  wgpu::FeatureName feature;
};
constexpr std::array feature_rows = {
    FeatureRow{"chromium-experimental-subgroup-matrix",
               wgpu::FeatureName::ChromiumExperimentalSubgroupMatrix},
    FeatureRow{"core-features-and-limits", wgpu::FeatureName::CoreFeaturesAndLimits},
    FeatureRow{"shader-f16", wgpu::FeatureName::ShaderF16},
    FeatureRow{"subgroup-size-control", wgpu::FeatureName::SubgroupSizeControl},
    FeatureRow{"subgroups", wgpu::FeatureName::Subgroups},
    FeatureRow{"timestamp-query", wgpu::FeatureName::TimestampQuery},
};

struct LanguageRow {
  std::string_view name;
  wgpu::WGSLLanguageFeatureName feature;
};
constexpr std::array language_rows = {
    LanguageRow{"buffer_view", wgpu::WGSLLanguageFeatureName::BufferView},
    LanguageRow{"immediate_address_space", wgpu::WGSLLanguageFeatureName::ImmediateAddressSpace},
    LanguageRow{"linear_indexing", wgpu::WGSLLanguageFeatureName::LinearIndexing},
    LanguageRow{"packed_4x8_integer_dot_product",
                wgpu::WGSLLanguageFeatureName::Packed4x8IntegerDotProduct},
    LanguageRow{"pointer_composite_access", wgpu::WGSLLanguageFeatureName::PointerCompositeAccess},
    LanguageRow{"subgroup_id", wgpu::WGSLLanguageFeatureName::SubgroupId},
    LanguageRow{"subgroup_uniformity", wgpu::WGSLLanguageFeatureName::SubgroupUniformity},
    LanguageRow{"swizzle_assignment", wgpu::WGSLLanguageFeatureName::SwizzleAssignment},
    LanguageRow{"uniform_buffer_standard_layout",
                wgpu::WGSLLanguageFeatureName::UniformBufferStandardLayout},
    LanguageRow{"unrestricted_pointer_parameters",
                wgpu::WGSLLanguageFeatureName::UnrestrictedPointerParameters},
};

std::string_view backend_name(wgpu::BackendType type) {
  switch (type) {
    case wgpu::BackendType::Vulkan:
      return "vulkan";
    case wgpu::BackendType::D3D12:
      return "d3d12";
    case wgpu::BackendType::Metal:
      return "metal";
    default:
      return "";  // Adapters of other backends are left out.
  }
}

AdapterKind adapter_kind(wgpu::AdapterType type) {
  switch (type) {
    case wgpu::AdapterType::DiscreteGPU:
      return AdapterKind::discrete;
    case wgpu::AdapterType::IntegratedGPU:
      return AdapterKind::integrated;
    case wgpu::AdapterType::CPU:
      return AdapterKind::cpu;
    case wgpu::AdapterType::Unknown:
      break;
  }
  return AdapterKind::unknown;
}

std::string text(wgpu::StringView view) { return std::string(std::string_view(view)); }

std::string component_name(wgpu::SubgroupMatrixComponentType type) {
  switch (type) {
    case wgpu::SubgroupMatrixComponentType::F32:
      return "f32";
    case wgpu::SubgroupMatrixComponentType::F16:
      return "f16";
    case wgpu::SubgroupMatrixComponentType::U32:
      return "u32";
    case wgpu::SubgroupMatrixComponentType::I32:
      return "i32";
    case wgpu::SubgroupMatrixComponentType::U8:
      return "u8";
    case wgpu::SubgroupMatrixComponentType::I8:
      break;
  }
  return "i8";
}

std::vector<SubgroupMatrix> subgroup_matrices(const wgpu::Adapter& adapter) {
  std::vector<SubgroupMatrix> matrices;
  if (!adapter.HasFeature(wgpu::FeatureName::ChromiumExperimentalSubgroupMatrix)) return matrices;
  wgpu::AdapterPropertiesSubgroupMatrixConfigs configs;
  wgpu::AdapterInfo native;
  native.nextInChain = &configs;
  adapter.GetInfo(&native);
  for (std::size_t i = 0; i < configs.configCount; ++i) {
    const wgpu::SubgroupMatrixConfig& config = configs.configs[i];
    matrices.push_back({component_name(config.componentType),
                        component_name(config.resultComponentType), config.M, config.N, config.K});
  }
  native.nextInChain = nullptr;
  return matrices;
}

AdapterInfo describe(const wgpu::Adapter& adapter, const wgpu::Instance& instance) {
  wgpu::AdapterPropertiesVk vulkan;
  wgpu::AdapterInfo native;
  if (adapter.HasFeature(wgpu::FeatureName::AdapterPropertiesVk)) native.nextInChain = &vulkan;
  adapter.GetInfo(&native);

  AdapterInfo info;
  info.vendor = text(native.vendor);
  info.architecture = text(native.architecture);
  info.device = text(native.device);
  info.description = text(native.description);
  info.driver = info.description;
  if (native.nextInChain != nullptr)
    info.driver += weft::format(" (driver version {:#x})", vulkan.driverVersion);
  info.backend = backend_name(native.backendType);
  info.kind = adapter_kind(native.adapterType);
  if (adapter.HasFeature(wgpu::FeatureName::Subgroups)) {
    info.subgroup_size_min = native.subgroupMinSize;
    info.subgroup_size_max = native.subgroupMaxSize;
  }
  for (const auto& row : feature_rows) {
    if (adapter.HasFeature(row.feature)) info.features.emplace_back(row.name);
  }
  for (const auto& row : language_rows) {
    if (instance.HasWGSLLanguageFeature(row.feature)) info.wgsl_features.emplace_back(row.name);
  }
  info.subgroup_matrices = subgroup_matrices(adapter);
  wgpu::Limits limits;
  adapter.GetLimits(&limits);
  info.limits = to_limits(limits);
  native.nextInChain = nullptr;
  return info;
}

}  // namespace

wgpu::DawnTogglesDescriptor toggles(bool trusted_shaders) {
  // Trusted kernels do without validation and clamping, which cost 15 to 40 % of short kernels, and
  // read only what they have written. The last three toggles enable features that some adapters
  // have only with them.
  static constexpr std::array<const char*, 6> trusted_on = {
      "skip_validation",         "disable_robustness",
      "disable_workgroup_init",  "vulkan_enable_f16_on_nvidia",
      "use_vulkan_memory_model", "allow_unsafe_apis"};
  static constexpr std::array<const char*, 2> trusted_off = {"timestamp_quantization",
                                                             "lazy_clear_resource_on_first_use"};
  // Untrusted shaders keep validation, robustness and cleared memory; natively, exact times are
  // harmless.
  static constexpr std::array<const char*, 1> strangers_off = {"timestamp_quantization"};

  wgpu::DawnTogglesDescriptor descriptor;
  if (trusted_shaders) {
    descriptor.enabledToggleCount = trusted_on.size();
    descriptor.enabledToggles = trusted_on.data();
    descriptor.disabledToggleCount = trusted_off.size();
    descriptor.disabledToggles = trusted_off.data();
  } else {
    descriptor.disabledToggleCount = strangers_off.size();
    descriptor.disabledToggles = strangers_off.data();
  }
  return descriptor;
}

std::vector<FoundAdapter> find_adapters(dawn::native::Instance& dawn, bool trusted_shaders) {
  const wgpu::DawnTogglesDescriptor chained = toggles(trusted_shaders);
  wgpu::RequestAdapterOptions options;
  options.nextInChain = &chained;
  options.featureLevel = wgpu::FeatureLevel::Core;
  const wgpu::Instance instance(dawn.Get());

  std::vector<FoundAdapter> found;
  for (const dawn::native::Adapter& native : dawn.EnumerateAdapters(&options)) {
    wgpu::Adapter adapter(native.Get());
    wgpu::AdapterInfo info;
    adapter.GetInfo(&info);
    if (backend_name(info.backendType).empty()) continue;
    FoundAdapter entry{adapter, describe(adapter, instance)};
    found.push_back(std::move(entry));
  }
  return found;
}

Limits to_limits(const wgpu::Limits& limits) {
  return {
      .buffer_bytes_max = limits.maxBufferSize,
      .storage_binding_bytes_max = limits.maxStorageBufferBindingSize,
      .uniform_binding_bytes_max = limits.maxUniformBufferBindingSize,
      .storage_offset_alignment = limits.minStorageBufferOffsetAlignment,
      .uniform_offset_alignment = limits.minUniformBufferOffsetAlignment,
      .storage_buffers_per_stage_max = limits.maxStorageBuffersPerShaderStage,
      .uniform_buffers_per_stage_max = limits.maxUniformBuffersPerShaderStage,
      .bind_groups_max = limits.maxBindGroups,
      .workgroup_storage_bytes_max = limits.maxComputeWorkgroupStorageSize,
      .workgroup_invocations_max = limits.maxComputeInvocationsPerWorkgroup,
      .workgroup_size_x_max = limits.maxComputeWorkgroupSizeX,
      .workgroup_size_y_max = limits.maxComputeWorkgroupSizeY,
      .workgroup_size_z_max = limits.maxComputeWorkgroupSizeZ,
      .workgroups_per_dimension_max = limits.maxComputeWorkgroupsPerDimension,
      .immediate_bytes_max = limits.maxImmediateSize,
  };
}

wgpu::FeatureName to_feature(std::string_view name) {
  const auto row = std::ranges::find(feature_rows, name, &FeatureRow::name);
  return row == feature_rows.end() ? wgpu::FeatureName::CoreFeaturesAndLimits : row->feature;
}

}  // namespace weft::gpu::native
