// Charges become credits once and credits are settled once, on a machine whose power is cut at any
// moment. The ledger is in the real store on a disk that drops or tears unsynced writes; the
// journal is the real file. Requests and answers are lost, duplicated and delayed, a fork takes
// charges back, and each process may end at any moment. WEFT_LONG=1 runs 1,000 histories instead of
// 30. Two controls show that the test finds losses: the histories fail if requests lack the key of
// their crediting, or if syncing is off.
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <random>
#include <vector>

#include "apps/cli/settlement/credit_journal.h"
#include "common/base/format.h"
#include "common/base/long_tests.h"
#include "decisions/ledger/ledger.h"
#include "decisions/settlement/charges.h"
#include "decisions/settlement/test_charged_chain.h"
#include "platform/store/faulty/faulty_disk.h"
#include "platform/store/sqlite/sqlite_store.h"

namespace weft::cli {
namespace {

namespace fs = std::filesystem;
using settlement::ChargedChain;
using settlement::Charges;
using settlement::Crediting;
using settlement::JournalRow;
using store::faulty::FaultyDisk;

constexpr int power_owners = 3;

PublicKey power_owner(int number) {
  PublicKey out;
  out.bytes.fill(static_cast<std::uint8_t>(number + 1));
  return out;
}

struct PowerRules {
  bool keyed = true;        // Requests to the ledger have the crediting's own key.
  bool synchronous = true;  // The store waits until the disk has its writes.
};

// The coordinator's ledger, with payments and settlings only. Everything that it has confirmed is
// in its store.
class StoredLedger {
 public:
  StoredLedger(FaultyDisk& disk, std::string vfs, const fs::path& folder, bool synchronous)
      : disk_(disk),
        path_(folder / "weft.db"),
        options_{.synchronous = synchronous, .vfs = std::move(vfs), .pages_max = 0} {}

  // Returns false while the power is off.
  bool start() {
    end();
    auto opened = store::sqlite::open(path_, options_);
    if (!opened) return is_off(opened.error());
    const auto loaded = (*opened)->load();
    if (!loaded) return is_off(loaded.error());
    ledger_.emplace();
    if (const auto restored = ledger_->restore(loaded->balances, loaded->keys); !restored) {
      wrong_ = restored.error().message;
      return false;
    }
    store_ = std::move(*opened);
    return true;
  }
  void end() {
    store_.reset();
    ledger_.reset();
  }
  [[nodiscard]] bool runs() const { return store_ != nullptr; }

  // Returns true if the ledger confirms the transaction.
  bool asked(const ledger::Transaction& transaction) {
    if (!runs() || disk_.power_is_off()) return false;
    const auto applied = ledger_->apply(transaction);
    if (!applied) {
      wrong_ = applied.error().message;
      return false;
    }
    if (*applied == ledger::Applied::before) return true;
    store::Batch batch;
    batch.transactions.push_back({.transaction = transaction, .time = 1});
    const auto kept = store_->commit(batch);
    if (kept) return true;
    end();  // Ends the process, because its memory now differs from the store.
    return is_off(kept.error());
  }
  [[nodiscard]] ledger::Balances balances(int owner) const {
    return ledger_->balances(OwnerId::of_first(power_owner(owner)));
  }
  // Checks that the stored balances add up.
  void audit() {
    if (const auto sound = store_->audit(); !sound) wrong_ = sound.error().message;
    if (ledger_->sum() != 0) wrong_ = "the ledger does not sum to zero";
  }
  [[nodiscard]] const std::string& wrong() const { return wrong_; }

 private:
  bool is_off(const Error& error) {
    if (!disk_.power_is_off()) wrong_ = error.message;
    return false;
  }

  FaultyDisk& disk_;
  const fs::path path_;
  const store::sqlite::Options options_;
  std::unique_ptr<store::Store> store_;
  std::optional<ledger::Ledger> ledger_;
  std::string wrong_;
};

class PowerHistory {
 public:
  PowerHistory(std::uint64_t seed, PowerRules rules)
      : random_(seed),
        rules_(rules),
        chain_(random_),
        folder_(make_folder()),
        disk_("faulty-credits", seed),
        ledger_(disk_, "faulty-credits", folder_, rules.synchronous) {
    place_.config.bytes.fill(1);
    place_.coordinator.bytes.fill(2);
  }
  ~PowerHistory() {
    ledger_.end();
    fs::remove_all(folder_);
  }

  // Returns a description of the first error, or an empty text.
  std::string run() {
    for (int step = 0; step < 120 && wrong().empty(); ++step) {
      if ((!ledger_.runs() || disk_.power_is_off()) && !restart()) continue;
      switch (random_() % 10) {
        case 0:
        case 1:
          chain_.charge(any_owner(), 1 + random_() % 1000);
          break;
        case 2:
          chain_.fork();
          break;
        case 3:
          chain_.pass(random_() % 60);
          break;
        case 4:
          late_arrives();
          break;
        case 5:
          disk_.cut_power_after(random_() % 40);
          break;
        case 6:
          ledger_.end();
          break;
        case 7:
          settle();
          break;
        default:
          turn(30);
      }
      look(false);
    }
    disk_.cut_power_after(UINT64_MAX);
    ledger_.end();
    if (wrong().empty() && restart()) {
      chain_.pass(ChargedChain::final_slots + 1);
      while (!late_.empty()) late_arrives();
      for (int i = 0; i < 3; ++i) turn(0);
      while (!settlings_.empty() && wrong().empty()) settle_again();
      ledger_.audit();
      look(true);
    }
    return wrong();
  }
  [[nodiscard]] FaultyDisk::Counts disk() { return disk_.counts(); }
  [[nodiscard]] int rows_cut() const { return rows_cut_; }

 private:
  struct Late {
    Hash key;
    Crediting crediting;
  };
  struct Settling {
    int owner = 0;
    MicroCredits amount = 0;
    std::uint64_t number = 0;
  };
  static fs::path make_folder() {
    std::string name = (fs::temp_directory_path() / "weft-credits-XXXXXX").string();
    return ::mkdtemp(name.data());
  }
  int any_owner() { return static_cast<int>(random_() % power_owners); }
  bool chance(std::uint64_t percent) { return random_() % 100 < percent; }
  [[nodiscard]] std::string wrong() const { return wrong_.empty() ? ledger_.wrong() : wrong_; }
  [[nodiscard]] fs::path journal_path() const { return folder_ / "credits.txt"; }

  // Restarts the process, and turns the power on if it was off. Sometimes the power is cut again
  // while the store recovers.
  bool restart() {
    ledger_.end();
    if (disk_.power_is_off()) disk_.restart();
    if (chance(20)) disk_.cut_power_after(1 + random_() % 30);
    const bool runs = ledger_.start();
    if (!runs && !disk_.power_is_off() && wrong().empty()) wrong_ = "the store does not open";
    if (runs) disk_.cut_power_after(UINT64_MAX);
    return runs;
  }

  // Writes a part of a row, as a power cut during the write does.
  void cut_row(const JournalRow& row) {
    const std::string line =
        weft::format("{} {} {} {}\n", row.state == JournalRow::State::open ? "open" : "done",
                     row.crediting.owner.text(), row.crediting.from, row.crediting.to);
    std::ofstream(journal_path(), std::ios::app) << line.substr(0, random_() % line.size());
    ++rows_cut_;
  }
  // Returns false if the process has ended.
  bool append(CreditJournal& journal, const JournalRow& row, std::uint64_t trouble) {
    if (disk_.power_is_off() || (trouble > 0 && chance(5))) {
      cut_row(row);
      return false;
    }
    if (const auto done = journal.append(row); !done) wrong_ = done.error().message;
    return trouble == 0 || !chance(10);
  }

  // Performs the steps of one `weft chain credit`; with `trouble`, the simulated process may be
  // killed after any step.
  void turn(std::uint64_t trouble) {
    auto journal = CreditJournal::open(journal_path(), place_);
    if (!journal) {
      wrong_ = journal.error().message;
      return;
    }
    auto charges = Charges::restore(journal->rows());
    if (!charges) {
      wrong_ = charges.error().message;
      return;
    }
    if (!issue_open(*journal, *charges, trouble)) return;
    for (int i = 0; i < power_owners; ++i) {
      const auto next = charges->seen(power_owner(i), chain_.charged(i, true));
      if (!next) continue;
      const JournalRow row{.state = JournalRow::State::open, .crediting = *next};
      if (!append(*journal, row, trouble)) return;
      if (!charges->written(row)) wrong_ = "a row that was just made does not follow";
    }
    (void)issue_open(*journal, *charges, trouble);
  }
  bool issue_open(CreditJournal& journal, Charges& charges, std::uint64_t trouble) {
    for (const Crediting& crediting : charges.open()) {
      if (!ask(crediting, trouble)) return false;
      const JournalRow row{.state = JournalRow::State::done, .crediting = crediting};
      if (!append(journal, row, trouble)) return false;
      if (!charges.written(row)) wrong_ = "a row that was just made does not follow";
    }
    return true;
  }
  // Returns true if an answer came.
  bool ask(const Crediting& crediting, std::uint64_t trouble) {
    Late out{.key = settlement::key_of(crediting, place_.config), .crediting = crediting};
    if (!rules_.keyed)
      for (auto& byte : out.key.bytes) byte = static_cast<std::uint8_t>(random_());
    if (chance(trouble)) {  // The request is lost or delayed.
      if (chance(50)) late_.push_back(out);
      return false;
    }
    const bool answered = arrives(out);
    if (chance(trouble)) (void)arrives(out);
    if (chance(trouble)) late_.push_back(out);
    return answered && !chance(trouble);
  }
  void late_arrives() {
    if (late_.empty()) return;
    const std::size_t at = random_() % late_.size();
    (void)arrives(late_[at]);
    late_.erase(late_.begin() + static_cast<std::ptrdiff_t>(at));
  }
  bool arrives(const Late& late) {
    std::uint64_t number = 0;
    for (std::size_t i = 0; i < 8; ++i) number |= std::uint64_t{late.key.bytes[i]} << (8 * i);
    return ledger_.asked(ledger::issue(OwnerId::of_first(late.crediting.owner),
                                       static_cast<MicroCredits>(late.crediting.amount()), number));
  }

  // Lets an owner settle credits, and repeats the request with an unchanged number until it is
  // confirmed.
  void settle() {
    if (settlings_.empty()) {
      const int owner = any_owner();
      const MicroCredits free = ledger_.balances(owner).spendable.free;
      if (free == 0) return;
      settlings_.push_back({.owner = owner,
                            .amount = 1 + static_cast<MicroCredits>(random_() % free),
                            .number = ++settlings_made_});
    }
    settle_again();
  }
  void settle_again() {
    const Settling& open = settlings_.front();
    if (!ledger_.asked(
            ledger::settle(OwnerId::of_first(power_owner(open.owner)), open.amount, open.number)) ||
        chance(settlings_made_ % 2 == 0 ? 30 : 0))
      return;
    settled_[static_cast<std::size_t>(open.owner)] += open.amount;
    settlings_.pop_back();
  }

  void look(bool end) {
    if (!ledger_.runs()) return;
    for (int i = 0; i < power_owners && wrong().empty(); ++i) {
      const ledger::Balances has = ledger_.balances(i);
      const MicroCredits all = has.spendable.free + has.settled;
      const auto final = static_cast<MicroCredits>(chain_.charged(i, true));
      const MicroCredits told = settled_[static_cast<std::size_t>(i)];
      if (all > final)
        wrong_ = "more credits than final charges";
      else if (has.settled < told)
        wrong_ = "what an owner was told is settled is not";
      else if (end && (all != final || has.settled != told))
        wrong_ = "credits and charges differ in the end";
    }
  }

  std::mt19937_64 random_;
  const PowerRules rules_;
  ChargedChain chain_;
  const fs::path folder_;
  FaultyDisk disk_;
  StoredLedger ledger_;
  CreditJournal::Place place_;
  std::vector<Late> late_;
  std::vector<Settling> settlings_;  // Unconfirmed settlings, at most one.
  std::uint64_t settlings_made_ = 0;
  std::array<MicroCredits, power_owners> settled_{};
  std::string wrong_;
  int rows_cut_ = 0;
};

int power_histories() { return weft::test::long_tests() ? 1'000 : 30; }

int power_failures(PowerRules rules) {
  int out = 0;
  for (int seed = 0; seed < power_histories(); ++seed)
    out += PowerHistory(static_cast<std::uint64_t>(seed), rules).run().empty() ? 0 : 1;
  return out;
}

TEST(ChargesPower, each_charge_is_credited_once_and_each_settling_kept_wherever_the_power_goes) {
  FaultyDisk::Counts total;
  int rows_cut = 0;
  for (int seed = 0; seed < power_histories(); ++seed) {
    PowerHistory history(static_cast<std::uint64_t>(seed), {});
    ASSERT_EQ(history.run(), "") << "seed " << seed;
    total.writes_lost += history.disk().writes_lost;
    total.writes_torn += history.disk().writes_torn;
    rows_cut += history.rows_cut();
  }
  EXPECT_GT(total.writes_lost + total.writes_torn, 30U) << "the cuts have cost something";
  EXPECT_GT(rows_cut, 10);
}

TEST(ChargesPower, without_the_key_a_lost_answer_pays_twice) {
  EXPECT_GT(power_failures({.keyed = false}), power_histories() / 2);
}

TEST(ChargesPower, without_syncing_what_was_answered_is_lost) {
  EXPECT_GT(power_failures({.synchronous = false}), power_histories() / 10);
}

}  // namespace
}  // namespace weft::cli
