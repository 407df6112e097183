// Ids are in the order of time, and no two are equal.
#include "common/crypto/ordered_id.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "common/base/clock.h"

namespace weft::crypto {
namespace {

TEST(OrderedId, BeginsWithTheTimeAndIsNeverTheSameTwice) {
  const auto millis_of = [](const auto& id) {
    UnixMillis millis = 0;
    for (std::size_t i = 0; i < 6; ++i) millis = millis << 8 | id[i];
    return millis;
  };
  const UnixMillis before = unix_now();
  std::vector<std::array<std::uint8_t, ordered_id_bytes>> ids(1000);
  for (auto& id : ids) id = ordered_id();
  const UnixMillis after = unix_now();

  EXPECT_EQ(std::set(ids.begin(), ids.end()).size(), ids.size());
  for (const auto& id : ids) {
    EXPECT_GE(millis_of(id), before);
    EXPECT_LE(millis_of(id), after);
  }
  EXPECT_TRUE(std::ranges::is_sorted(ids, {}, millis_of));
}

}  // namespace
}  // namespace weft::crypto
