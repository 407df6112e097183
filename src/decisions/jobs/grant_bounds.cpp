#include "decisions/jobs/grant_bounds.h"

#include <algorithm>

namespace weft::jobs {

namespace {
constexpr UnixMillis day_ms = 24LL * 3600 * 1000;
}

UnixMillis GrantBounds::day_of(UnixMillis now) { return now / day_ms * day_ms; }

void GrantBounds::restore(std::size_t made, UnixMillis now) {
  day_ = now / day_ms;
  all_ = made;
}

Result<> GrantBounds::may_grant(const std::string& address, UnixMillis now) {
  // A clock that is set back gives no second day.
  if (const std::int64_t day = now / day_ms; day > day_) {
    day_ = day;
    all_ = 0;
    of_.clear();
  }
  if (limits_.per_day > 0 && all_ >= limits_.per_day)
    return fail(ErrorCode::permission_denied,
                "The coordinator has made {} grants today and makes no more; try again tomorrow.",
                all_);
  const auto found = of_.find(address);
  if (limits_.per_address > 0 && found != of_.end() && found->second >= limits_.per_address)
    return fail(ErrorCode::permission_denied,
                "The coordinator has made {} grants to clients of {} today and makes no more; try "
                "again tomorrow.",
                found->second, address);
  return {};
}

void GrantBounds::count(const std::string& address) {
  ++all_;
  ++of_[address];
}

}  // namespace weft::jobs
