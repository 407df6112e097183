// A worker's standing as /v1/stakes shows it to the worker and to the operator.
#pragma once

#include <cstdint>
#include <string_view>

#include "common/base/clock.h"
#include "common/base/result.h"

namespace weft::coordinator::bench {

struct ShownStanding {
  double reputation = 0;
  bool established = false;
  UnixMillis suspended_until = 0;  // End of the suspension; 0: not suspended.
};
[[nodiscard]] Result<ShownStanding> read_standing(std::string_view body);

}  // namespace weft::coordinator::bench
