#include "decisions/jobs/evidence_rows.h"

namespace weft::jobs {

bool EvidenceRows::take(const OwnerId& owner, bool has_something_to_lose, UnixMillis now) {
  if (!has_something_to_lose) {
    if (now >= day_began_ + day || now < day_began_) {
      day_began_ = now;
      of_others_ = 0;
    }
    if (of_others_ >= of_others_max) return false;
    ++of_others_;
    return true;
  }
  if (taken_.size() >= owners_max && !taken_.contains(owner)) taken_.clear();
  std::uint32_t& rows = taken_[owner];
  if (rows >= of_owner_max) return false;
  ++rows;
  return true;
}

}  // namespace weft::jobs
