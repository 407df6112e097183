// Tests the rows of a journal one by one; random histories are in charges_property_test.cpp.
#include "decisions/settlement/charges.h"

#include <gtest/gtest.h>

namespace weft::settlement {
namespace {

using State = JournalRow::State;

PublicKey owner(std::uint8_t number) {
  PublicKey out;
  out.bytes.fill(number);
  return out;
}
Crediting row(std::uint8_t who, std::uint64_t from, std::uint64_t to) {
  return {.owner = owner(who), .from = from, .to = to};
}

TEST(Charges, each_crediting_begins_where_the_one_before_ended) {
  Charges charges;
  EXPECT_EQ(charges.seen(owner(1), 0), std::nullopt);
  const auto first = charges.seen(owner(1), 5);
  ASSERT_EQ(first, row(1, 0, 5));
  ASSERT_TRUE(charges.written({.state = State::open, .crediting = *first}));
  EXPECT_EQ(charges.seen(owner(1), 9), std::nullopt) << "one at a time";
  EXPECT_EQ(charges.open(), std::vector{row(1, 0, 5)});
  EXPECT_EQ(charges.credited(owner(1)), 0U);

  ASSERT_TRUE(charges.written({.state = State::done, .crediting = *first}));
  EXPECT_EQ(charges.credited(owner(1)), 5U);
  EXPECT_EQ(charges.seen(owner(1), 5), std::nullopt);
  EXPECT_EQ(charges.seen(owner(1), 4), std::nullopt) << "a node that lags behind";
  EXPECT_EQ(charges.seen(owner(1), 9), row(1, 5, 9));
  EXPECT_EQ(charges.seen(owner(2), 9), row(2, 0, 9));
}

TEST(Charges, a_journal_with_a_row_that_does_not_follow_is_refused) {
  const JournalRow open{.state = State::open, .crediting = row(1, 0, 5)};
  const JournalRow done{.state = State::done, .crediting = row(1, 0, 5)};
  const auto refused = [](std::vector<JournalRow> rows) {
    const auto restored = Charges::restore(rows);
    return !restored && restored.error().code == ErrorCode::data_loss;
  };
  EXPECT_FALSE(refused({open, done}));
  EXPECT_TRUE(refused({done})) << "done, never begun";
  EXPECT_TRUE(refused({open, open})) << "two at a time";
  EXPECT_TRUE(refused({open, done, done})) << "done twice";
  EXPECT_TRUE(refused({open, done, open})) << "the same credits again";
  EXPECT_TRUE(refused({open, {.state = State::done, .crediting = row(1, 0, 6)}}))
      << "more than was begun";
  EXPECT_TRUE(refused({{.state = State::open, .crediting = row(1, 3, 5)}})) << "from the middle";
  EXPECT_TRUE(refused({{.state = State::open, .crediting = row(1, 0, 0)}})) << "nothing";
}

TEST(Charges, a_key_is_that_of_one_crediting_at_one_network) {
  const Hash key = key_of(row(1, 0, 5), owner(9));
  EXPECT_NE(key_of(row(2, 0, 5), owner(9)), key);
  EXPECT_NE(key_of(row(1, 1, 5), owner(9)), key);
  EXPECT_NE(key_of(row(1, 0, 6), owner(9)), key);
  EXPECT_NE(key_of(row(1, 0, 5), owner(8)), key);
}

}  // namespace
}  // namespace weft::settlement
