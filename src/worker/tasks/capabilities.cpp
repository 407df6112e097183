#include "worker/tasks/capabilities.h"

#include <algorithm>

namespace weft::worker {
namespace {

// Browsers hide most of the description; the vendor and the family are always available.
std::string description_of(const gpu::AdapterInfo& adapter) {
  if (!adapter.description.empty()) return adapter.description;
  if (!adapter.device.empty()) return adapter.device;
  return adapter.vendor + (adapter.architecture.empty() ? "" : " " + adapter.architecture);
}

}  // namespace

protocol::Capabilities capabilities_of(const gpu::Device& device, std::uint64_t memory_bytes) {
  const gpu::AdapterInfo& adapter = device.adapter();
  const gpu::Limits& limits = device.limits();
  protocol::Capabilities capabilities{
      .device = protocol::DeviceKind::gpu,
      .vendor = adapter.vendor,
      .architecture = adapter.architecture,
      .description = description_of(adapter),
      .backend = adapter.backend,
      .features = {},
      .limits = {{"maxBufferSize", limits.buffer_bytes_max},
                 {"maxStorageBufferBindingSize", limits.storage_binding_bytes_max},
                 {"maxUniformBufferBindingSize", limits.uniform_binding_bytes_max},
                 {"maxStorageBuffersPerShaderStage", limits.storage_buffers_per_stage_max},
                 {"maxUniformBuffersPerShaderStage", limits.uniform_buffers_per_stage_max},
                 {"maxBindGroups", limits.bind_groups_max},
                 {"maxComputeWorkgroupStorageSize", limits.workgroup_storage_bytes_max},
                 {"maxComputeInvocationsPerWorkgroup", limits.workgroup_invocations_max},
                 {"maxComputeWorkgroupSizeX", limits.workgroup_size_x_max},
                 {"maxComputeWorkgroupSizeY", limits.workgroup_size_y_max},
                 {"maxComputeWorkgroupSizeZ", limits.workgroup_size_z_max},
                 {"maxComputeWorkgroupsPerDimension", limits.workgroups_per_dimension_max},
                 {"maxImmediateSize", limits.immediate_bytes_max}},
      .memory_bytes = memory_bytes,
      .copy_gb_per_s = 0,
      .f32_gflop_per_s = 0};
  // Lists the features that are enabled on the device, not those that the adapter could offer.
  std::ranges::copy_if(adapter.features, std::back_inserter(capabilities.features),
                       [&](const std::string& feature) { return device.has(feature); });
  return capabilities;
}

protocol::Capabilities cpu_capabilities(std::uint64_t memory_bytes) {
  protocol::Capabilities capabilities;
  capabilities.device = protocol::DeviceKind::cpu;
  capabilities.description = "Built-in kernels on the processor";
  capabilities.backend = "cpu";
  capabilities.memory_bytes = memory_bytes;
  return capabilities;
}

}  // namespace weft::worker
