// The journal of relayed claims: sent transactions survive a crash with their bytes, a truncated
// line is removed, and a reader can read the file while it is written.
#include "apps/cli/settlement/relay_journal.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace weft::cli {
namespace {

class RelayJournalTest : public testing::Test {
 protected:
  RelayJournalTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "weft-relays-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    place_.config.bytes.fill(1);
    place_.units_a_sol = 5000;
    owner_.bytes.fill(3);
    transaction_.bytes = {1, 2, 3, 250};
    transaction_.signature.bytes.fill(7);
    transaction_.last_valid_height = 99;
  }
  ~RelayJournalTest() override { std::filesystem::remove_all(folder_); }
  [[nodiscard]] std::filesystem::path path() const { return folder_ / "relays.txt"; }
  [[nodiscard]] settlement::RelayRow landed() const {
    return {.state = settlement::RelayRow::State::done,
            .owner = owner_,
            .signature = transaction_.signature,
            .lamports = 5000};
  }

  std::filesystem::path folder_;
  RelayJournal::Place place_;
  PublicKey owner_;
  chain::SignedTransaction transaction_;
};

TEST_F(RelayJournalTest, WhatWasSentIsThereAfterTheProcessEnds) {
  ASSERT_TRUE(RelayJournal::open(path(), place_).value().sent(owner_, transaction_));
  {
    auto journal = RelayJournal::open(path(), place_).value();
    ASSERT_EQ(journal.relays().open().size(), 1U);
    const auto& kept = journal.transactions().at(transaction_.signature);
    EXPECT_EQ(kept.bytes, transaction_.bytes);
    EXPECT_EQ(kept.last_valid_height, 99U);
    EXPECT_EQ(read_relays(path())->relays.lamports(owner_), 0U) << "read while it is open";
    ASSERT_TRUE(journal.ended(landed()));
  }
  const auto journal = RelayJournal::open(path(), place_).value();
  EXPECT_TRUE(journal.relays().open().empty());
  EXPECT_TRUE(journal.transactions().empty());
  const auto read = read_relays(path());
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->relays.lamports(owner_), 5000U);
  EXPECT_EQ(read->place.units_a_sol, 5000U);
  EXPECT_EQ(read->place.config, place_.config);
}

TEST_F(RelayJournalTest, ALineThatWasCutShortNeverWas) {
  ASSERT_TRUE(RelayJournal::open(path(), place_).value().sent(owner_, transaction_));
  std::ofstream(path(), std::ios::app) << "done " << owner_.text();

  EXPECT_EQ(read_relays(path())->relays.open().size(), 1U);
  EXPECT_EQ(RelayJournal::open(path(), place_)->relays().open().size(), 1U);
}

TEST_F(RelayJournalTest, OtherNetworksRatesAndLinesAreRefused) {
  ASSERT_TRUE(RelayJournal::open(path(), place_));
  auto other = place_;
  other.units_a_sol = 6000;
  EXPECT_EQ(RelayJournal::open(path(), other).error().code, ErrorCode::invalid_argument);
  std::ofstream(path(), std::ios::app)
      << "done " << owner_.text() << " " << transaction_.signature.text() << " 5000\n";
  EXPECT_EQ(RelayJournal::open(path(), place_).error().code, ErrorCode::data_loss) << "never sent";
  EXPECT_EQ(read_relays(path()).error().code, ErrorCode::data_loss);
  std::ofstream(folder_ / "no.txt") << "weft-credits-1 x y\n";
  EXPECT_EQ(read_relays(folder_ / "no.txt").error().code, ErrorCode::data_loss);
  std::ofstream(folder_ / "empty.txt") << "";
  EXPECT_EQ(read_relays(folder_ / "empty.txt").error().code, ErrorCode::data_loss);
}

}  // namespace
}  // namespace weft::cli
