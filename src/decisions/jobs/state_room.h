// The sizes of the states that a check of steps asks for, and the room for them. Pure; both the
// core and the code that reserves room use them.
#pragma once

#include <cstdint>

#include "common/manifest/manifest.h"

namespace weft::jobs {

// The bytes of the states of one check, at most.
inline constexpr std::uint64_t check_states_bytes_max = std::uint64_t{256} << 20;

// The way in which the tasks of a job are checked by groups of steps.
struct CheckedGroups {
  std::uint32_t all = 1;  // The number of groups of a task; 1: a check computes all steps.
  // The most groups that one check computes apart. A check of more computes the whole task, for
  // which it asks for no state.
  std::uint32_t apart_max = 0;
};
// A job without groups (manifest/step_groups.h), or in which not even one state fits into
// check_states_bytes_max, is not checked by groups. Neither is a job with "trust": "anyone", whose
// results are decided by agreement alone.
[[nodiscard]] CheckedGroups checked_groups(const manifest::Manifest& manifest);

// The size of a state of the task, as a blob.
[[nodiscard]] std::uint64_t state_bytes(const manifest::Manifest& manifest, std::uint32_t task);

// The room that is set aside for states of the job: those of one check of its largest task. Checks
// of the job that need more at the same time wait.
[[nodiscard]] std::uint64_t state_room(const manifest::Manifest& manifest);

}  // namespace weft::jobs
