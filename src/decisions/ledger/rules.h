// The rules for granted and held credits, which hold for every transaction.
#pragma once

#include <span>
#include <string_view>

#include "common/base/result.h"
#include "common/records/transaction.h"

namespace weft::ledger {

// Checks the rules. `net` holds the changes of a transaction that sum to zero, each account once.
// Fails with permission_denied if
//
// - granted credits would turn into other credits: without mint, the changes of granted accounts
// sum
//   to zero, and so do those of all other accounts; mint gives to both kinds or takes from both. A
//   stake has no granted account, so granted credits are never staked;
// - an owner's granted credits would go anywhere but into an escrow or back to mint: they are not
//   transferred;
// - held credits would be spent, staked, or held for another owner;
// - an account of older histories (worker) would get credits.
[[nodiscard]] Result<> check_rules(std::string_view key, std::span<const Entry> net);

}  // namespace weft::ledger
