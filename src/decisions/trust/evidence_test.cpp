// Tests that a worker's mismatches in one client's jobs are kept until a mismatch in a second
// client's job convicts it.
#include "decisions/trust/evidence.h"

#include <gtest/gtest.h>

namespace weft::trust {
namespace {

PublicKey wallet_of(std::uint8_t number) {
  PublicKey made;
  made.bytes[0] = number;
  return made;
}
Evidence::Mismatch found_of(std::uint8_t client, std::uint32_t index, UnixMillis at) {
  return {
      .client = wallet_of(client), .task = {.job = {}, .index = index}, .at = at, .penalty = 10};
}

TEST(EvidenceMismatches, ArePutTogetherByClient) {
  Evidence evidence;
  EXPECT_EQ(evidence.mismatch(wallet_of(1), found_of(1, 0, 5)).clients, 1U);
  EXPECT_EQ(evidence.mismatch(wallet_of(1), found_of(1, 1, 6)).clients, 1U);
  EXPECT_EQ(evidence.mismatch(wallet_of(2), found_of(2, 0, 6)).clients, 1U) << "another worker";

  const auto known = evidence.mismatch(wallet_of(1), found_of(2, 2, 7));

  EXPECT_EQ(known.clients, 2U);
  EXPECT_EQ(known.penalty, 30);
}

TEST(EvidenceMismatches, ChangesAreTakenOnceAndRestoreWhatThereWas) {
  Evidence evidence;
  (void)evidence.mismatch(wallet_of(1), found_of(1, 0, 5));
  (void)evidence.mismatch(wallet_of(1), found_of(1, 1, 6));
  const auto changed = evidence.take_changed_mismatches();
  ASSERT_EQ(changed.size(), 1U);
  EXPECT_FALSE(changed[0].forgotten);
  EXPECT_EQ(changed[0].row.penalty, 20);
  EXPECT_EQ(changed[0].row.task.index, 1U);
  EXPECT_TRUE(evidence.take_changed_mismatches().empty());

  Evidence again;
  again.restore(changed[0].worker, changed[0].row);
  EXPECT_TRUE(again.take_changed_mismatches().empty());
  EXPECT_EQ(again.mismatch(wallet_of(1), found_of(2, 2, 7)).clients, 2U);

  again.forget_mismatches(wallet_of(1));
  const auto forgotten = again.take_changed_mismatches();
  ASSERT_EQ(forgotten.size(), 2U);
  EXPECT_TRUE(forgotten[0].forgotten && forgotten[1].forgotten);
}

TEST(EvidenceMismatches, CountForAMonth) {
  constexpr UnixMillis month = Evidence::mismatch_lasts;
  Evidence evidence;
  (void)evidence.mismatch(wallet_of(1), found_of(1, 0, 0));
  EXPECT_EQ(evidence.mismatch(wallet_of(1), found_of(2, 0, month - 1)).clients, 2U);
  EXPECT_EQ(evidence.mismatch(wallet_of(1), found_of(2, 0, month)).clients, 1U)
      << "the first is too old";

  EXPECT_TRUE(evidence.forget_old_mismatches(month + month - 1).empty());
  EXPECT_EQ(evidence.forget_old_mismatches(month + month), std::vector{wallet_of(1)});
  EXPECT_EQ(evidence.mismatch(wallet_of(1), found_of(1, 0, month + month)).clients, 1U);
}

}  // namespace
}  // namespace weft::trust
