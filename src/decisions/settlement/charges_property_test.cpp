// Each charge is credited exactly once, whatever is lost, duplicated, delayed or reordered between
// chain, journal and ledger, and wherever the process ends: credits never exceed what the chain
// finally holds, and in the end they equal it. Two controls show that the rules are needed: without
// the key, a lost answer pays twice; if charges that are not final count, a fork leaves credits
// without a charge. WEFT_LONG=1 plays 100,000 histories instead of 1,000.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "common/base/long_tests.h"
#include "decisions/ledger/ledger.h"
#include "decisions/settlement/charges.h"
#include "decisions/settlement/test_charged_chain.h"

namespace weft::settlement {
namespace {

constexpr int owners = 3;

struct Rules {
  bool keyed = true;    // True if the ledger is asked with the crediting's own key.
  bool settled = true;  // True if only final charges are read.
};

PublicKey owner_named(int number) {
  PublicKey out;
  out.bytes.fill(static_cast<std::uint8_t>(number + 1));
  return out;
}

class History {
 public:
  History(std::uint64_t seed, Rules rules) : random_(seed), rules_(rules), chain_(random_) {}

  // Plays a history. Returns what went wrong, or an empty string.
  std::string run() {
    for (int step = 0; step < 200 && wrong_.empty(); ++step) {
      switch (random_() % 6) {
        case 0:
          chain_.charge(any_owner(), 1 + random_() % 1000);
          break;
        case 1:
          chain_.fork();
          break;
        case 2:
          chain_.pass(random_() % 40);
          break;
        case 3:
          late_arrives();
          break;
        default:
          turn(30);
      }
      look(false);
    }
    // At the end no more messages are lost, and the last block becomes final.
    chain_.pass(ChargedChain::final_slots + 1);
    while (!late_.empty()) late_arrives();
    for (int i = 0; i < 3; ++i) turn(0);
    look(true);
    return wrong_;
  }

 private:
  struct Ask {
    Hash key;
    Crediting crediting;
  };
  int any_owner() { return static_cast<int>(random_() % owners); }
  bool chance(std::uint64_t percent) { return random_() % 100 < percent; }

  // Runs one pass of the process over all owners. The process may end after any step of it.
  void turn(std::uint64_t trouble) {
    const auto restored = Charges::restore(journal_);
    if (!restored) {
      wrong_ = restored.error().message;
      return;
    }
    Charges charges = *restored;
    const auto ends = [&] { return trouble > 0 && chance(10); };
    for (int i = 0; i < owners; ++i) {
      const auto next = charges.seen(owner_named(i), chain_.charged(i, rules_.settled));
      if (ends()) return;
      if (!next) continue;
      const JournalRow row{.state = JournalRow::State::open, .crediting = *next};
      journal_.push_back(row);
      if (ends()) return;
      if (!charges.written(row)) wrong_ = "a row that was just made does not follow";
    }
    for (const Crediting& crediting : charges.open()) {
      if (ends()) return;
      const bool answered = ask(crediting, trouble);
      if (ends()) return;
      if (answered) journal_.push_back({.state = JournalRow::State::done, .crediting = crediting});
    }
  }

  // Asks the ledger. Returns true if an answer came.
  bool ask(const Crediting& crediting, std::uint64_t trouble) {
    Ask out{.key = key_of(crediting, {}), .crediting = crediting};
    if (!rules_.keyed)
      for (auto& byte : out.key.bytes) byte = static_cast<std::uint8_t>(random_());
    if (chance(trouble)) {  // The question is lost, or arrives much later.
      if (chance(50)) late_.push_back(out);
      return false;
    }
    arrives(out);
    if (chance(trouble)) arrives(out);  // The question is duplicated.
    // The question is duplicated, and the copy arrives much later.
    if (chance(trouble)) late_.push_back(out);
    return !chance(trouble);  // The answer is lost.
  }
  void late_arrives() {
    if (late_.empty()) return;
    const std::size_t at = random_() % late_.size();
    arrives(late_[at]);
    late_.erase(late_.begin() + static_cast<std::ptrdiff_t>(at));
  }
  void arrives(const Ask& ask) {
    std::uint64_t number = 0;
    for (std::size_t i = 0; i < 8; ++i) number |= std::uint64_t{ask.key.bytes[i]} << (8 * i);
    const auto applied =
        ledger_.apply(ledger::issue(OwnerId::of_first(ask.crediting.owner),
                                    static_cast<MicroCredits>(ask.crediting.amount()), number));
    if (!applied) wrong_ = applied.error().message;
  }

  void look(bool end) {
    for (int i = 0; i < owners && wrong_.empty(); ++i) {
      const auto has = static_cast<std::uint64_t>(
          ledger_.balances(OwnerId::of_first(owner_named(i))).spendable.free);
      const std::uint64_t final = chain_.charged(i, true);
      if (has > final && rules_.settled)
        wrong_ = "more credits than final charges";
      else if (end && has != final)
        wrong_ = "credits and charges differ in the end";
    }
  }

  std::mt19937_64 random_;
  Rules rules_;
  ChargedChain chain_;
  std::vector<JournalRow> journal_;
  std::vector<Ask> late_;
  ledger::Ledger ledger_;
  std::string wrong_;
};

int histories() { return weft::test::long_tests() ? 100'000 : 1'000; }

int failures(Rules rules) {
  int out = 0;
  for (int seed = 0; seed < histories(); ++seed)
    out += History(static_cast<std::uint64_t>(seed), rules).run().empty() ? 0 : 1;
  return out;
}

TEST(DepositHistories, each_deposit_is_credited_once) {
  for (int seed = 0; seed < histories(); ++seed)
    ASSERT_EQ(History(static_cast<std::uint64_t>(seed), {}).run(), "") << "seed " << seed;
}

TEST(DepositHistories, without_the_key_a_lost_answer_pays_twice) {
  EXPECT_GT(failures({.keyed = false}), histories() / 2);
}

TEST(DepositHistories, with_deposits_that_are_not_final_a_fork_leaves_credits_without_them) {
  EXPECT_GT(failures({.settled = false}), histories() / 10);
}

}  // namespace
}  // namespace weft::settlement
