#include "decisions/trust/reputation.h"

#include <algorithm>
#include <cmath>

#include "common/base/check.h"

namespace weft::trust {

void ReputationBook::confirm(const PublicKey& worker, double weight, UnixMillis now) {
  check(weight > 0 && weight <= 1, "a confirmation weighs more than nothing and at most one");
  Record& record = fade(worker, now);
  record.verified +=
      std::ldexp(weight, -static_cast<int>(std::min(record.wrong, settings_.doublings_max)));
  if (record.verified >= taken_[worker] * 1.1 + 1) moved_.insert(worker);
}

void ReputationBook::doubt(const PublicKey& worker, UnixMillis now) {
  fade(worker, now).verified = 0;
  moved_.insert(worker);
}

void ReputationBook::restore(const PublicKey& worker, const Record& record) {
  records_[worker] = record;
  taken_[worker] = record.verified;
}

std::vector<PublicKey> ReputationBook::take_moved() {
  std::vector<PublicKey> moved(moved_.begin(), moved_.end());
  moved_.clear();
  for (const PublicKey& worker : moved) taken_[worker] = records_[worker].verified;
  return moved;
}

void ReputationBook::convict(const PublicKey& worker, UnixMillis now) {
  Record& record = fade(worker, now);
  record.verified = 0;
  moved_.insert(worker);
  if (now < record.suspended_until)
    // The wrong result was under way when the worker was suspended, and is covered by this
    // suspension.
    return;
  const UnixMillis suspension = settings_.suspension
                                << std::min(record.wrong, settings_.doublings_max);
  record.suspended_until = std::max(record.suspended_until, now + suspension);
  ++record.wrong;
}

bool ReputationBook::pardon(const PublicKey& worker, UnixMillis now) {
  if (!suspended(worker, now)) return false;
  Record& record = fade(worker, now);
  record.suspended_until = 0;
  --record.wrong;
  moved_.insert(worker);
  return true;
}

double ReputationBook::verified(const PublicKey& worker, UnixMillis now) const {
  const auto found = records_.find(worker);
  if (found == records_.end()) return 0;
  // A clock that was set back does not make evidence grow.
  const auto passed = static_cast<double>(std::max<UnixMillis>(now - found->second.updated, 0));
  return found->second.verified * std::exp2(-passed / static_cast<double>(settings_.half_life));
}

double ReputationBook::reputation(const PublicKey& worker, UnixMillis now) const {
  const double evidence = verified(worker, now);
  return evidence / (evidence + settings_.half);
}

bool ReputationBook::established(const PublicKey& worker, UnixMillis now) const {
  return verified(worker, now) >= settings_.probation && !suspended(worker, now);
}

bool ReputationBook::suspended(const PublicKey& worker, UnixMillis now) const {
  const auto found = records_.find(worker);
  return found != records_.end() && now < found->second.suspended_until;
}

Record ReputationBook::record(const PublicKey& worker) const {
  const auto found = records_.find(worker);
  return found == records_.end() ? Record{} : found->second;
}

Record& ReputationBook::fade(const PublicKey& worker, UnixMillis now) {
  Record& record = records_[worker];
  record.verified = verified(worker, now);
  record.updated = std::max(record.updated, now);
  return record;
}

}  // namespace weft::trust
