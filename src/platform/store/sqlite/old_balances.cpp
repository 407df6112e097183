#include "platform/store/sqlite/old_balances.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/clock.h"
#include "common/records/funds.h"
#include "platform/store/sqlite/rows.h"

namespace weft::store::sqlite {
namespace {

using ledger::Account;
using Kind = Account::Kind;

struct OldAccount {
  Account name;
  MicroCredits balance = 0;
  std::int64_t last = 0;
  MicroCredits granted = 0;  // The granted part of `balance`.
};
using OldAccounts = std::map<std::int64_t, OldAccount>;  // The accounts, keyed by row.

struct OldMovement {
  std::int64_t account = 0;
  MicroCredits amount = 0;
};

Result<OldAccounts> read_accounts(Connection& connection) {
  OldAccounts accounts;
  WEFT_ASSIGN(Statement all,
              connection.prepare("SELECT id, kind, key, balance, last FROM accounts"));
  all.start();
  for (;;) {
    WEFT_ASSIGN(const bool row, all.next());
    if (!row) return accounts;
    WEFT_ASSIGN(const Account name, account_of(all, 1));
    accounts.emplace(all.integer(0),
                     OldAccount{.name = name, .balance = all.integer(3), .last = all.integer(4)});
  }
}

bool is_grant(std::string_view key) {
  return key.starts_with("grant:") || key.starts_with("grant-key:");
}

// Applies one transaction to the granted part of the balances. Accounts that hold only granted
// credits (of a newer program) need no computation.
void follow(OldAccounts& accounts, std::string_view key,
            const std::vector<OldMovement>& movements) {
  MicroCredits taken = 0;
  std::vector<OldAccount*> getters;
  std::vector<MicroCredits> amounts;
  MicroCredits total = 0;
  for (const OldMovement& movement : movements) {
    OldAccount& account = accounts.at(movement.account);
    if (ledger::is_granted(account.name.kind)) {
      taken -= movement.amount;
    } else if (movement.amount > 0) {
      if (account.name.kind == Kind::mint) continue;
      getters.push_back(&account);
      amounts.push_back(movement.amount);
      total += movement.amount;
    } else if (account.name.kind == Kind::mint) {
      taken += is_grant(key) ? -movement.amount : 0;
    } else {
      const MicroCredits granted = std::min(account.granted, -movement.amount);
      account.granted -= granted;
      taken += granted;
    }
  }
  const MicroCredits granted = std::clamp<MicroCredits>(taken, 0, total);
  const auto parts = ledger::divide({.free = total - granted, .granted = granted}, amounts);
  for (std::size_t i = 0; i < getters.size(); ++i) getters[i]->granted += parts[i].granted;
}

Result<> follow_history(Connection& connection, OldAccounts& accounts) {
  WEFT_ASSIGN(Statement all,
              connection.prepare("SELECT m.seq, t.key, m.account, m.amount FROM movements m JOIN "
                                 "transactions t ON t.seq = m.seq ORDER BY m.number"));
  std::int64_t seq = 0;
  std::string key;
  std::vector<OldMovement> movements;
  all.start();
  for (;;) {
    WEFT_ASSIGN(const bool row, all.next());
    if (!row || all.integer(0) != seq) {
      follow(accounts, key, movements);
      movements.clear();
    }
    if (!row) return {};
    if (!accounts.contains(all.integer(2)))
      return fail(ErrorCode::data_loss, "A movement names the account in row {}, which is missing.",
                  all.integer(2));
    seq = all.integer(0);
    key = all.text(1);
    movements.push_back({.account = all.integer(2), .amount = all.integer(3)});
  }
}

// The accounts to which an old account's free and granted credits go.
struct Places {
  Account free;
  Account granted;
};
Places places_of(const Account& name) {
  Places places{.free = name, .granted = name};
  switch (name.kind) {
    case Kind::worker:
      places.free.kind = Kind::owner;
      places.granted.kind = Kind::granted;
      break;
    case Kind::owner:
    case Kind::stake:
      places.granted.kind = Kind::granted;
      break;
    case Kind::escrow:
      places.granted.kind = Kind::escrow_granted;
      break;
    case Kind::platform:
      places.granted.kind = Kind::platform_granted;
      break;
    case Kind::held:
      places.granted.kind = Kind::held_granted;
      break;
    case Kind::verification:
      places.granted.kind = Kind::verification_granted;
      break;
    default:
      break;
  }
  return places;
}

// Writes the transactions that move the balances.
class Carrier {
 public:
  static Result<Carrier> create(Connection& connection, OldAccounts& accounts) {
    Carrier carrier(accounts);
    WEFT_ASSIGN(carrier.transaction_,
                connection.prepare("INSERT INTO transactions (seq, key, job, what, time, movement) "
                                   "VALUES (?, ?, (SELECT seq FROM jobs WHERE id = ?), ?, ?, ?)"));
    WEFT_ASSIGN(carrier.movement_,
                connection.prepare("INSERT INTO movements VALUES (?, ?, ?, ?, ?, ?)"));
    WEFT_ASSIGN(carrier.account_,
                connection.prepare(
                    "INSERT INTO accounts (id, kind, key, balance, last) VALUES (?, ?, ?, ?, "
                    "?) ON CONFLICT (id) DO UPDATE SET balance = excluded.balance, last = "
                    "excluded.last"));
    WEFT_ASSIGN(Statement latest,
                connection.prepare("SELECT (SELECT coalesce(max(seq), 0) FROM transactions), "
                                   "(SELECT coalesce(max(number), 0) FROM movements)"));
    latest.start();
    WEFT_ASSIGN(const bool row, latest.next());
    if (row) {
      carrier.seq_ = latest.integer(0);
      carrier.number_ = latest.integer(1);
    }
    for (const auto& [id, account] : accounts) {
      carrier.ids_.emplace(account.name, id);
      carrier.latest_id_ = std::max(carrier.latest_id_, id);
    }
    return carrier;
  }

  Result<> carry(const Account& from, const std::vector<ledger::Entry>& entries) {
    const bool of_job = from.kind == Kind::escrow;
    WEFT_OK(transaction_.run(
        ++seq_, "carry:" + from.text(), ByteSpan(from.id).first(of_job ? JobId::size : 0),
        std::string("tells granted credits from free ones"), unix_now(), number_ + 1));
    for (const ledger::Entry& entry : entries) {
      const auto [place, added] = ids_.emplace(entry.account, latest_id_ + 1);
      if (added) accounts_.emplace(++latest_id_, OldAccount{.name = entry.account});
      OldAccount& account = accounts_.at(place->second);
      account.balance += entry.amount;
      WEFT_OK(movement_.run(++number_, place->second, seq_, entry.amount, account.balance,
                            account.last));
      account.last = number_;
      WEFT_OK(account_.run(place->second, static_cast<int>(account.name.kind),
                           ByteSpan(account.name.id), account.balance, account.last));
    }
    return {};
  }

 private:
  explicit Carrier(OldAccounts& accounts) : accounts_(accounts) {}

  OldAccounts& accounts_;
  std::map<Account, std::int64_t> ids_;
  Statement transaction_, movement_, account_;
  std::int64_t seq_ = 0, number_ = 0, latest_id_ = 0;
};

}  // namespace

Result<> carry_balances(Connection& connection) {
  WEFT_ASSIGN(OldAccounts accounts, read_accounts(connection));
  WEFT_OK(follow_history(connection, accounts));
  const std::vector<std::pair<std::int64_t, OldAccount>> before(accounts.begin(), accounts.end());
  WEFT_ASSIGN(Carrier carrier, Carrier::create(connection, accounts));
  for (const auto& [id, account] : before) {
    const auto [free, granted] = places_of(account.name);
    std::vector<ledger::Entry> entries;
    const MicroCredits others = account.balance - account.granted;
    const MicroCredits leaves = account.granted + (free != account.name ? others : 0);
    if (account.name.kind == Kind::mint || leaves == 0) continue;
    entries.push_back({.account = account.name, .amount = -leaves});
    if (free != account.name && others != 0) entries.push_back({.account = free, .amount = others});
    if (account.granted != 0) entries.push_back({.account = granted, .amount = account.granted});
    WEFT_OK(carrier.carry(account.name, entries));
  }
  return {};
}

}  // namespace weft::store::sqlite
