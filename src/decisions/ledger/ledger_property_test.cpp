// Properties for any transactions, in any order and repeated: the balances sum to zero, no balance
// but mint's is negative, granted credits stay granted to the last one, each key moves money once,
// a restart forgets nothing, and a replay of the log gives equal balances. WEFT_LONG=1: 5,000,000
// events instead of 200,000.
#include <gtest/gtest.h>

#include <memory>
#include <random>

#include "common/base/long_tests.h"
#include "decisions/ledger/ledger.h"

namespace weft::ledger {
namespace {

// A market of a few clients, workers and jobs, driven by one seed. The Model beside it keeps
// balances in the simplest way.
class Market {
 public:
  explicit Market(std::uint64_t seed) : random_(seed) {}

  // The next transaction. Most transactions fit the balances in `ledger`.
  Transaction next(const Ledger& ledger) {
    // Sends an earlier transaction again.
    if (!sent_.empty() && chance(20)) return sent_[pick(sent_.size())];
    Transaction transaction = fresh(ledger);
    // Makes the transaction invalid.
    if (chance(3)) transaction.entries.push_back({account(), amount()});
    if (chance(3)) {  // Moves credits between any two accounts.
      const MicroCredits moved = amount();
      transaction.entries.push_back({account(), moved});
      transaction.entries.push_back({account(), -moved});
    }
    sent_.push_back(transaction);
    if (sent_.size() > 4096) sent_.erase(sent_.begin(), sent_.begin() + 2048);
    return transaction;
  }

 private:
  Transaction fresh(const Ledger& ledger) {
    const OwnerId client = owner(pick(20));
    const JobId of = job(pick(500));
    const TaskId task{of, static_cast<std::uint32_t>(pick(64))};
    const Funds escrow = chance(95) ? ledger.escrow(of) : funds();
    switch (pick(15)) {
      case 0:
        return grant(owner(pick(200)), amount());
      case 1:
        return issue(client, amount(), pick(1000));
      case 2:
        return open_escrow(of, client, amount(), chance(95) ? ledger.spendable(client) : funds());
      case 3:
      case 4: {
        const auto replicas = static_cast<std::uint32_t>(1 + pick(5));
        std::vector<OwnerId> agreeing;
        for (std::uint32_t i = 0; i < replicas - pick(replicas); ++i)
          agreeing.push_back(owner(chance(50) ? 100 + i : pick(20)));
        const TaskPay pay{.task = task,
                          .client = client,
                          .price = price(),
                          .replicas = replicas,
                          .fee_permille = static_cast<std::uint32_t>(pick(100)),
                          .verification_permille = static_cast<std::uint32_t>(pick(100))};
        auto payees = equal_shares(pay, agreeing);
        for (Payee& payee : payees) {
          payee.as = chance(30) ? PayAs::held : PayAs::free;
          payee.staked = chance(30) ? price() : 0;
        }
        Transaction transaction = pay_task(pay, payees, agreeing.size(), escrow);
        for (const OwnerId& worker : agreeing)
          held_.push_back({.task = task,
                           .worker = PublicKey{{worker.bytes}},
                           .owner = worker,
                           .funds = held_by(transaction, worker)});
        return transaction;
      }
      case 5:
        return refund(of, client, amount(), std::to_string(pick(1000)), escrow);
      case 6:
        return deposit_stake(client, amount(), pick(1000));
      case 7:
        return withdraw_stake(client, amount(), pick(1000));
      case 8:
        return slash({.task = task,
                      .worker = PublicKey{{client.bytes}},
                      .owner = client,
                      .client = owner(pick(20)),
                      .penalty = amount(),
                      .damage = amount(),
                      .stake = chance(95) ? ledger.balance(Account::stake(client)) : amount()});
      case 9:
        return transfer(client, owner(pick(20)), amount(), pick(1000));
      case 12:
        return settle(client, amount(), pick(1000));
      case 13: {
        const auto part = [&](const Funds& has) {
          return chance(95) ? granted_first(has, std::min(price(), has.total())) : funds();
        };
        const MicroCredits stake = ledger.balance(Account::stake(client));
        return refund_wrong({.task = task,
                             .time = static_cast<std::int64_t>(pick(1000)),
                             .client = owner(pick(20)),
                             .platform = part(ledger.platform()),
                             .verification = part(ledger.verification()),
                             .worker = client,
                             .stake = chance(95) ? std::min(price(), stake) : price()});
      }
      case 10:
      case 11: {
        if (held_.empty()) return grant(owner(pick(200)), amount());
        const HeldPay held = held_[pick(held_.size())];
        if (held_.size() > 500) held_.erase(held_.begin(), held_.begin() + 250);
        if (chance(60)) return release(held);
        return forfeit(held, chance(50) ? std::optional(owner(pick(20))) : std::nullopt);
      }
      default:
        if (chance(30))
          return pay_verifier(task, PublicKey{{client.bytes}}, client,
                              std::min(price(), ledger.verification().total()),
                              ledger.verification());
        return close_escrow(of, client, escrow);
    }
  }
  Account account() {
    const OwnerId some = owner(pick(20));
    switch (pick(9)) {
      case 0:
        return Account::owner(some);
      case 1:
        return Account::granted(some);
      case 2:
        return Account::held(some);
      case 3:
        return Account::held_granted(some);
      case 4:
        return Account::verification_granted();
      case 5:
        return Account::escrow_granted(job(pick(500)));
      case 6:
        return chance(10) ? Account::mint() : Account::platform();
      case 7:
        return Account::settled(some);
      default:
        return Account::stake(some);
    }
  }
  MicroCredits amount() { return price() - (chance(5) ? 5'000 : 0); }
  MicroCredits price() {
    return static_cast<MicroCredits>(pick(chance(5) ? 1'000'000'000'000 : 10'000));
  }
  Funds funds() { return {.free = price(), .granted = price()}; }
  OwnerId owner(std::uint64_t number) {
    OwnerId made;
    std::memcpy(made.bytes.data(), &number, sizeof number);
    return made;
  }
  JobId job(std::uint64_t number) {
    JobId job;
    std::memcpy(job.bytes.data(), &number, sizeof number);
    return job;
  }
  std::uint64_t pick(std::uint64_t bound) { return random_() % bound; }
  bool chance(std::uint64_t percent) { return pick(100) < percent; }

  std::mt19937_64 random_;
  std::vector<Transaction> sent_;
  std::vector<HeldPay> held_;
};

// The simplest possible ledger, kept beside the one under test, with all applied transactions.
struct Model {
  std::map<Account, MicroCredits> balances;
  std::unordered_set<std::string> keys;
  std::vector<Transaction> log;

  void apply(const Transaction& transaction) {
    for (const Entry& entry : transaction.entries) balances[entry.account] += entry.amount;
    keys.insert(transaction.key);
    log.push_back(transaction);
  }
  [[nodiscard]] std::map<Account, MicroCredits> without_zeros() const {
    auto rows = balances;
    std::erase_if(rows, [](const auto& row) { return row.second == 0; });
    return rows;
  }
  // A ledger restored from rows, as by a coordinator that starts again.
  [[nodiscard]] Ledger restarted() const {
    std::vector<Entry> rows;
    for (const auto& [account, amount] : balances)
      rows.push_back({.account = account, .amount = amount});
    std::vector<Ledger::AppliedKey> applied;
    for (const Transaction& transaction : log)
      applied.push_back({.key = transaction.key, .job = transaction.job});
    Ledger ledger;
    const auto restored = ledger.restore(rows, applied);
    EXPECT_TRUE(restored.has_value()) << restored.error().message;
    return ledger;
  }
};

// The free and the granted credits that came from mint, and those that the accounts hold now.
struct Minted {
  Funds given;
  // Counts a transaction that was applied.
  void note(const Transaction& transaction) {
    MicroCredits mint = 0;
    Funds sum;
    for (const Entry& entry : transaction.entries) {
      if (entry.account.kind == Account::Kind::mint)
        mint += entry.amount;
      else
        (is_granted(entry.account.kind) ? sum.granted : sum.free) += entry.amount;
    }
    if (mint == 0) return;
    given.free += sum.free;
    given.granted += sum.granted;
  }
  [[nodiscard]] static Funds there(const Ledger& ledger) {
    Funds sum;
    for (const auto& [account, amount] : ledger.balances()) {
      if (account.kind == Account::Kind::mint) continue;
      (is_granted(account.kind) ? sum.granted : sum.free) += amount;
    }
    return sum;
  }
};

// Checks the invariants after an event: after each event for the accounts that it touched, and now
// and then for all accounts.
std::string wrong_after(const Ledger& ledger, const Model& model, const Transaction& transaction) {
  MicroCredits total = 0;
  MicroCredits settled = 0;
  for (const Entry& entry : transaction.entries) {
    total += entry.amount;
    const MicroCredits balance = ledger.balance(entry.account);
    if (balance != model.balances.at(entry.account))
      return "differs from the model at " + entry.account.text();
    if (balance < 0 && entry.account.kind != Account::Kind::mint)
      return "is negative at " + entry.account.text();
    settled += entry.account.kind == Account::Kind::settled ? entry.amount : 0;
  }
  if (settled < 0) return "took back what was settled";
  return total == 0 ? "" : "took a transaction that does not sum to zero";
}

TEST(LedgerProperty, SumsToZeroStaysPositiveAndReplaysToTheSameOverRandomEvents) {
  const bool long_run = weft::test::long_tests();
  const int seeds = long_run ? 100 : 4;
  constexpr int events = 50'000;
  for (int seed = 1; seed <= seeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Market market(static_cast<std::uint64_t>(seed));
    std::mt19937_64 crashes(static_cast<std::uint64_t>(seed) + 1000);
    auto ledger = std::make_unique<Ledger>();
    Model model;
    Minted minted;
    int refused = 0;
    int before = 0;
    for (int event = 0; event < events; ++event) {
      const Transaction transaction = market.next(*ledger);

      const auto result = ledger->apply(transaction);

      if (model.keys.contains(transaction.key)) {
        ASSERT_EQ(result, Applied::before) << "event " << event << ", " << transaction.key;
        ++before;
      } else if (result) {
        ASSERT_EQ(*result, Applied::now);
        model.apply(transaction);
        minted.note(transaction);
        ASSERT_EQ(wrong_after(*ledger, model, transaction), "")
            << "event " << event << ", " << transaction.key;
      } else {
        ++refused;
      }
      ASSERT_EQ(ledger->sum(), 0) << "event " << event;
      if (event % 50 == 0) {
        ASSERT_EQ(Minted::there(*ledger), minted.given) << "event " << event;
      }
      if (crashes() % 5'000 == 0) {
        ledger = std::make_unique<Ledger>(model.restarted());
        ASSERT_EQ(ledger->balances(), model.without_zeros()) << "event " << event;
      }
    }
    ASSERT_EQ(ledger->balances(), model.without_zeros());
    EXPECT_GT(model.log.size(), 500U);
    EXPECT_GT(refused, 500);
    EXPECT_GT(before, 500);
    EXPECT_GT(minted.given.granted, 0);
    EXPECT_GT(Minted::there(*ledger).free, 0);

    // A replay of the log alone gives an equal ledger, and a second replay changes nothing.
    Ledger replayed;
    for (const Transaction& transaction : model.log)
      ASSERT_EQ(replayed.apply(transaction), Applied::now) << transaction.key;
    for (const Transaction& transaction : model.log)
      ASSERT_EQ(replayed.apply(transaction), Applied::before) << transaction.key;
    ASSERT_EQ(replayed.balances(), model.without_zeros());
  }
}

// A refused transaction has no effect: a ledger that gets only the applied transactions ends with
// balances equal to those of a ledger that also got the refused ones.
TEST(LedgerProperty, RefusedTransactionsLeaveNoTrace) {
  const bool long_run = weft::test::long_tests();
  for (int seed = 1; seed <= (long_run ? 20 : 1); ++seed) {
    Market market(static_cast<std::uint64_t>(seed) + 5000);
    Ledger ledger;
    int refused = 0;
    for (int event = 0; event < 5'000; ++event) {
      const Transaction transaction = market.next(ledger);
      const auto balances = event % 10 == 0 ? ledger.balances() : std::map<Account, MicroCredits>();
      const auto result = ledger.apply(transaction);
      if (result) continue;
      ++refused;
      if (event % 10 == 0) {
        ASSERT_EQ(ledger.balances(), balances) << "seed " << seed << ", event " << event;
      }
      // The key of the refused transaction is not used up.
      ASSERT_EQ(ledger.apply(transaction), result) << "seed " << seed << ", event " << event;
    }
    EXPECT_GT(refused, 100);
  }
}

}  // namespace
}  // namespace weft::ledger
