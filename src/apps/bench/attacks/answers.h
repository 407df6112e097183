// The bytes that workers of a play hand in for the counting job (apps/bench/coordinator/talk.h):
// right ones, and wrong ones on which accomplices agree without a word. Pure.
#pragma once

#include <cstdint>

#include "common/base/bytes.h"
#include "common/base/ids.h"
#include "common/protocol/leases.h"
#include "decisions/trust/attacks/strategy.h"

namespace weft::coordinator::bench {

// What a worker is to compute: of task `task`, whose slices begin at `first`, all or a part.
struct Asked {
  TaskId task;
  std::uint32_t slices = 1;  // The whole task has so many.
  std::uint32_t first = 0;   // Slices that are wanted, along the axis of the job,
  std::uint32_t count = 1;   // so many.
  [[nodiscard]] bool whole() const { return count == slices; }
};
[[nodiscard]] Asked asked(const JobId& job, const protocol::LeasedTask& task, std::uint32_t slices);

// The right answer, as devices of vendor `mark` give it; 0: as the coordinator's verifier does.
[[nodiscard]] ByteVector right_answer(const Asked& asked, std::uint32_t mark = 0);
// The answer of a deed: wrong in as many neighbouring slices of the task as it says, in each value
// or in one. Which they are follows from the task, so that accomplices agree.
[[nodiscard]] ByteVector answer_of(const Asked& asked, const trust::attacks::Deed& deed);

}  // namespace weft::coordinator::bench
