// Tests of published rows: any reader builds the same tree from the text, and a difference is
// reported with its first owner.
#include "common/solana/owner_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weft::solana {
namespace {

Earned row(std::uint8_t owner, std::uint32_t index, std::uint64_t amount, std::uint64_t units) {
  Earned out{.owner = {}, .index = index, .amount = amount, .units = units};
  out.owner.bytes.fill(owner);
  return out;
}

TEST(OwnerRows, the_text_of_rows_reads_back_to_the_same_tree) {
  const std::vector<Earned> rows = {row(1, 1, 5, 7), row(2, 0, ~0ULL - 100, 9)};

  const auto read = parse_owner_rows(owner_rows_text(rows));

  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(SumTree::create(*read)->root(), SumTree::create(rows)->root());
  EXPECT_EQ(first_difference(rows, *read), std::nullopt);
}

TEST(OwnerRows, the_part_that_is_emission_is_read_and_compared_and_is_in_no_leaf) {
  std::vector<Earned> rows = {row(1, 1, 5, 7), row(2, 0, 20, 9)};
  const SumNode root = SumTree::create(rows)->root();
  rows[1].emission = 20;

  const std::string text = owner_rows_text(rows);
  const auto read = parse_owner_rows(text);

  ASSERT_TRUE(read) << read.error().message;
  EXPECT_THAT(text, testing::StartsWith("owner,index,amount,units,emission\n"));
  EXPECT_EQ((*read)[1].emission, 20U);
  EXPECT_EQ(SumTree::create(*read)->root(), root);
  auto other = rows;
  other[1].emission = 19;
  EXPECT_THAT(*first_difference(rows, other), testing::HasSubstr("20 of emission here"));
  EXPECT_THAT(*first_loss(rows, other), testing::StartsWith(rows[1].owner.text()));
  other[1].emission = 21;
  EXPECT_EQ(parse_owner_rows(owner_rows_text(other)).error().message,
            "Line 3 of the epoch's rows is not KEY,INDEX,AMOUNT,UNITS,EMISSION.");
}

TEST(OwnerRows, a_line_that_is_no_row_is_named) {
  const std::string good = owner_rows_text(std::vector<Earned>{row(1, 0, 5, 7)});
  EXPECT_EQ(parse_owner_rows("").error().message,
            "The first line of an epoch's rows is not \"owner,index,amount,units,emission\".");
  for (const std::string bad : {"\n", "x,0,1,1\n", ",,,\n", "1,2,3\n"}) {
    const auto read = parse_owner_rows(good + bad);
    ASSERT_FALSE(read) << bad;
    EXPECT_EQ(read.error().message, "Line 3 of the epoch's rows is not KEY,INDEX,AMOUNT,UNITS.");
  }
  const std::string owner = row(3, 0, 0, 0).owner.text();
  for (const char* bad : {",0,1,-1", ",4294967296,1,1", ",0,18446744073709551616,1", ",0,1,1,1",
                          ",0,1,1 ", ",0x1,1,1"})
    EXPECT_FALSE(parse_owner_rows(good + owner + bad)) << bad;
}

TEST(OwnerRows, the_first_owner_that_differs_is_named_with_both_sides) {
  const std::vector<Earned> here = {row(1, 0, 5, 7), row(2, 1, 6, 7), row(4, 3, 1, 1)};
  auto there = here;
  there[1].amount = 9;
  EXPECT_EQ(first_difference(here, there),
            here[1].owner.text() +
                " has index 1, 6 micro-credits, 7 units here and index 1, 9 micro-credits, 7 units "
                "there");
  there = here;
  there[1] = row(3, 1, 6, 7);
  EXPECT_THAT(*first_difference(here, there),
              testing::StartsWith(here[1].owner.text() + " is only here"));
  EXPECT_THAT(*first_difference(here, std::span(here).first(2)),
              testing::StartsWith(here[2].owner.text() + " is only here"));
  EXPECT_THAT(*first_difference(std::span(here).first(2), here),
              testing::StartsWith(here[2].owner.text() + " is only there"));
}

TEST(OwnerRows, an_epoch_that_takes_from_an_owner_is_a_loss) {
  const std::vector<Earned> before = {row(1, 0, 5, 7), row(3, 1, 6, 7)};
  std::vector<Earned> after = {row(1, 0, 5, 8), row(2, 2, 1, 1), row(3, 1, 6, 7)};
  EXPECT_EQ(first_loss(before, after), std::nullopt);
  after[2].amount = 5;
  EXPECT_THAT(*first_loss(before, after), testing::StartsWith(before[1].owner.text()));
  after[2] = row(3, 5, 6, 7);
  EXPECT_THAT(*first_loss(before, after), testing::HasSubstr("now has index 5"));
  EXPECT_THAT(*first_loss(before, std::span(after).first(2)), testing::EndsWith("is gone"));
}

TEST(OwnerRows, a_loss_that_the_program_takes_as_evidence_is_one_of_a_leaf) {
  const std::vector<Earned> before = {row(1, 0, 5, 7), row(2, 2, 0, 0), row(3, 1, 6, 7)};
  const auto lost = [&](const std::vector<Earned>& after) {
    return first_provable_loss(before, after);
  };

  EXPECT_EQ(lost(before), std::nullopt);
  EXPECT_EQ(lost({before[0], before[2]}), std::nullopt) << "it had nothing";
  EXPECT_EQ(lost({before[0], row(3, 1, 5, 7)}), before[2].owner);
  EXPECT_EQ(lost({before[0], row(3, 1, 6, 6)}), before[2].owner);
  EXPECT_EQ(lost({before[0], row(3, 4, 6, 7)}), before[2].owner);
  EXPECT_EQ(lost({before[0], row(4, 4, 6, 7)}), before[2].owner);
  EXPECT_EQ(lost({before[2]}), before[0].owner);
}

}  // namespace
}  // namespace weft::solana
