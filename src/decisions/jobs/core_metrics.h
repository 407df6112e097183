// The core's figures as Prometheus text.
#pragma once

#include <cstdint>
#include <string>

#include "common/base/clock.h"
#include "decisions/billing/answers.h"

namespace weft::jobs {

struct CoreTables;

// Results of workers that are not trusted and that wait for a check.
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
