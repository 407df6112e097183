// What /v1/stakes says of a worker, to itself and to the operator.
#pragma once

#include <cstdint>
#include <string_view>

#include "common/base/clock.h"
#include "common/base/result.h"

namespace weft::coordinator::bench {

struct ShownStanding {
  double reputation = 0;
  bool established = false;
  UnixMillis suspended_until = 0;  // 0: it is not.
};
[[nodiscard]] Result<ShownStanding> read_standing(std::string_view body);

}  // namespace weft::coordinator::bench
