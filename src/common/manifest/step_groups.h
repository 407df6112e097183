// The groups of steps of a job whose tasks are checked by groups: after each group a worker commits
// to the state of the task, and a check computes drawn groups from the states before them
// (docs/proof.md, "Several steps"). Pure: worker and coordinator derive the same groups from the
// manifest.
//
// Groups are numbered from 0. The state before group g is all outputs after the first g groups; the
// state before group 0 is the outputs as the manifest gives them.
#pragma once

#include <cstdint>

#include "common/manifest/manifest.h"

namespace weft::manifest {

inline constexpr std::uint32_t step_groups_max = 32;

// A run of neighbouring steps.
struct StepRange {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
  friend bool operator==(const StepRange&, const StepRange&) = default;
};

// The number n of groups of the job's steps: as many as it has steps, but at most step_groups_max.
// 0: tasks of this job have no groups. A job has groups if it is a wgsl job of two steps or more
// that cannot be cut, if results are compared exactly, and if it has one task or no output of it is
// cut.
[[nodiscard]] std::uint32_t step_groups(const Manifest& manifest);

// The steps of group `group`, which must be less than step_groups(manifest). The first groups take
// the remainder.
[[nodiscard]] StepRange steps_of_group(const Manifest& manifest, std::uint32_t group);

}  // namespace weft::manifest
