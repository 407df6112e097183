#include "decisions/jobs/chain_stakes.h"

namespace weft::jobs {

// More than any network's cap, for one owner and for all owners together, and so small that the sum
// with a balance does not overflow.
constexpr MicroCredits chain_stake_max = MicroCredits{1} << 60;

Result<> ChainStakes::seen(std::uint64_t slot, std::span<const ChainStake> stakes, Instant now) {
  if (stakes.size() > rows_max)
    return fail(ErrorCode::invalid_argument,
                "A reading of the chain's stakes has {} owners; {} at most are taken.",
                stakes.size(), rows_max);
  std::unordered_map<OwnerId, MicroCredits> amounts;
  MicroCredits sum = 0;
  for (const ChainStake& stake : stakes) {
    if (stake.amount < 0 || stake.amount > chain_stake_max)
      return fail(ErrorCode::invalid_argument, "The stake of {} cannot be {} micro-credits.",
                  stake.owner.text(), stake.amount);
    if (!amounts.emplace(stake.owner, stake.amount).second)
      return fail(ErrorCode::invalid_argument, "The stake of {} occurs twice in one reading.",
                  stake.owner.text());
    if (stake.amount > chain_stake_max - sum)
      return fail(ErrorCode::invalid_argument,
                  "Owners cannot have staked more than {} micro-credits together.",
                  chain_stake_max);
    sum += stake.amount;
  }
  if (slot == slot_) return {};
  if (slot < slot_) {
    const bool goes_on = behind_ != 0 && slot > behind_;
    behind_ = slot;
    if (!goes_on || counts(now))
      return fail(ErrorCode::already_exists,
                  "The chain's stakes are known as of slot {}; the reading is of slot {}, from a "
                  "node that lags behind. Earlier slots are accepted again when they advance and "
                  "the newest reading is older than {} minutes.",
                  slot_, slot,
                  std::chrono::duration_cast<std::chrono::minutes>(counts_for).count());
  }
  amounts_ = std::move(amounts);
  slot_ = slot;
  seen_at_ = now;
  behind_ = 0;
  return {};
}

MicroCredits ChainStakes::of(const OwnerId& owner, Instant now) const {
  if (!counts(now)) return 0;
  const auto found = amounts_.find(owner);
  return found == amounts_.end() ? 0 : found->second;
}

}  // namespace weft::jobs
