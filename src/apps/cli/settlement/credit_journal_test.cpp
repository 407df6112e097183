// The journal of credited charges: written rows survive a crash, a truncated line is removed, and
// the file of another network is refused.
#include "apps/cli/settlement/credit_journal.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace weft::cli {
namespace {

using settlement::JournalRow;

class CreditJournalTest : public testing::Test {
 protected:
  CreditJournalTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "weft-journal-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    place_.config.bytes.fill(1);
    place_.coordinator.bytes.fill(2);
    row_.crediting.owner.bytes.fill(3);
    row_.crediting.to = 5;
  }
  ~CreditJournalTest() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::filesystem::path path() const { return folder_ / "credits.txt"; }
  void add(std::string_view text) const { std::ofstream(path(), std::ios::app) << text; }

  std::filesystem::path folder_;
  CreditJournal::Place place_;
  JournalRow row_;
};

TEST_F(CreditJournalTest, rows_are_there_after_the_process_ends) {
  {
    auto journal = CreditJournal::open(path(), place_);
    ASSERT_TRUE(journal) << journal.error().message;
    ASSERT_TRUE(journal->append(row_));
  }
  const auto again = CreditJournal::open(path(), place_);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->rows(), std::vector{row_});
}

TEST_F(CreditJournalTest, a_line_that_a_crash_cut_short_is_taken_off) {
  {
    ASSERT_TRUE(CreditJournal::open(path(), place_)->append(row_));
  }
  add("done 3333 0 ");
  {
    auto journal = CreditJournal::open(path(), place_);
    ASSERT_TRUE(journal) << journal.error().message;
    EXPECT_EQ(journal->rows().size(), 1U);
    row_.state = JournalRow::State::done;
    ASSERT_TRUE(journal->append(row_));
  }
  EXPECT_EQ(CreditJournal::open(path(), place_)->rows().size(), 2U);
}

TEST_F(CreditJournalTest, another_network_a_wrong_line_and_a_second_process_are_refused) {
  auto journal = CreditJournal::open(path(), place_);
  ASSERT_TRUE(journal);
  EXPECT_EQ(CreditJournal::open(path(), place_).error().code, ErrorCode::unavailable);
  {
    const CreditJournal ended = std::move(*journal);
  }
  auto other = place_;
  other.config.bytes.fill(9);
  EXPECT_EQ(CreditJournal::open(path(), other).error().code, ErrorCode::invalid_argument);
  add("open x 0 5\n");
  const auto broken = CreditJournal::open(path(), place_);
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().code, ErrorCode::data_loss);
}

}  // namespace
}  // namespace weft::cli
