// Assembles a kernel's WGSL: first numbers as constants, then the parts that it shares with others,
// then its own text. Shapes are constants so that the driver's compiler unrolls and folds; a model
// has only a few shapes.
//
//   ShaderText text;
//   text.constant("COLUMNS", 2048).flag("BIAS", true).team(team, 128)
//       .part(wgsl::weights_q8_wgsl).part(wgsl::matvec_wgsl);
//   options.wgsl = text.build();
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/gpu/device.h"

namespace weft::kernels {

// Threads that work on one row and add up their results: a subgroup if the device has them, else
// neighbouring threads that use workgroup memory. A kernel defines `fn kernel(group: vec3u, groups:
// vec3u, index: u32, team: u32, lane: u32)`, and can call team_sum() and team_max() over the TEAM
// lanes of a team, which all threads of the workgroup must call.
struct Team {
  std::uint32_t size = 32;  // Must be a power of two.
  bool subgroups = false;

  // Returns teams that are subgroups if all subgroups of the device have one size. Tests pass false
  // to `use_subgroups` to test teams that are not subgroups.
  [[nodiscard]] static Team of(const gpu::Device& device, bool use_subgroups = true);
};

class ShaderText {
 public:
  ShaderText& constant(std::string_view name, std::uint32_t value);
  ShaderText& constant(std::string_view name, float value);
  ShaderText& flag(std::string_view name, bool value);
  ShaderText& enable(std::string_view extension);
  ShaderText& require(std::string_view language_feature);
  ShaderText& silence(std::string_view diagnostic);
  ShaderText& part(std::string_view wgsl);
  // Adds the constants TEAM, TEAMS and WORKGROUP, and the entry point.
  ShaderText& team(const Team& team, std::uint32_t workgroup);

  [[nodiscard]] std::string build() const { return enables_ + diagnostics_ + constants_ + parts_; }

 private:
  std::string enables_, diagnostics_, constants_, parts_;
};

// The size of a workgroup of `threads` threads within the device's limits.
[[nodiscard]] std::uint32_t workgroup_size(const gpu::Device& device, std::uint32_t threads);
// `count` workgroups as a grid whose sides the device allows. Kernels compute their number as
// group.x + group.y * groups.x.
[[nodiscard]] gpu::Workgroups grid(std::uint64_t count, std::uint32_t z = 1);

}  // namespace weft::kernels
