#include "decisions/ledger/rules.h"

namespace weft::ledger {
namespace {

using Kind = Account::Kind;

bool is_held(Kind kind) { return kind == Kind::held || kind == Kind::held_granted; }
bool is_escrow(Kind kind) { return kind == Kind::escrow || kind == Kind::escrow_granted; }

// Sums of the changes by kind of account.
struct Totals {
  MicroCredits mint = 0;
  MicroCredits free = 0;
  MicroCredits granted = 0;
};

Result<Totals> totals_of(std::string_view key, std::span<const Entry> net) {
  Totals totals;
  for (const Entry& change : net) {
    MicroCredits& sum = change.account.kind == Kind::mint ? totals.mint
                        : is_granted(change.account.kind) ? totals.granted
                                                          : totals.free;
    if (__builtin_add_overflow(sum, change.amount, &sum))
      return fail(ErrorCode::invalid_argument,
                  "The sum of the changes of transaction {} is too large for 64 bits.", key);
  }
  return totals;
}

// True if the transaction makes or takes granted credits other than from or to mint.
bool changes_origin(const Totals& totals) {
  if (totals.mint < 0) return totals.free < 0 || totals.granted < 0;
  if (totals.mint > 0) return totals.free > 0 || totals.granted > 0;
  return totals.granted != 0;
}

// True if `given` may get credits in a transaction that takes some from `taken`.
bool may_follow(const Account& taken, const Account& given) {
  const bool same_owner = given.id == taken.id;
  if (given.kind == Kind::settled) return taken.kind == Kind::owner && same_owner;
  if (taken.kind == Kind::granted && is_granted(given.kind))
    return given.kind == Kind::escrow_granted;
  if (is_held(taken.kind)) {
    if (given.kind == Kind::stake || is_escrow(given.kind)) return false;
    return !is_held(given.kind) || same_owner;
  }
  return true;
}

}  // namespace

Result<> check_rules(std::string_view key, std::span<const Entry> net) {
  WEFT_ASSIGN(const Totals totals, totals_of(key, net));
  if (changes_origin(totals))
    return fail(ErrorCode::permission_denied,
                "Granted credits, and credits earned from them, stay granted: the transaction {} "
                "would turn them into other credits.",
                key);
  for (const Entry& taken : net) {
    if (taken.account.kind == Kind::settled && taken.amount < 0)
      return fail(ErrorCode::permission_denied,
                  "Credits in {} are paid on the chain: the transaction {} may not take them back.",
                  taken.account.text(), key);
  }
  for (const Entry& given : net) {
    if (given.amount <= 0) continue;
    if (given.account.kind == Kind::worker)
      return fail(ErrorCode::permission_denied,
                  "The account {} is closed: its owner has one balance.", given.account.text());
    for (const Entry& taken : net) {
      if (taken.amount >= 0 || may_follow(taken.account, given.account)) continue;
      return fail(ErrorCode::permission_denied,
                  "Credits of {} may not go to {} (transaction {}): granted credits are not "
                  "transferred, held ones neither spent nor staked, and an owner settles its own "
                  "free ones.",
                  taken.account.text(), given.account.text(), key);
    }
  }
  return {};
}

}  // namespace weft::ledger
