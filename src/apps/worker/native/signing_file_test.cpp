#include "apps/worker/native/signing_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <future>

#include "common/base/format.h"

namespace weft::worker {
namespace {

using Claim = SigningJournal::Claim;

Claim claim_of(std::uint32_t index, std::uint8_t root, std::uint32_t attempt = 1) {
  Claim claim{.key = {.task = {.job = {}, .index = index}, .attempt = attempt}, .root = {}};
  claim.key.task.job.bytes.fill(5);
  claim.root.bytes.fill(root);
  return claim;
}
bool admits(SigningJournal& journal, const Claim& claim) {
  return journal.admit({&claim, 1}).front().has_value();
}

class SigningFileTest : public testing::Test {
 protected:
  SigningFileTest()
      : folder(std::filesystem::path(testing::TempDir()) /
               weft::format("signing-{}",
                            testing::UnitTest::GetInstance()->current_test_info()->name())) {
    std::filesystem::remove_all(folder);
  }
  ~SigningFileTest() override { std::filesystem::remove_all(folder); }
  std::filesystem::path folder;
  std::filesystem::path file = folder / "coordinator";
};

TEST_F(SigningFileTest, ASecondRootIsRefusedAlsoAfterARestart) {
  {
    SigningJournal journal(file);
    EXPECT_TRUE(admits(journal, claim_of(1, 1)));
    EXPECT_TRUE(admits(journal, claim_of(1, 1)));
    EXPECT_FALSE(admits(journal, claim_of(1, 2)));
  }
  SigningJournal journal(file);
  EXPECT_TRUE(admits(journal, claim_of(1, 1)));
  const auto second = claim_of(1, 2);
  const auto answer = journal.admit({&second, 1}).front();
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::already_exists);
  EXPECT_THAT(answer.error().message, testing::HasSubstr("another result of attempt 1 of task"));
  EXPECT_TRUE(admits(journal, claim_of(1, 2, 2)));
}

TEST_F(SigningFileTest, TwoClaimsOfOneCallCannotContradictEachOther) {
  SigningJournal journal(file);
  const std::vector<Claim> both = {claim_of(1, 1), claim_of(1, 2), claim_of(2, 2)};
  const auto answers = journal.admit(both);
  EXPECT_TRUE(answers[0]);
  EXPECT_FALSE(answers[1]);
  EXPECT_TRUE(answers[2]);
}

TEST_F(SigningFileTest, ProcessesWithOneWalletKnowWhatTheOthersHaveSigned) {
  SigningJournal one(file, 8);
  SigningJournal other(file, 8);
  for (std::uint32_t index = 0; index < 100; ++index) {
    EXPECT_TRUE(admits(index % 2 == 0 ? one : other, claim_of(index, 1)));
    EXPECT_FALSE(admits(index % 2 == 0 ? other : one, claim_of(index, 2)));
    // Roots that either process has forgotten meanwhile are refused, too.
    EXPECT_FALSE(admits(one, claim_of(index / 2, 2)));
    EXPECT_FALSE(admits(other, claim_of(index / 2, 2)));
  }
  EXPECT_LE(std::filesystem::file_size(file), 20 + 24 + (8 + 1 + 1) * 56U);
}

// A file system may reuse the inode of a replaced file for a new one.
TEST_F(SigningFileTest, AFileThatWasReplacedTwiceIsReadAnew) {
  for (std::uint32_t round = 0; round < 20; ++round) {
    SigningJournal idle(file, 8);
    SigningJournal busy(file, 8);
    const std::uint32_t first = round * 100;
    EXPECT_TRUE(admits(idle, claim_of(first, 1)));
    for (std::uint32_t index = 1; index <= 20; ++index)
      EXPECT_TRUE(admits(busy, claim_of(first + index, 1)));
    for (std::uint32_t index = 1; index <= 20; ++index)
      EXPECT_FALSE(admits(idle, claim_of(first + index, 2))) << round << ", " << index;
  }
}

TEST_F(SigningFileTest, ARecordThatACrashCutShortIsWrittenAnew) {
  std::uintmax_t whole = 0;
  {
    SigningJournal journal(file);
    EXPECT_TRUE(admits(journal, claim_of(1, 1)));
    whole = std::filesystem::file_size(file);
    EXPECT_TRUE(admits(journal, claim_of(2, 1)));
  }
  std::filesystem::resize_file(file, whole + 13);
  SigningJournal journal(file);
  EXPECT_TRUE(admits(journal, claim_of(2, 3)));  // The record of this claim was not acknowledged.
  EXPECT_FALSE(admits(journal, claim_of(1, 2)));
  EXPECT_EQ(std::filesystem::file_size(file), whole + 56);
  SigningJournal again(file);
  EXPECT_FALSE(admits(again, claim_of(2, 1)));
}

TEST_F(SigningFileTest, AFirstWriteThatWasCutShortBeginsAnewAndAnotherFileIsLeftAlone) {
  std::filesystem::create_directories(folder);
  for (const std::string_view text : {"weft-si", "weft-signed-roots-1\nxy"}) {
    std::ofstream(file) << text;
    SigningJournal journal(file);
    EXPECT_TRUE(admits(journal, claim_of(1, 1)));
    std::filesystem::remove(file);
  }
  std::ofstream(file)
      << "something else that is longer than the beginning of a file of signed roots";
  SigningJournal journal(file);
  const auto claim = claim_of(1, 1);
  const auto answer = journal.admit({&claim, 1}).front();
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::data_loss);
}

TEST_F(SigningFileTest, AFolderThatCannotBeWrittenSignsNothing) {
  std::ofstream(folder) << "a file in the place of the folder";
  SigningJournal journal(file);
  const std::vector<Claim> claims = {claim_of(1, 1), claim_of(2, 1)};
  for (const auto& answer : journal.admit(claims)) {
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, ErrorCode::unavailable);
  }
}

TEST_F(SigningFileTest, KnowsAtOnceWhatIsForgottenOnceTheFileWasRead) {
  PublicKey coordinator;
  const auto path = folder / coordinator.text();
  {
    SigningJournal journal(path, 8);
    for (std::uint32_t index = 0; index < 20; ++index) {
      const Claim claim = claim_of(index, 1);
      EXPECT_TRUE(admits(journal, claim));
    }
  }
  std::promise<void> answered;
  SigningFile memory(folder, [&](const std::function<void()>& work) {
    work();
    answered.set_value();
  });
  const Claim claim = claim_of(20, 1);
  memory.admit(coordinator, claim.key, claim.root,
               [](const Result<>& answer) { EXPECT_TRUE(answer); });
  answered.get_future().wait();
  EXPECT_TRUE(memory.forgotten(coordinator, claim_of(1, 1).key));
  EXPECT_FALSE(memory.forgotten(coordinator, claim_of(19, 1).key));
  EXPECT_FALSE(memory.forgotten(coordinator, claim_of(21, 1).key));
}

TEST_F(SigningFileTest, AFileOfTheFirstFormatGoesOn) {
  std::filesystem::create_directories(folder);
  const Claim claim = claim_of(5, 1);
  ByteVector text;
  append(text, as_bytes("weft-signed-roots-1\n"));
  append(text, claim.key.task.job.span());
  append_le(text, std::uint32_t{4});
  append_le(text, std::uint32_t{1});
  append(text, SignedRoots().add(claim.key, claim.root));
  std::ofstream(file, std::ios::binary) << as_text(text);
  SigningJournal journal(file);
  EXPECT_FALSE(admits(journal, claim_of(4, 1)));
  EXPECT_FALSE(admits(journal, claim_of(5, 2)));
  EXPECT_TRUE(admits(journal, claim_of(6, 1)));
}

TEST_F(SigningFileTest, AnswersOnTheThreadThatItIsGiven) {
  std::mutex mutex;
  std::vector<std::function<void()>> posted;
  std::promise<void> all;
  constexpr std::uint32_t count = 20;
  std::vector<bool> answers;
  {
    SigningFile memory(folder, [&](std::function<void()> work) {
      const std::scoped_lock lock(mutex);
      posted.push_back(std::move(work));
      if (posted.size() == count) all.set_value();
    });
    PublicKey coordinator;
    for (std::uint32_t i = 0; i < count; ++i) {
      // Each coordinator has a file of its own.
      coordinator.bytes.fill(static_cast<std::uint8_t>(i / 10));
      const Claim claim = claim_of(i % 5, i % 10 < 5 ? 1 : 2);
      memory.admit(coordinator, claim.key, claim.root,
                   [&](const Result<>& answer) { answers.push_back(answer.has_value()); });
    }
    all.get_future().wait();
  }
  EXPECT_TRUE(answers.empty());
  for (const auto& work : posted) work();
  ASSERT_EQ(answers.size(), count);
  for (std::uint32_t i = 0; i < count; ++i) EXPECT_EQ(answers[i], i % 10 < 5) << i;
}

}  // namespace
}  // namespace weft::worker
