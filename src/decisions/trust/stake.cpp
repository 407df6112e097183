#include "decisions/trust/stake.h"

#include <algorithm>
#include <cmath>

namespace weft::trust {

double stake_per_value(const CheckRates& rates, double collusion) {
  double worst = 0;
  for (std::uint32_t wrong = 1; wrong <= rates.parts; ++wrong) {
    const double share = static_cast<double>(wrong) / rates.parts;
    const double found = detection(rates, share, collusion);
    if (found > 0) worst = std::max(worst, share * (1 - found) / found);
  }
  return std::max(1.0, stake_margin * worst);
}

MicroCredits stake_for(MicroCredits value, const CheckRates& rates, double collusion) {
  if (value <= 0) return 0;
  return static_cast<MicroCredits>(
      std::ceil(static_cast<double>(value) * stake_per_value(rates, collusion)));
}

double expected_value(const CheckRates& rates, double wrong_share, double stake, double collusion) {
  const double found = detection(rates, wrong_share, collusion);
  return wrong_share * (1 - found) - stake * found;
}

bool StakesAtRisk::lock(const PublicKey& worker, const TaskId& task, MicroCredits amount,
                        MicroCredits held) {
  Wallet& wallet = wallets_[worker];
  if (wallet.tasks.contains(task)) return true;
  if (amount > held - wallet.sum) {
    if (wallet.tasks.empty()) wallets_.erase(worker);
    return false;
  }
  wallet.tasks.emplace(task, amount);
  wallet.sum += amount;
  return true;
}

MicroCredits StakesAtRisk::unlock(const PublicKey& worker, const TaskId& task) {
  const auto wallet = wallets_.find(worker);
  if (wallet == wallets_.end()) return 0;
  const auto found = wallet->second.tasks.find(task);
  if (found == wallet->second.tasks.end()) return 0;
  const MicroCredits amount = found->second;
  wallet->second.sum -= amount;
  wallet->second.tasks.erase(found);
  if (wallet->second.tasks.empty()) wallets_.erase(wallet);
  return amount;
}

MicroCredits StakesAtRisk::locked(const PublicKey& worker) const {
  const auto found = wallets_.find(worker);
  return found == wallets_.end() ? 0 : found->second.sum;
}

}  // namespace weft::trust
