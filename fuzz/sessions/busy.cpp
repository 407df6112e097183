#include "fuzz/sessions/busy.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>
#include <unistd.h>

namespace weft::sessions {

namespace {
constexpr const char* variable = "WEFT_SESSIONS_AT_ONCE";
}

void expect_histories(unsigned at_once) { setenv(variable, std::to_string(at_once).c_str(), 1); }

int busy() {
  constexpr double most = 10;
  double load = 0;
  if (getloadavg(&load, 1) != 1) load = 0;
  if (const char* at_once = std::getenv(variable)) load = std::max(load, std::atof(at_once));
  const auto cores = static_cast<double>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
  return static_cast<int>(std::ceil(std::clamp(load / cores, 1.0, most)));
}

}  // namespace weft::sessions
