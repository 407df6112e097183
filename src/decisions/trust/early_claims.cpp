#include "decisions/trust/early_claims.h"

namespace weft::trust {

void EarlyClaims::keep(const PublicKey& worker, const Claim& claim) {
  Waiting& waiting = waiting_[worker];
  const AttemptId id{claim.task, claim.attempt};
  if (const auto known = waiting.rows.find(id); known != waiting.rows.end())
    waiting.by_age.erase(known->second.age);
  const std::uint64_t age = waiting.next_age++;
  waiting.rows[id] = {.root = claim.root, .age = age};
  waiting.by_age[age] = id;
  if (waiting.rows.size() > waiting_max) {
    const auto oldest = waiting.by_age.begin();
    waiting.rows.erase(oldest->second);
    waiting.by_age.erase(oldest);
  }
}

std::optional<Hash> EarlyClaims::take(const PublicKey& worker, const TaskId& task,
                                      std::uint32_t attempt) {
  const auto waiting = waiting_.find(worker);
  if (waiting == waiting_.end()) return {};
  const auto row = waiting->second.rows.find(AttemptId{task, attempt});
  if (row == waiting->second.rows.end()) return {};
  const Hash root = row->second.root;
  waiting->second.by_age.erase(row->second.age);
  waiting->second.rows.erase(row);
  if (waiting->second.rows.empty()) waiting_.erase(waiting);
  return root;
}

std::size_t EarlyClaims::count(const PublicKey& worker) const {
  const auto waiting = waiting_.find(worker);
  return waiting == waiting_.end() ? 0 : waiting->second.rows.size();
}

}  // namespace weft::trust
