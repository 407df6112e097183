// Whatever comes, in whatever order and however often, the balances sum to zero, none is negative but the mint's, each key moves money
// once, a restart forgets nothing, and the log replays to the same balances. WEFT_LONG=1: 5,000,000 events instead of 200,000.
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <random>

#include "service/ledger/ledger.h"

namespace weft::ledger {
namespace {

// A market of a few clients, workers and jobs, driven by one seed. The model beside it keeps balances in the plainest way.
class Market {
 public:
  explicit Market(std::uint64_t seed) : random_(seed) {}

  Transaction next() {
    if (!sent_.empty() && chance(20)) return sent_[pick(sent_.size())];  // A replay.
    Transaction transaction = fresh();
    if (chance(3)) transaction.entries.push_back({account(), amount()});  // A broken one.
    sent_.push_back(transaction);
    if (sent_.size() > 4096) sent_.erase(sent_.begin(), sent_.begin() + 2048);
    return transaction;
  }

 private:
  Transaction fresh() {
    switch (pick(9)) {
      case 0:
        return grant(key(pick(200)), amount());
      case 1:
        return open_escrow(job(pick(500)), key(pick(20)), amount());
      case 2:
      case 3: {
        const auto replicas = static_cast<std::uint32_t>(1 + pick(5));
        std::vector<PublicKey> agreeing;
        for (std::uint32_t i = 0; i < replicas - pick(replicas); ++i) agreeing.push_back(key(100 + i));
        return pay_task({.task = {job(pick(500)), static_cast<std::uint32_t>(pick(64))},
                         .client = key(pick(20)),
                         .price = amount(),
                         .replicas = replicas,
                         .fee_permille = static_cast<std::uint32_t>(pick(100))},
                        agreeing);
      }
      case 4:
        return refund(job(pick(500)), key(pick(20)), amount(), std::to_string(pick(1000)));
      case 5:
        return deposit_stake(Account::client(key(pick(20))), key(pick(20)), amount(), pick(1000));
      case 6:
        return withdraw_stake(key(pick(20)), Account::worker(key(pick(20))), amount(), pick(1000));
      case 7:
        return slash({.task = {job(pick(500)), static_cast<std::uint32_t>(pick(64))},
                      .worker = key(pick(20)),
                      .client = key(pick(20)),
                      .penalty = amount(),
                      .damage = amount(),
                      .stake = amount()});
      default:
        return close_escrow(job(pick(500)), key(pick(20)), amount());
    }
  }
  Account account() { return chance(50) ? Account::client(key(pick(20))) : Account::stake(key(pick(20))); }
  MicroCredits amount() { return static_cast<MicroCredits>(pick(chance(5) ? 1'000'000'000'000 : 10'000)) - (chance(5) ? 5'000 : 0); }
  PublicKey key(std::uint64_t number) {
    PublicKey key;
    std::memcpy(key.bytes.data(), &number, sizeof number);
    return key;
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
};

// The plainest ledger there is, kept beside the one under test, and all that was ever applied.
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
  // As a store would give it to a coordinator that starts again.
  [[nodiscard]] Ledger restarted() const {
    std::vector<Entry> rows;
    for (const auto& [account, amount] : balances) rows.push_back({.account = account, .amount = amount});
    std::vector<Ledger::AppliedKey> applied;
    for (const Transaction& transaction : log) applied.push_back({.key = transaction.key, .job = transaction.job});
    Ledger ledger;
    const auto restored = ledger.restore(rows, applied);
    EXPECT_TRUE(restored.has_value()) << restored.error().message;
    return ledger;
  }
};

// What must hold after each event, of the accounts that it touched; of all of them now and then.
std::string wrong_after(const Ledger& ledger, const Model& model, const Transaction& transaction) {
  MicroCredits total = 0;
  for (const Entry& entry : transaction.entries) {
    total += entry.amount;
    const MicroCredits balance = ledger.balance(entry.account);
    if (balance != model.balances.at(entry.account)) return "differs from the model at " + entry.account.text();
    if (balance < 0 && entry.account.kind != Account::Kind::mint) return "is negative at " + entry.account.text();
  }
  return total == 0 ? "" : "took a transaction that does not sum to zero";
}

TEST(LedgerProperty, SumsToZeroStaysPositiveAndReplaysToTheSameOverRandomEvents) {
  const bool long_run = std::getenv("WEFT_LONG") != nullptr;
  const int seeds = long_run ? 100 : 4;
  constexpr int events = 50'000;
  for (int seed = 1; seed <= seeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Market market(static_cast<std::uint64_t>(seed));
    std::mt19937_64 crashes(static_cast<std::uint64_t>(seed) + 1000);
    auto ledger = std::make_unique<Ledger>();
    Model model;
    int refused = 0;
    int before = 0;
    for (int event = 0; event < events; ++event) {
      const Transaction transaction = market.next();

      const auto result = ledger->apply(transaction);

      if (model.keys.contains(transaction.key)) {
        ASSERT_EQ(result, Applied::before) << "event " << event << ", " << transaction.key;
        ++before;
      } else if (result) {
        ASSERT_EQ(*result, Applied::now);
        model.apply(transaction);
        ASSERT_EQ(wrong_after(*ledger, model, transaction), "") << "event " << event << ", " << transaction.key;
      } else {
        ++refused;
      }
      ASSERT_EQ(ledger->sum(), 0) << "event " << event;
      if (crashes() % 5'000 == 0) {
        ledger = std::make_unique<Ledger>(model.restarted());
        ASSERT_EQ(ledger->balances(), model.without_zeros()) << "event " << event;
      }
    }
    ASSERT_EQ(ledger->balances(), model.without_zeros());
    EXPECT_GT(model.log.size(), 500U);
    EXPECT_GT(refused, 500);
    EXPECT_GT(before, 500);

    // The log alone gives the same ledger, and twice over changes nothing.
    Ledger replayed;
    for (const Transaction& transaction : model.log) ASSERT_EQ(replayed.apply(transaction), Applied::now) << transaction.key;
    for (const Transaction& transaction : model.log) ASSERT_EQ(replayed.apply(transaction), Applied::before) << transaction.key;
    ASSERT_EQ(replayed.balances(), model.without_zeros());
  }
}

// What was refused is as if it had never come: the ledger that sees only what was applied ends the same, whatever stood between.
TEST(LedgerProperty, RefusedTransactionsLeaveNoTrace) {
  const bool long_run = std::getenv("WEFT_LONG") != nullptr;
  for (int seed = 1; seed <= (long_run ? 20 : 1); ++seed) {
    Market market(static_cast<std::uint64_t>(seed) + 5000);
    Ledger ledger;
    int refused = 0;
    for (int event = 0; event < 5'000; ++event) {
      const Transaction transaction = market.next();
      const auto balances = event % 10 == 0 ? ledger.balances() : std::map<Account, MicroCredits>();
      const auto result = ledger.apply(transaction);
      if (result) continue;
      ++refused;
      if (event % 10 == 0) {
        ASSERT_EQ(ledger.balances(), balances) << "seed " << seed << ", event " << event;
      }
      // And its key is not spent.
      ASSERT_EQ(ledger.apply(transaction), result) << "seed " << seed << ", event " << event;
    }
    EXPECT_GT(refused, 100);
  }
}

}  // namespace
}  // namespace weft::ledger
