// Tests of stored responses: other owners cannot find them, they end by time and by share, and one
// owner's responses do not displace another's.
#include "apps/coordinator/http/response_store.h"

#include <gtest/gtest.h>

namespace weft::coordinator {
namespace {

using namespace std::chrono_literals;

StoredResponse of(std::string owner, std::size_t bytes = 100) {
  return {.owner = std::move(owner), .document = std::string(bytes, 'd'), .messages = "m"};
}

class ResponseStoreTest : public testing::Test {
 protected:
  ResponseStore store{
      {.keep = 1h, .bytes_max = 16 << 10, .owner_bytes_max = 8 << 10, .owner_count_max = 4}};
  const Instant start = Instant{} + 1000h;
  bool has(const std::string& id, const std::string& owner, Duration later = {}) {
    return store.find(id, owner, start + later).has_value();
  }
};

TEST_F(ResponseStoreTest, BelongsToItsOwnerAlone) {
  ASSERT_TRUE(store.put("r", of("alice"), start));
  EXPECT_TRUE(has("r", "alice"));
  EXPECT_FALSE(has("r", "bob"));
  EXPECT_FALSE(has("r", ""));
  const auto others = store.remove("r", "bob", start);
  ASSERT_FALSE(others);
  EXPECT_EQ(others.error().code, ErrorCode::not_found);
  EXPECT_EQ(others.error().message,
            store.remove("none", "bob", start).error().message.replace(14, 4, "r"))
      << "it does not tell that there is one";
  EXPECT_TRUE(has("r", "alice"));
}

TEST_F(ResponseStoreTest, EndsWithItsTimeOrWhenItIsDeleted) {
  ASSERT_TRUE(store.put("a", of("alice"), start));
  ASSERT_TRUE(store.put("b", of("alice"), start + 30min));
  EXPECT_TRUE(has("a", "alice", 1h - 1s));
  EXPECT_FALSE(has("a", "alice", 1h));
  EXPECT_TRUE(has("b", "alice", 1h));
  ASSERT_TRUE(store.remove("b", "alice", start + 1h));
  EXPECT_FALSE(has("b", "alice", 1h));
}

TEST_F(ResponseStoreTest, AnOwnersOldestMakeRoomForItsNewest) {
  for (int i = 0; i < 6; ++i)
    ASSERT_TRUE(store.put(std::to_string(i), of("alice"), start + i * 1s));
  EXPECT_FALSE(has("1", "alice", 10s));
  EXPECT_TRUE(has("2", "alice", 10s));
  ASSERT_TRUE(store.put("large", of("alice", 7 << 10), start + 10s));
  EXPECT_FALSE(has("4", "alice", 10s));
  EXPECT_TRUE(has("large", "alice", 10s));
  const auto refused = store.put("larger", of("alice", 9 << 10), start + 10s);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::resource_exhausted);
}

TEST_F(ResponseStoreTest, NoOwnerTakesTheRoomOfWhatOthersStored) {
  ASSERT_TRUE(store.put("a", of("alice", 7 << 10), start));
  ASSERT_TRUE(store.put("b", of("bob", 7 << 10), start));
  EXPECT_FALSE(store.put("c", of("carol", 7 << 10), start));
  EXPECT_TRUE(has("a", "alice"));
  EXPECT_TRUE(has("b", "bob"));
  // The removal of a response frees its bytes for another one.
  ASSERT_TRUE(store.remove("a", "alice", start));
  EXPECT_TRUE(store.put("c", of("carol", 7 << 10), start));
  EXPECT_TRUE(store.put("d", of("dora", 7 << 10), start + 1h)) << "what has ended takes no room";
}

}  // namespace
}  // namespace weft::coordinator
