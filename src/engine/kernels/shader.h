// Puts a kernel's WGSL together: numbers as constants in front, then the parts that it is made of,
// then its own text. Shapes are constants, so that the driver's compiler unrolls and folds; a model
// has a handful of shapes.
//
//   ShaderText text;
//   text.constant("COLUMNS", 2048).flag("BIAS", true).team(team,
//   128).part(wgsl::weights_q8_wgsl).part(wgsl::matvec_wgsl); options.wgsl = text.build();
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/gpu/device.h"

namespace weft::kernels {

// Threads that work on one row and add up what they have: a subgroup where the device has them,
// else neighbours who meet in workgroup memory. A kernel gives `fn kernel(group: vec3u, groups:
// vec3u, index: u32, team: u32, lane: u32)`, and team_sum() and team_max() over the TEAM lanes of a
// team, called by all threads of the workgroup.
struct Team {
  std::uint32_t size = 32;  // A power of two.
  bool subgroups = false;

  // Subgroups where all of the device's have one size; `use_subgroups` false for tests of the other
  // way.
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
  // Constants TEAM, TEAMS and WORKGROUP, and the entry point.
  ShaderText& team(const Team& team, std::uint32_t workgroup);

  [[nodiscard]] std::string build() const { return enables_ + diagnostics_ + constants_ + parts_; }

 private:
  std::string enables_, diagnostics_, constants_, parts_;
};

// What a workgroup of `threads` becomes where the device allows fewer.
[[nodiscard]] std::uint32_t workgroup_size(const gpu::Device& device, std::uint32_t threads);
// `count` workgroups as a grid whose sides the device allows; kernels number them group.x + group.y
// * groups.x.
[[nodiscard]] gpu::Workgroups grid(std::uint64_t count, std::uint32_t z = 1);

}  // namespace weft::kernels
