// The results of a play's workers for the counting job (apps/bench/coordinator/talk.h): correct
// results, and wrong results on which accomplices agree without communicating. Pure.
#pragma once

#include <cstdint>

#include "common/base/bytes.h"
#include "common/base/ids.h"
#include "common/protocol/leases.h"
#include "decisions/trust/attacks/strategy.h"

namespace weft::coordinator::bench {

// The work that a worker was asked for: a whole task or a part of it.
struct Asked {
  TaskId task;
  std::uint32_t slices = 1;  // Slices of the whole task.
  std::uint32_t first = 0;   // First wanted slice, along the job's axis.
  std::uint32_t count = 1;   // Number of wanted slices.
  [[nodiscard]] bool whole() const { return count == slices; }
};
[[nodiscard]] Asked asked(const JobId& job, const protocol::LeasedTask& task, std::uint32_t slices);

// The correct result, as devices of vendor `mark` compute it; 0 is the coordinator's verifier.
[[nodiscard]] ByteVector right_answer(const Asked& asked, std::uint32_t mark = 0);
// The result of a deed: wrong in as many neighbouring slices as the deed says, either in each value
// of these slices or in one value. The slices are derived from the task, so that accomplices agree.
[[nodiscard]] ByteVector answer_of(const Asked& asked, const trust::attacks::Deed& deed);

}  // namespace weft::coordinator::bench
