#include "decisions/trust/standing.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <optional>
#include <utility>

namespace weft::trust {

Level Standing::level(const PublicKey& worker, UnixMillis now) const {
  if (book_.suspended(worker, now)) return Level::newcomer;
  switch (admissions_.invitation(worker)) {
    case Invitation::verifier:
      return Level::root;
    case Invitation::worker:
      return Level::invited;
    case Invitation::none:
      break;
  }
  return book_.established(worker, now) ? Level::established : Level::newcomer;
}

bool Standing::is_operators(const PublicKey& worker, UnixMillis now) const {
  const Level its = level(worker, now);
  return its == Level::root || its == Level::invited;
}

bool Standing::decides(std::span<const PublicKey> workers, UnixMillis now) const {
  if (trusts_heads()) return true;
  std::optional<PublicKey> first;
  for (const PublicKey& worker : workers) {
    if (is_operators(worker, now)) return true;
    if (level(worker, now) != Level::established) continue;
    const PublicKey owner = admissions_.owner(worker);
    if (first && *first != owner) return true;
    first = owner;
  }
  return false;
}

bool Standing::settles(std::span<const PublicKey> workers, UnixMillis now) const {
  if (!decides(workers, now)) return false;
  if (!settings_.defences.roots_check_pairs || !root_at_hand()) return true;
  return std::ranges::any_of(workers,
                             [&](const PublicKey& worker) { return is_operators(worker, now); });
}

bool Standing::operator_has_device_of(const PublicKey& suspect, std::span<const PublicKey> workers,
                                      UnixMillis now) const {
  return std::ranges::any_of(workers, [&](const PublicKey& each) {
    return is_operators(each, now) && admissions_.owner(each) != admissions_.owner(suspect) &&
           admissions_.same_vendor(each, suspect);
  });
}

std::uint32_t Standing::leases_max(const PublicKey& worker, UnixMillis now) const {
  if (trusts_heads() || level(worker, now) != Level::newcomer)
    return std::numeric_limits<std::uint32_t>::max();
  const auto found = passes_.find(worker);
  const std::uint32_t passed = found == passes_.end() ? 0 : found->second;
  return std::min(std::bit_ceil(std::min(passed, settings_.newcomer_leases_max) + 1),
                  settings_.newcomer_leases_max);
}

double Standing::sample_share(const PublicKey& worker, UnixMillis now) const {
  return whole_checks_.contains(worker) ? 1 : 1 / (1 + book_.verified(worker, now));
}

bool Standing::take_whole_check(const PublicKey& worker) {
  const auto found = whole_checks_.find(worker);
  if (found == whole_checks_.end() || trusts_heads()) return false;
  changed_watches_.insert(worker);
  if (--found->second == 0) whole_checks_.erase(found);
  return true;
}

// Passed samples are counted up to newcomer_leases_max, because the limit of leases does not grow
// beyond it.
void Standing::sample_passed(const PublicKey& worker) {
  std::uint32_t& passes = passes_[worker];
  if (passes >= settings_.newcomer_leases_max) return;
  ++passes;
  changed_watches_.insert(worker);
}

void Standing::sample_failed(const PublicKey& worker) {
  if (passes_.erase(worker) > 0) changed_watches_.insert(worker);
}

void Standing::watch(const PublicKey& worker) {
  constexpr std::uint32_t doublings_max = 16;
  whole_checks_[worker] = settings_.whole_checks << std::min(mistakes_[worker]++, doublings_max);
  changed_watches_.insert(worker);
}

std::vector<Standing::Watch> Standing::take_changed_watches() {
  const auto in = [](const auto& counts, const PublicKey& worker) {
    const auto found = counts.find(worker);
    return found == counts.end() ? 0 : found->second;
  };
  std::vector<Watch> watches;
  for (const PublicKey& worker : std::exchange(changed_watches_, {}))
    watches.push_back({.worker = worker,
                       .checks = in(whole_checks_, worker),
                       .mistakes = in(mistakes_, worker),
                       .passes = in(passes_, worker)});
  return watches;
}

void Standing::restore(const Watch& watch) {
  if (watch.checks > 0) whole_checks_[watch.worker] = watch.checks;
  if (watch.mistakes > 0) mistakes_[watch.worker] = watch.mistakes;
  if (watch.passes > 0) passes_[watch.worker] = watch.passes;
}

}  // namespace weft::trust
