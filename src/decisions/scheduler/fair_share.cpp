#include "decisions/scheduler/fair_share.h"

#include <algorithm>
#include <cmath>

namespace weft::scheduler {

double FairShares::bounded(double weight) {
  constexpr double weight_min = 1e-3;
  return std::isfinite(weight) ? std::max(weight, weight_min) : weight_min;
}

void FairShares::set_weight(const PublicKey& key, double weight) {
  const auto found = clients_.find(key);
  if (found == clients_.end()) return;
  Client& client = found->second;
  if (client.jobs > 0) weights_ += bounded(weight) - client.weight;
  client.weight = bounded(weight);
}

void FairShares::add_job(const PublicKey& key, double weight) {
  Client& client = clients_[key];
  if (client.jobs > 0) weights_ -= client.weight;
  client.weight = bounded(weight);
  weights_ += client.weight;
  if (client.jobs++ == 0) ++active_;
}

void FairShares::remove_job(const PublicKey& key) {
  const auto found = clients_.find(key);
  if (found == clients_.end() || found->second.jobs == 0) return;
  if (--found->second.jobs > 0) return;
  // Without clients the sum is set to exactly 0, because differences of sums have rounding errors.
  weights_ = --active_ == 0 ? 0 : weights_ - found->second.weight;
}

double FairShares::decayed(const Client& client, Instant now) const {
  const double passed = std::max(seconds(now - client.since), 0.0);
  return client.usage * std::exp2(-passed / seconds(settings_.half_life));
}

void FairShares::charge(const PublicKey& key, double reference_seconds, Instant now) {
  Client& client = clients_[key];
  client.usage = std::max(decayed(client, now) + reference_seconds, 0.0);
  client.since = std::max(client.since, now);
}

double FairShares::usage(const PublicKey& key, Instant now) const {
  const auto found = clients_.find(key);
  return found == clients_.end() ? 0 : decayed(found->second, now);
}

Duration FairShares::lead(const PublicKey& key, Instant now) const {
  const auto found = clients_.find(key);
  if (found == clients_.end() || active_ < 2 || capacity_ <= 0) return {};
  const double lead = decayed(found->second, now) / capacity_ * weights_ / found->second.weight;
  const double step = seconds(settings_.step);
  const double whole = std::floor(std::min(lead, seconds(settings_.lead_max)) / step) * step;
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(whole));
}

void FairShares::forget(Instant now) {
  std::erase_if(clients_, [&](const auto& entry) {
    return entry.second.jobs == 0 && decayed(entry.second, now) < 1;
  });
}

}  // namespace weft::scheduler
