// The states of one task that runs in groups of steps, to which a worker commits: the root of the
// task's state after each group but the last, and as many of these states as there is room for, so
// that a check can compute drawn groups from them.
//
// Threading: the session's thread. Bounds: StateRoom bounds the states of all tasks together; a
// state that does not fit when its group ends is not kept, and is not computed again.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "common/base/bytes.h"
#include "common/base/ids.h"
#include "common/manifest/manifest.h"
#include "common/proof/task_state.h"

namespace weft::worker {

// The bytes of all states that a worker keeps.
class StateRoom {
 public:
  explicit StateRoom(std::uint64_t bytes_max) : left_(bytes_max) {}

  // Takes room for `bytes` bytes. Returns false and takes nothing if there is less room.
  [[nodiscard]] bool take(std::uint64_t bytes);
  void give(std::uint64_t bytes) { left_ += bytes; }
  [[nodiscard]] std::uint64_t left() const { return left_; }

 private:
  std::uint64_t left_;
};

class StepTrace {
 public:
  using Outputs = std::shared_ptr<const std::vector<ByteVector>>;

  // `task` counts in steps, and the job has groups of steps (manifest/step_groups.h).
  StepTrace(const proof::StatedTask& task, const manifest::Manifest& manifest,
            std::shared_ptr<StateRoom> room);
  // Gives back the room of the states.
  ~StepTrace();
  StepTrace(const StepTrace&) = delete;
  StepTrace& operator=(const StepTrace&) = delete;

  // The number of steps of the task at the end of the group that begins or continues after `done`
  // steps. A run of steps must not go beyond it. `done` is less than the number of steps.
  [[nodiscard]] std::uint32_t end_of_group(std::uint32_t done) const;
  // `done` steps are computed, and these are all outputs. Ends of groups must come in order. Does
  // nothing inside a group, and after the last group.
  void add(std::uint32_t done, const Outputs& outputs);

  // R_1 to R_i, once i groups are computed; never the root of the last group.
  [[nodiscard]] const std::vector<Hash>& roots() const { return roots_; }
  // The state before `group` as a blob (proof/task_state.h). No value if it is not kept, or if
  // there is no such group.
  [[nodiscard]] std::optional<ByteVector> state_before(std::uint32_t group) const;

 private:
  const proof::StatedTask task_;
  std::vector<std::uint32_t> ends_;  // The number of steps at the end of each group.
  const std::shared_ptr<StateRoom> room_;
  std::uint64_t bytes_ = 0;  // Bytes that are taken from the room.
  std::vector<Hash> roots_;
  std::map<std::uint32_t, Outputs> kept_;  // Kept states, by the group that begins with the state.
};

}  // namespace weft::worker
