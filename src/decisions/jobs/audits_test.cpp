// The part of a task that a worker computes again.
#include "decisions/jobs/audits.h"

#include <gtest/gtest.h>

namespace weft::jobs {
namespace {

constexpr manifest::Range whole{.first = 640, .count = 64};

TEST(AuditedRange, IsThePartThatWasDrawnAndAsManyNeighboursAsAreWanted) {
  trust::AuditWanted wanted;
  wanted.parts = 32;
  wanted.part = 3;
  EXPECT_EQ(audited_range(wanted, whole).first, 646U);
  EXPECT_EQ(audited_range(wanted, whole).count, 2U);

  wanted.part = 31;
  wanted.samples = 8;
  EXPECT_EQ(audited_range(wanted, whole).first, 640U + 48);
  EXPECT_EQ(audited_range(wanted, whole).count, 16U);
}

// If results differ, one wrong result was believed. A part in which both agree could not show which
// one.
TEST(AuditedRange, IsTheWholeTaskWhereResultsDiffer) {
  trust::AuditWanted wanted;
  wanted.parts = 32;
  wanted.part = 3;
  wanted.rivals = {Hash{}};

  EXPECT_EQ(audited_range(wanted, whole).first, whole.first);
  EXPECT_EQ(audited_range(wanted, whole).count, whole.count);
}

}  // namespace
}  // namespace weft::jobs
