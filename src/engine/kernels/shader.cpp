#include "engine/kernels/shader.h"

#include <algorithm>
#include <bit>

#include "common/base/check.h"
#include "common/base/format.h"
#include "engine/kernels/team_subgroup.wgsl.h"
#include "engine/kernels/team_workgroup.wgsl.h"

namespace weft::kernels {

Team Team::of(const gpu::Device& device, bool use_subgroups) {
  const gpu::AdapterInfo& adapter = device.adapter();
  const bool one_size = adapter.subgroup_size_min == adapter.subgroup_size_max &&
                        std::has_single_bit(adapter.subgroup_size_min);
  if (use_subgroups && device.has("subgroups") && adapter.has("subgroup_id") && one_size &&
      adapter.subgroup_size_min >= 4)
    return {.size = adapter.subgroup_size_min, .subgroups = true};
  return {.size = 32, .subgroups = false};
}

ShaderText& ShaderText::constant(std::string_view name, std::uint32_t value) {
  constants_ += weft::format("const {} = {}u;\n", name, value);
  return *this;
}
ShaderText& ShaderText::constant(std::string_view name, float value) {
  constants_ += weft::format("const {} = {:.9e}f;\n", name, value);
  return *this;
}
ShaderText& ShaderText::flag(std::string_view name, bool value) {
  constants_ += weft::format("const {} = {};\n", name, value);
  return *this;
}
ShaderText& ShaderText::enable(std::string_view extension) {
  enables_ += weft::format("enable {};\n", extension);
  return *this;
}
ShaderText& ShaderText::require(std::string_view language_feature) {
  enables_ += weft::format("requires {};\n", language_feature);
  return *this;
}
ShaderText& ShaderText::silence(std::string_view diagnostic) {
  diagnostics_ += weft::format("diagnostic(off, {});\n", diagnostic);
  return *this;
}
ShaderText& ShaderText::part(std::string_view wgsl) {
  parts_ += wgsl;
  parts_ += '\n';
  return *this;
}

ShaderText& ShaderText::team(const Team& team, std::uint32_t workgroup) {
  check(workgroup % team.size == 0, "a workgroup is made of whole teams");
  constant("TEAM", team.size)
      .constant("TEAMS", workgroup / team.size)
      .constant("WORKGROUP", workgroup);
  if (team.subgroups) {
    enable("subgroups");
    silence("subgroup_uniformity");  // Kernels branch by subgroup, not by workgroup.
  }
  return part(team.subgroups ? wgsl::team_subgroup_wgsl : wgsl::team_workgroup_wgsl);
}

std::uint32_t workgroup_size(const gpu::Device& device, std::uint32_t threads) {
  const gpu::Limits& limits = device.limits();
  return std::bit_floor(
      std::min({threads, limits.workgroup_invocations_max, limits.workgroup_size_x_max}));
}

gpu::Workgroups grid(std::uint64_t count, std::uint32_t z) {
  constexpr std::uint64_t side_max = 65535;
  check(count > 0 && count <= side_max * side_max,
        "a grid has from one workgroup to as many as fit into two dimensions");
  if (count <= side_max) return {.x = static_cast<std::uint32_t>(count), .y = 1, .z = z};
  const std::uint64_t y = (count + side_max - 1) / side_max;
  return {.x = static_cast<std::uint32_t>((count + y - 1) / y),
          .y = static_cast<std::uint32_t>(y),
          .z = z};
}

}  // namespace weft::kernels
