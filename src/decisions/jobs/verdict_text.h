// Sentences that say how results were decided, for jobs, tasks and the page.
#pragma once

#include <string>

#include "common/manifest/manifest.h"
#include "common/records/records.h"

namespace weft::jobs {

// One sentence for all results of a job, such as "All 64 results have the word of a worker that
// the operator invited.". Empty if the job has no accepted result.
[[nodiscard]] std::string how_decided(const store::BasisCounts& counts);
// Returns one sentence that says how the result of one accepted task was decided.
[[nodiscard]] std::string how_decided(store::Basis basis);

// True if the coordinator checks the job's results by mathematics: Freivalds' check of products
// (apps/coordinator/ingest/intake.h).
[[nodiscard]] bool checked_by_mathematics(const manifest::Manifest& manifest);

// The name for programs: "verifier", "invited", ...
[[nodiscard]] std::string_view to_string(store::Basis basis);
[[nodiscard]] std::string_view to_string(store::Check::Kind kind);
[[nodiscard]] std::string_view to_string(store::Check::Outcome outcome);

}  // namespace weft::jobs
