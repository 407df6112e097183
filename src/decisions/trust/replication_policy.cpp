#include "decisions/trust/replication_policy.h"

#include <algorithm>
#include <cmath>

#include "common/base/check.h"

namespace weft::trust {

CheckRates rates_at(double reputation, std::uint32_t parts, double audit,
                    const CheckSettings& settings) {
  const double doubt = 1 - std::clamp(reputation, 0.0, 1.0);
  const std::uint32_t cut = std::clamp<std::uint32_t>(parts, 1, settings.audit_parts_max);
  return {.replica = settings.replica_floor + (1 - settings.replica_floor) * doubt * doubt,
          .audit = std::clamp(std::max(settings.audit_work * cut, audit), 0.0, 1.0),
          .trap = settings.trap_floor,
          .parts = cut};
}

double detection(const CheckRates& rates, double wrong_share, double collusion) {
  const double checked = rates.replica + (1 - rates.replica) * rates.audit * wrong_share;
  return 1 - (1 - rates.trap) * (1 - checked * (1 - collusion));
}

double extra_work(const CheckRates& rates) {
  return rates.replica + (1 - rates.replica) * rates.audit / rates.parts + rates.trap;
}

std::uint32_t jury_lead(double error, double collusion) {
  check(error > 0 && error < 0.5 && collusion > 0 && collusion < 0.5,
        "a jury errs less often than a coin, and most of its members are honest");
  return static_cast<std::uint32_t>(
      std::ceil(std::log((1 - error) / error) / std::log((1 - collusion) / collusion)));
}

}  // namespace weft::trust
