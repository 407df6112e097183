#include "platform/net/refusals.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "platform/net/address.h"

namespace weft::net {

namespace {

constexpr double first_wait_s = 1;
// The largest debt, in refusals. It is paid after this many times `another_every`.
constexpr double debt_max = 8;
constexpr Duration forget_every = std::chrono::milliseconds(100);

}  // namespace

Duration Refusals::count(std::string_view address, Instant at) {
  if (options_.wait_max == Duration::zero()) return Duration::zero();
  std::string group = address_group(address);
  auto found = of_.find(group);
  if (found == of_.end()) {
    if (of_.size() >= options_.addresses_max && (!looked_ || at - *looked_ >= forget_every)) {
      looked_ = at;
      std::erase_if(of_, [&](auto& entry) {
        entry.second.refill(rate(), at);
        return entry.second.full(rate());
      });
    }
    if (of_.size() >= options_.addresses_max) return options_.wait_max;
    found = of_.emplace(std::move(group), TokenBucket()).first;
  }
  TokenBucket& left = found->second;
  left.refill(rate(), at);
  left.spend(rate(), std::min(1.0, left.level() + debt_max));
  if (left.level() >= 0) return Duration::zero();
  const double wait_s = first_wait_s * std::exp2(std::ceil(-left.level()) - 1);
  return std::min(options_.wait_max,
                  std::chrono::duration_cast<Duration>(std::chrono::duration<double>(wait_s)));
}

}  // namespace weft::net
