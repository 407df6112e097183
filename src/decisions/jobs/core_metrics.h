// The core's metrics as Prometheus text.
#pragma once

#include <cstdint>
#include <string>

#include "common/base/clock.h"
#include "decisions/billing/answers.h"

namespace weft::jobs {

struct CoreTables;

// Samples: results, such as those of newcomers, that wait to be checked by a trusted worker or the
// verifier. Audits in which the worker opens its result do not count.
struct WaitingSamples {
  std::size_t waiting = 0;
  Duration oldest{};
};

// Figures that are not in the tables.
struct MetricsOfParts {
  std::size_t rechecks_running = 0;
  WaitingSamples samples;
  billing::AnswerCounters answers;
};
[[nodiscard]] std::string metrics_text(const CoreTables& tables, const MetricsOfParts& of);

}  // namespace weft::jobs
