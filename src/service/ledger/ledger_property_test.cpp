// Whatever comes, in whatever order and however often, the balances sum to zero and none is negative but the mint's.
#include <gtest/gtest.h>

#include <cstdlib>
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

TEST(LedgerProperty, SumsToZeroAndStaysPositiveOverRandomEvents) {
  const bool long_run = std::getenv("WEFT_LONG") != nullptr;
  const int seeds = long_run ? 100 : 4;
  constexpr int events = 50'000;
  for (int seed = 1; seed <= seeds; ++seed) {
    Market market(static_cast<std::uint64_t>(seed));
    Ledger ledger;
    std::map<Account, MicroCredits> model;
    std::unordered_set<std::string> applied;
    int moved = 0;
    int refused = 0;
    for (int event = 0; event < events; ++event) {
      const Transaction transaction = market.next();

      const auto result = ledger.apply(transaction);

      const bool replay = applied.contains(transaction.key);
      if (replay) {
        ASSERT_EQ(result, Applied::before) << "seed " << seed << ", event " << event << ", " << transaction.key;
        continue;
      }
      if (!result) {
        ++refused;
        continue;
      }
      ++moved;
      applied.insert(transaction.key);
      MicroCredits total = 0;
      for (const Entry& entry : transaction.entries) {
        total += entry.amount;
        model[entry.account] += entry.amount;
      }
      ASSERT_EQ(total, 0) << "seed " << seed << ", event " << event;
      for (const Entry& entry : transaction.entries) {
        const MicroCredits balance = ledger.balance(entry.account);
        ASSERT_EQ(balance, model[entry.account]) << "seed " << seed << ", event " << event << ", " << entry.account.text();
        if (entry.account.kind != Account::Kind::mint) {
          ASSERT_GE(balance, 0) << "seed " << seed << ", event " << event << ", " << entry.account.text();
        }
      }
      ASSERT_EQ(ledger.sum(), 0) << "seed " << seed << ", event " << event;
    }
    std::erase_if(model, [](const auto& row) { return row.second == 0; });
    EXPECT_EQ(ledger.balances(), model) << "seed " << seed;
    EXPECT_GT(moved, 500) << "seed " << seed;
    EXPECT_GT(refused, 500) << "seed " << seed;
  }
}

}  // namespace
}  // namespace weft::ledger
