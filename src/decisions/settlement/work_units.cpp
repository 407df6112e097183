#include "decisions/settlement/work_units.h"

#include <algorithm>
#include <array>

namespace weft::settlement {
namespace {

constexpr std::array<std::string_view, 3> work_keys = {"pay:", "release:", "verify:"};
constexpr std::string_view answer_open = "answer-open:";
constexpr std::string_view answer_end = "answer-end:";
constexpr long double micro = 1e6L;

// True if an owner gets free credits, as a balance to spend or as an addition to its stake.
bool is_free_pay(const ledger::Entry& entry) {
  using Kind = ledger::Account::Kind;
  return entry.amount > 0 &&
         (entry.account.kind == Kind::owner || entry.account.kind == Kind::stake);
}
OwnerId owner_of(const ledger::Account& account) { return {{account.id}}; }

}  // namespace

bool counts_work_of_job(std::string_view key) {
  return std::ranges::any_of(work_keys, [key](auto word) { return key.starts_with(word); });
}

void WorkUnits::add(std::string_view key, std::span<const ledger::Entry> entries,
                    const std::optional<PaidJob>& job) {
  if (key.starts_with(answer_open)) {
    for (const ledger::Entry& entry : entries)
      if (entry.amount < 0 && ledger::has_owner(entry.account.kind))
        askers_[std::string(key.substr(answer_open.size()))] = owner_of(entry.account);
    return;
  }
  OwnerId payer;
  long double units_a_credit = 1;
  if (key.starts_with(answer_end)) {
    const auto asker = askers_.find(std::string(key.substr(answer_end.size())));
    if (asker == askers_.end()) return;
    payer = asker->second;
    askers_.erase(asker);
  } else {
    if (!counts_work_of_job(key) || !job || job->price <= 0 || !(job->units > 0)) return;
    payer = job->client;
    units_a_credit = job->units * micro / static_cast<long double>(job->price);
  }
  for (const ledger::Entry& entry : entries) {
    if (!is_free_pay(entry) || owner_of(entry.account) == payer) continue;
    units_[owner_of(entry.account)] +=
        static_cast<std::uint64_t>(static_cast<long double>(entry.amount) * units_a_credit);
  }
}

std::uint64_t WorkUnits::of(const OwnerId& owner) const {
  const auto found = units_.find(owner);
  return found == units_.end() ? 0 : found->second;
}

}  // namespace weft::settlement
