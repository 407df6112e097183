// Bytes that do not match their hash are refused, one fetch serves all callers, and the cache stays
// within its bound.
#include "worker/tasks/blob_store.h"

#include <gtest/gtest.h>

#include "worker/tasks/test_fakes.h"

namespace weft::worker {
namespace {

using namespace std::chrono_literals;

struct Fixture {
  FakeHost host;
  BlobStore blobs{host, {.cache_bytes_max = 100, .blob_bytes_max = 1000}};
  std::vector<Result<SharedBytes>> answers;

  void get(const Hash& hash, std::uint64_t bytes_max = ~std::uint64_t{0}) {
    blobs.get(hash, bytes_max,
              [this](Result<SharedBytes> answer) { answers.push_back(std::move(answer)); });
  }
};

TEST(BlobStore, FetchesABlobOnceForAllWhoAsk) {
  Fixture f;
  const Hash hash = f.host.add_blob({1, 2, 3});
  f.get(hash);
  f.get(hash);
  f.host.run_for(1s);
  f.get(hash);
  f.host.run_for(1s);

  ASSERT_EQ(f.answers.size(), 3U);
  for (const auto& answer : f.answers) EXPECT_EQ(*answer.value(), (ByteVector{1, 2, 3}));
  EXPECT_EQ(f.host.fetches[hash], 1);
}

TEST(BlobStore, RefusesBytesThatDoNotHaveTheirHash) {
  Fixture f;
  const Hash hash = crypto::sha256(ByteVector{1, 2, 3});
  f.host.blobs[hash] = {1, 2, 4};
  f.get(hash);
  f.host.run_for(1s);

  ASSERT_EQ(f.answers.size(), 1U);
  EXPECT_EQ(f.answers[0].error().code, ErrorCode::data_loss);
  EXPECT_EQ(f.blobs.cached_bytes(), 0U);
}

TEST(BlobStore, TriesAgainWithoutAConnectionAndGivesUpInTheEnd) {
  Fixture f;
  const Hash hash = f.host.add_blob({1});
  f.host.blobs_reachable = false;
  f.get(hash);
  f.host.run_for(60s);
  ASSERT_EQ(f.answers.size(), 1U);
  EXPECT_EQ(f.answers[0].error().code, ErrorCode::unavailable);
  EXPECT_EQ(f.host.fetches[hash], 5);

  f.get(hash);
  f.host.run_for(600ms);
  f.host.blobs_reachable = true;
  f.host.run_for(60s);
  ASSERT_EQ(f.answers.size(), 2U);
  EXPECT_TRUE(f.answers[1].has_value());
}

TEST(BlobStore, AsksOnceForWhatDoesNotExistOrIsTooLarge) {
  Fixture f;
  f.get(Hash{});
  const Hash large = f.host.add_blob(ByteVector(1001));
  f.get(large);
  f.host.run_for(60s);

  ASSERT_EQ(f.answers.size(), 2U);
  EXPECT_EQ(f.answers[0].error().code, ErrorCode::not_found);
  EXPECT_EQ(f.answers[1].error().code, ErrorCode::resource_exhausted);
  EXPECT_EQ(f.host.fetches[Hash{}], 1);
}

TEST(BlobStore, DropsTheColdestBeyondItsBound) {
  Fixture f;
  const Hash a = f.host.add_blob(ByteVector(40, 1));
  const Hash b = f.host.add_blob(ByteVector(40, 2));
  const Hash c = f.host.add_blob(ByteVector(40, 3));
  // c takes the place of b; a was used more recently.
  for (const Hash& hash : {a, b, a, c, a, b}) {
    f.get(hash);
    f.host.run_for(1s);
    EXPECT_LE(f.blobs.cached_bytes(), 100U);
  }

  EXPECT_EQ(f.host.fetches[a], 1);
  EXPECT_EQ(f.host.fetches[b], 2);
  EXPECT_EQ(f.host.fetches[c], 1);
}

TEST(BlobStore, GivesWhatIsLargerThanItsCacheWithoutKeepingIt) {
  Fixture f;
  const Hash hash = f.host.add_blob(ByteVector(500, 1));
  f.get(hash);
  f.host.run_for(1s);

  EXPECT_TRUE(f.answers[0].has_value());
  EXPECT_EQ(f.blobs.cached_bytes(), 0U);
}

TEST(BlobStore, ReceivesNoMoreThanItsCallerTakes) {
  Fixture f;
  const Hash hash = f.host.add_blob(ByteVector(50, 1));
  f.get(hash, 49);
  f.host.run_for(60s);
  ASSERT_EQ(f.answers.size(), 1U);
  EXPECT_EQ(f.answers[0].error().code, ErrorCode::resource_exhausted);
  EXPECT_EQ(f.host.bytes_asked[hash], 49U);

  f.get(hash, 50);
  f.host.run_for(60s);
  EXPECT_TRUE(f.answers[1].has_value());
  f.get(hash, 49);  // The blob is cached by now.
  f.host.run_for(60s);
  EXPECT_EQ(f.answers[2].error().message, f.answers[0].error().message);
}

// Two jobs may name the same blob, one of them with a wrong length: this job must not make the
// other job fail.
TEST(BlobStore, ACallerThatTakesTooFewFailsAlone) {
  Fixture f;
  const Hash hash = f.host.add_blob(ByteVector(50, 1));
  f.get(hash, 10);
  f.get(hash, 50);
  f.get(hash, 20);
  f.host.run_for(60s);

  ASSERT_EQ(f.answers.size(), 3U);
  EXPECT_EQ(std::ranges::count_if(f.answers, [](const auto& each) { return each.has_value(); }), 1);
  for (const auto& answer : f.answers) {
    if (answer) continue;
    EXPECT_EQ(answer.error().code, ErrorCode::resource_exhausted);
  }
  EXPECT_EQ(f.host.fetches[hash], 2);
}

}  // namespace
}  // namespace weft::worker
