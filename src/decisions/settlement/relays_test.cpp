// The cost of relayed claims is taken off their owners' units once for each transaction that
// landed, wherever the process ends and whatever a node loses or a fork takes back. Two controls:
// if no row is written before the transaction is sent, its fee is lost; if fees of transactions
// that are not final count, a fork leaves fees that no transaction paid.
#include "decisions/settlement/relays.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>

namespace weft::settlement {
namespace {

PublicKey relay_owner(int number) {
  PublicKey out;
  out.bytes.fill(static_cast<std::uint8_t>(number + 1));
  return out;
}
Signature signature_of(std::uint64_t number) {
  Signature out;
  for (std::size_t i = 0; i < 8; ++i) out.bytes[i] = static_cast<std::uint8_t>(number >> (8 * i));
  return out;
}
RelayRow sent(int owner, std::uint64_t number) {
  return {.owner = relay_owner(owner), .signature = signature_of(number)};
}
RelayRow done(int owner, std::uint64_t number, std::uint64_t lamports) {
  return {.state = RelayRow::State::done,
          .owner = relay_owner(owner),
          .signature = signature_of(number),
          .lamports = lamports};
}
RelayRow expired(int owner, std::uint64_t number) {
  RelayRow row = sent(owner, number);
  row.state = RelayRow::State::expired;
  return row;
}

TEST(Relays, CountWhatLandedAndNothingElse) {
  const std::vector<RelayRow> journal = {sent(0, 1),    sent(1, 2), done(0, 1, 5000),
                                         expired(1, 2), sent(0, 3), done(0, 3, 6001),
                                         sent(1, 4)};
  const auto relays = Relays::restore(journal).value();

  EXPECT_EQ(relays.lamports(relay_owner(0)), 11'001U);
  EXPECT_EQ(relays.lamports(relay_owner(1)), 0U);
  EXPECT_EQ(relays.open(), std::vector{sent(1, 4)});
}

TEST(Relays, ARowThatDoesNotFollowIsRefused) {
  const auto refused = [](const std::vector<RelayRow>& journal) {
    const auto restored = Relays::restore(journal);
    return !restored && restored.error().code == ErrorCode::data_loss;
  };
  EXPECT_TRUE(refused({done(0, 1, 5)})) << "never sent";
  EXPECT_TRUE(refused({sent(0, 1), sent(0, 2)})) << "two at a time";
  EXPECT_TRUE(refused({sent(0, 1), done(0, 1, 5), done(0, 1, 5)})) << "paid twice";
  EXPECT_TRUE(refused({sent(0, 1), done(0, 2, 5)})) << "another transaction";
  EXPECT_TRUE(refused({sent(0, 1), done(0, 1, UINT64_MAX), sent(0, 2), done(0, 2, 1)}))
      << "fees that wrap around to nothing";
  EXPECT_TRUE(refused({sent(0, 1), done(1, 1, 5)})) << "another owner";
}

TEST(Relays, TakeUnitsAndNoMore) {
  const auto relays = Relays::restore(std::vector<RelayRow>{sent(0, 1), done(0, 1, 5001),
                                                            sent(1, 2), done(1, 2, 5001)})
                          .value();
  std::vector<Settled> settled = {{.owner = relay_owner(0), .amount = 7, .units = 30'000},
                                  {.owner = relay_owner(1), .amount = 7, .units = 100},
                                  {.owner = relay_owner(2), .amount = 7, .units = 100}};

  deduct_relays(settled, relays, 5000);

  EXPECT_EQ(relay_units(5001, 5000), 25'005U);
  EXPECT_EQ(relay_units(1, 1), 1U) << "a thousandth of a millionth is rounded up";
  EXPECT_EQ(settled[0].units, 4995U);
  EXPECT_EQ(settled[1].units, 0U);
  EXPECT_EQ(settled[2].units, 100U);
  for (const Settled& one : settled) EXPECT_EQ(one.amount, 7U) << "money is not touched";
}

// The cost that an epoch's work does not cover is made up for by the next epoch's work, and is
// taken once.
TEST(Relays, AnOwnersEpochsTogetherLackTheCostOnce) {
  // The fee is 1,000 units.
  const auto relays = Relays::restore(std::vector<RelayRow>{sent(0, 1), done(0, 1, 1000)}).value();
  const auto rows = [&](std::span<const solana::Earned> before, std::uint64_t units) {
    std::vector<Settled> settled = {{.owner = relay_owner(0), .amount = 10, .units = units},
                                    {.owner = relay_owner(1), .amount = 10, .units = units}};
    deduct_relays(settled, relays, 1000);
    return next_rows(before, settled, {.available = 20, .emission = 100}).value().rows;
  };
  const auto first = rows({}, 2000);
  const auto second = rows(first, 5000);

  EXPECT_EQ(first[0].units, 1000U);
  EXPECT_EQ(second[0].units - first[0].units, 3000U) << "not taken again";
  EXPECT_EQ(second[1].units - first[1].units, 3000U);
}

struct RelayRules {
  bool written_first = true;  // True if the row is on disk before the transaction is sent.
  bool settled = true;        // True if only fees of final transactions count.
};

// A chain on which transactions land, are lost in a fork while they are not final, and expire.
struct RelayChain {
  struct Transaction {
    std::uint64_t number, expires, fee;
    std::optional<std::uint64_t> landed = {};
  };
  std::mt19937_64& random;
  std::uint64_t slot = 1;
  std::vector<Transaction> transactions = {};

  Transaction& of(std::uint64_t number) {
    return *std::ranges::find(transactions, number, &Transaction::number);
  }
  void send(std::uint64_t number) {
    Transaction& one = of(number);
    if (!one.landed && slot <= one.expires && random() % 3 != 0) one.landed = slot;
  }
  [[nodiscard]] bool is_final(const Transaction& one) const {
    return one.landed && *one.landed + 32 <= slot;
  }
  void fork() {
    for (Transaction& one : transactions)
      if (one.landed && !is_final(one) && random() % 2 == 0) one.landed.reset();
  }
};

// Plays a random history. Returns the fees that the rows take, and the fees that were paid.
std::pair<std::uint64_t, std::uint64_t> play(std::uint64_t seed, const RelayRules& rules) {
  std::mt19937_64 random(seed);
  RelayChain chain{random};
  std::vector<RelayRow> disk;
  std::uint64_t numbers = 0;
  for (int run = 0; run < 12; ++run) {  // Each run of the process ends at a random step.
    const auto ends = [&] { return run < 11 && random() % 5 == 0; };
    auto relays = Relays::restore(disk).value();
    const auto write = [&](const RelayRow& row) {
      disk.push_back(row);
      EXPECT_TRUE(relays.written(row));
    };
    const int owner = static_cast<int>(random() % 3);
    if (!relays.is_under_way(relay_owner(owner))) {
      const std::uint64_t number = ++numbers;
      chain.transactions.push_back(
          {.number = number, .expires = chain.slot + 150, .fee = 5000 + random() % 100});
      if (rules.written_first) write(sent(owner, number));
      if (ends()) continue;
      chain.send(number);
      if (ends()) continue;  // The answer is lost with the process.
      if (!rules.written_first) write(sent(owner, number));
    }
    chain.slot += random() % 60;
    if (random() % 3 == 0) chain.fork();
    if (ends()) continue;
    for (const RelayRow& open : relays.open()) {
      std::uint64_t number = 0;
      for (std::size_t i = 8; i-- > 0;) number = number << 8 | open.signature.bytes[i];
      const int whose = open.owner.bytes[0] - 1;
      for (int poll = 0; poll < 40; ++poll) {
        const auto& one = chain.of(number);
        if (rules.settled ? chain.is_final(one) : one.landed.has_value()) {
          if (!ends()) write(done(whose, number, one.fee));
          break;
        }
        if (!one.landed && chain.slot > one.expires) {
          if (!ends()) write(expired(whose, number));
          break;
        }
        chain.send(number);
        chain.slot += 1 + random() % 10;
        if (random() % 8 == 0) chain.fork();
      }
    }
  }
  chain.slot += 1000;
  // A last run, which is not cut short.
  auto relays = Relays::restore(disk).value();
  for (const RelayRow& open : relays.open()) {
    std::uint64_t number = 0;
    for (std::size_t i = 8; i-- > 0;) number = number << 8 | open.signature.bytes[i];
    const int whose = open.owner.bytes[0] - 1;
    const auto& one = chain.of(number);
    EXPECT_TRUE(relays.written(one.landed ? done(whose, number, one.fee) : expired(whose, number)));
  }
  std::uint64_t taken = 0, paid = 0;
  for (int i = 0; i < 3; ++i) taken += relays.lamports(relay_owner(i));
  for (const auto& one : chain.transactions) paid += one.landed ? one.fee : 0;
  return {taken, paid};
}

TEST(Relays, AThousandHistoriesTakeWhatWasPaid) {
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    const auto [taken, paid] = play(seed, {});
    ASSERT_EQ(taken, paid) << "seed " << seed;
  }
}

TEST(Relays, WithoutTheRowBeforehandOrOfWhatIsNotFinalTheSumsDiffer) {
  std::size_t lost = 0, forked = 0;
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    const auto late = play(seed, {.written_first = false});
    lost += late.first < late.second;
    const auto early = play(seed, {.settled = false});
    forked += early.first > early.second;
  }
  EXPECT_GT(lost, 100U);
  EXPECT_GT(forked, 20U);
}

}  // namespace
}  // namespace weft::settlement
