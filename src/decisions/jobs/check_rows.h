// The evidence of verdicts, as rows: the parts of a result that were computed again, and the
// outcome. The rows are kept for 30 days.
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

// The reason why the task is accepted: a mathematical check, agreement alone, the verifier, or the
// highest level of the workers that agree or have computed parts of the result again.
[[nodiscard]] store::Basis basis_of(const CoreTables& tables, RunningJob& job,
                                    const trust::Accepted& accepted, UnixMillis now);

// Deletes old rows of evidence once a minute, in a batch that is written anyway.
class CheckSweep {
 public:
  void sweep(CoreTables& tables, UnixMillis now);

 private:
  UnixMillis swept_ = 0;
};

}  // namespace weft::jobs
