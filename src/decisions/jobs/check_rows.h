// The evidence of verdicts, as rows: what was computed again of a result, and what came of it. Kept
// for 30 days.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "common/base/clock.h"
#include "common/manifest/split.h"
#include "common/records/records.h"
#include "decisions/trust/referee.h"

namespace weft::jobs {

struct CoreTables;
struct RunningJob;

[[nodiscard]] store::Check::Outcome outcome_of(trust::AuditOutcome outcome);
[[nodiscard]] std::vector<store::Check::Range> ranges_of(std::span<const manifest::Range> ranges);
[[nodiscard]] std::optional<store::Check::Range> range_of(
    const std::optional<manifest::Range>& range);

// Why the task is accepted: the highest word of those that agree or have computed parts of it
// again.
[[nodiscard]] store::Basis basis_of(const CoreTables& tables, RunningJob& job,
                                    const trust::Accepted& accepted, UnixMillis now);

// Old rows go, once a minute, with what is written anyway.
class CheckSweep {
 public:
  void sweep(CoreTables& tables, UnixMillis now);

 private:
  UnixMillis swept_ = 0;
};

}  // namespace weft::jobs
