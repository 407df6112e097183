// The plain data of the gpu layer: usages, limits, and the descriptions of adapters and pipelines.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace weft::gpu {

// WebGPU's usage bits (GPUBufferUsage), which can be combined with |.
enum class BufferUsage : std::uint32_t {
  map_read = 0x1,
  copy_source = 0x4,
  copy_destination = 0x8,
  uniform = 0x40,
  storage = 0x80,
  query_resolve = 0x200,
};
[[nodiscard]] constexpr BufferUsage operator|(BufferUsage a, BufferUsage b) {
  return static_cast<BufferUsage>(static_cast<std::uint32_t>(a) | static_cast<std::uint32_t>(b));
}

// WebGPU's limits for compute, with names in the style of this code. All are bytes, counts or
// invocations.
struct Limits {
  std::uint64_t buffer_bytes_max = 0;
  std::uint64_t storage_binding_bytes_max = 0;
  std::uint64_t uniform_binding_bytes_max = 0;
  std::uint32_t storage_offset_alignment = 256;
  std::uint32_t uniform_offset_alignment = 256;
  std::uint32_t storage_buffers_per_stage_max = 0;
  std::uint32_t uniform_buffers_per_stage_max = 0;
  std::uint32_t bind_groups_max = 0;
  std::uint32_t workgroup_storage_bytes_max = 0;
  std::uint32_t workgroup_invocations_max = 0;
  std::uint32_t workgroup_size_x_max = 0;
  std::uint32_t workgroup_size_y_max = 0;
  std::uint32_t workgroup_size_z_max = 0;
  std::uint32_t workgroups_per_dimension_max = 0;
  std::uint32_t immediate_bytes_max = 0;  // 0 if the device has no immediates.
};

enum class AdapterKind { discrete, integrated, cpu, unknown };
[[nodiscard]] std::string_view to_string(AdapterKind kind);

// A size of matrix product that a subgroup computes at once (feature
// chromium-experimental-subgroup-matrix): m x k times k x n of `component` gives m x n of `result`.
// The type names are WGSL's: "f16", "f32", "i8", "u8", "i32", "u32".
struct SubgroupMatrix {
  std::string component;
  std::string result;
  std::uint32_t m = 0;
  std::uint32_t n = 0;
  std::uint32_t k = 0;
};

struct AdapterInfo {
  std::string vendor;
  std::string architecture;
  std::string device;
  std::string description;
  std::string driver;   // Empty in browsers.
  std::string backend;  // "vulkan", "d3d12", "metal", "webgpu" (a browser), "null".
  AdapterKind kind = AdapterKind::unknown;
  std::uint32_t subgroup_size_min = 0;  // 0 if the device has no subgroups.
  std::uint32_t subgroup_size_max = 0;
  std::vector<std::string> features;       // WebGPU's feature names, sorted.
  std::vector<std::string> wgsl_features;  // WGSL language features, sorted.
  std::vector<SubgroupMatrix> subgroup_matrices;
  Limits limits;

  [[nodiscard]] bool has(std::string_view feature) const;
};

// The access that a shader has to a buffer.
enum class BindingKind : std::uint8_t { uniform, storage_read, storage };

struct BindingLayout {
  std::uint32_t binding = 0;
  BindingKind kind = BindingKind::storage;
};

// The layout of one bind group. Layouts are explicit, so that one bind group can be used with
// several pipelines. A layout may list more bindings than the shader uses.
using GroupLayout = std::vector<BindingLayout>;

struct PipelineOptions {
  std::string wgsl = {};
  std::string entry = "main";
  std::string label = {};
  std::vector<GroupLayout> groups = {};
  std::map<std::string, double> constants = {};  // WGSL overrides by name.
  std::uint32_t immediate_bytes = 0;
};

// One message of the WGSL compiler.
struct CompileMessage {
  enum class Kind : std::uint8_t { error, warning, info } kind = Kind::error;
  std::uint64_t line = 0;  // Counted from 1; 0 if the compiler names no line.
  std::uint64_t column = 0;
  std::string text = {};
};

}  // namespace weft::gpu
