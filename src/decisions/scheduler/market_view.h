// The numbers that quotes are made from: trusted workers' rates and the paid work that has waited.
// They are at most a second old.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>

#include "common/base/clock.h"
#include "decisions/scheduler/quote.h"
#include "decisions/scheduler/requirement_classes.h"

namespace weft::scheduler {

class MarketView {
 public:
  [[nodiscard]] Market of(const ClassKey& key, const WorkersInOrder& workers,
                          const ClassTable& classes, Instant now);

 private:
  void look(const WorkersInOrder& workers, const ClassTable& classes, Instant now);

  std::optional<Instant> looked_at_;
  double waiting_seconds_ = 0;
  double fleet_rate_ = 0;
};

}  // namespace weft::scheduler
