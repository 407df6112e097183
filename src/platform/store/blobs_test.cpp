// A blob that was put is stored whole, under its hash, after any crash; no other blob appears.
#include "platform/store/blobs.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <barrier>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <thread>

#include "common/base/format.h"
#include "common/crypto/sha256.h"

namespace weft::store {
namespace {

namespace fs = std::filesystem;

class BlobsTest : public testing::Test {
 protected:
  BlobsTest() {
    std::string name = (fs::temp_directory_path() / "weft-blobs-XXXXXX").string();
    directory = ::mkdtemp(name.data());
  }
  ~BlobsTest() override { fs::remove_all(directory); }

  std::unique_ptr<Blobs> open(std::uint64_t bytes_max = 1 << 20) const {
    return Blobs::open(directory, {.bytes_max = bytes_max}).value();
  }
  fs::path file_of(const Hash& hash) const {
    return directory / hash.text().substr(0, 2) / hash.text().substr(2);
  }

  fs::path directory;
};

ByteVector some_bytes(std::size_t size, std::uint8_t start = 0) {
  ByteVector bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::uint8_t>(start + i * 7);
  return bytes;
}

TEST_F(BlobsTest, GivesBackWhatWasPutAndFindsItAgainWhenReopened) {
  const ByteVector bytes = some_bytes(1000);
  Hash hash;
  {
    const auto blobs = open();
    hash = blobs->put(bytes).value();
    EXPECT_EQ(hash, crypto::sha256(bytes));
  }

  const auto blobs = open();

  EXPECT_TRUE(blobs->has(hash));
  EXPECT_EQ(blobs->size(hash).value(), 1000U);
  EXPECT_EQ(blobs->read(hash).value(), bytes);
  EXPECT_EQ(blobs->read(hash, 10, 5).value(), ByteVector(bytes.begin() + 10, bytes.begin() + 15));
  EXPECT_EQ(blobs->bytes_total(), 1000U);
  EXPECT_EQ(blobs->count(), 1U);
}

TEST_F(BlobsTest, KnowsWhichHaveFilesOfTheirOwnAcrossARestart) {
  const ByteVector large(1000, 1);
  Hash kept, removed;
  {
    const auto blobs = open();
    kept = blobs->put(large).value();
    removed = blobs->put(ByteVector(1000, 2)).value();
    ASSERT_TRUE(blobs->add(ByteVector(10, 3)).has_value()) << "which goes into a pack";
    ASSERT_TRUE(blobs->sync().has_value());
    EXPECT_EQ(blobs->files().size(), 2U);
  }
  const auto blobs = open();
  ASSERT_TRUE(blobs->remove(removed).has_value());

  EXPECT_EQ(blobs->files(), std::vector{kept});
  EXPECT_FALSE(blobs->has(removed));
  EXPECT_EQ(blobs->put(large).value(), kept);
  EXPECT_EQ(blobs->count(), 2U);
}

TEST_F(BlobsTest, BeginsEveryFileWithItsVersion) {
  const auto blobs = open();
  const Hash hash = blobs->put(as_bytes(std::string_view("abc"))).value();

  std::ifstream file(file_of(hash), std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(file)), {});

  EXPECT_EQ(text,
            "\x01"
            "abc");
}

TEST_F(BlobsTest, SaysWhereItsBytesLie) {
  const auto blobs = open();
  const Hash hash = blobs->put(as_bytes(std::string_view("abc"))).value();

  const auto location = blobs->location(hash).value();

  std::ifstream file(location.path, std::ios::binary);
  file.seekg(static_cast<std::streamoff>(location.offset));
  std::string bytes(location.size, '\0');
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  EXPECT_EQ(bytes, "abc");
  EXPECT_EQ(blobs->location(Hash{}).error().code, ErrorCode::not_found);
}

TEST_F(BlobsTest, KeepsTheEmptyBlobToo) {
  const auto blobs = open();
  const Hash hash = blobs->put({}).value();
  EXPECT_EQ(blobs->read(hash).value(), ByteVector());
  EXPECT_TRUE(blobs->read(hash, 0, 0).has_value());
}

TEST_F(BlobsTest, CountsABlobThatIsPutTwiceOnce) {
  const auto blobs = open();
  const ByteVector bytes = some_bytes(100);
  ASSERT_TRUE(blobs->put(bytes).has_value());
  ASSERT_TRUE(blobs->put(bytes).has_value());
  auto writer = blobs->begin(crypto::sha256(bytes), 100).value();
  ASSERT_TRUE(writer.write(bytes).has_value());
  ASSERT_TRUE(writer.finish().has_value());

  EXPECT_EQ(blobs->bytes_total(), 100U);
  EXPECT_EQ(blobs->count(), 1U);
}

TEST_F(BlobsTest, TakesABlobInPieces) {
  const auto blobs = open();
  const ByteVector bytes = some_bytes(1000);
  auto writer = blobs->begin(crypto::sha256(bytes), 1000).value();

  ASSERT_TRUE(writer.write(ByteSpan(bytes).first(300)).has_value());
  ASSERT_TRUE(writer.write(ByteSpan(bytes).subspan(300)).has_value());

  EXPECT_EQ(writer.finish().value(), crypto::sha256(bytes));
  EXPECT_EQ(blobs->read(crypto::sha256(bytes)).value(), bytes);
}

TEST_F(BlobsTest, RefusesPiecesPastTheBoundAndBytesWithAnotherHash) {
  const auto blobs = open();
  const ByteVector bytes = some_bytes(100);
  {
    auto bounded = blobs->begin(crypto::sha256(bytes), 99).value();
    EXPECT_EQ(bounded.write(bytes).error().code, ErrorCode::resource_exhausted);
    auto other = blobs->begin(crypto::sha256(bytes), 100).value();
    ASSERT_TRUE(other.write(some_bytes(100, 1)).has_value());
    EXPECT_EQ(other.finish().error().code, ErrorCode::invalid_argument);
  }

  EXPECT_EQ(blobs->count(), 0U);
  EXPECT_EQ(blobs->bytes_total(), 0U);
  EXPECT_TRUE(fs::is_empty(directory / "incoming"));
}

TEST_F(BlobsTest, NamesTheOptionWhenItIsFull) {
  const auto blobs = open(150);
  ASSERT_TRUE(blobs->put(some_bytes(100)).has_value());

  const auto full = blobs->put(some_bytes(51, 3));

  ASSERT_FALSE(full.has_value());
  EXPECT_EQ(full.error(),
            (Error{ErrorCode::resource_exhausted,
                   "The blobs would take more than 150 bytes, of which 0 are set aside for results "
                   "of running jobs; --blobs-bytes-max raises the bound."}));
  EXPECT_TRUE(blobs->put(some_bytes(50, 3)).has_value());
  EXPECT_EQ(blobs->bytes_total(), 150U);
}

TEST_F(BlobsTest, RemovesWhatACrashLeftBehind) {
  {
    const auto blobs = open();
  }
  std::ofstream(directory / "incoming" / "7") << "half a blob";

  const auto blobs = open();

  EXPECT_TRUE(fs::is_empty(directory / "incoming"));
  EXPECT_EQ(blobs->bytes_total(), 0U);
}

TEST_F(BlobsTest, NoticesBytesThatHaveChangedOnDisk) {
  const auto blobs = open();
  const Hash hash = blobs->put(some_bytes(100)).value();
  std::fstream file(file_of(hash), std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(50);
  file.put('x');
  file.close();
  EXPECT_EQ(blobs->read(hash).error().code, ErrorCode::data_loss);

  std::ofstream(file_of(hash), std::ios::trunc) << "?";
  EXPECT_EQ(blobs->size(hash).error().code, ErrorCode::data_loss) << "an unknown version";
}

TEST_F(BlobsTest, RefusesRangesPastTheEndAndBlobsThatAreNotThere) {
  const auto blobs = open();
  const Hash hash = blobs->put(some_bytes(100)).value();

  EXPECT_EQ(blobs->read(hash, 99, 2).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(blobs->read(hash, UINT64_MAX, 2).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(blobs->read(hash, 1, UINT64_MAX).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(blobs->read(Hash()).error().code, ErrorCode::not_found);
  EXPECT_EQ(blobs->remove(Hash()).error().code, ErrorCode::not_found);
}

TEST_F(BlobsTest, GivesRoomBackWhenABlobIsRemoved) {
  const auto blobs = open(100);
  const Hash hash = blobs->put(some_bytes(100)).value();
  ASSERT_TRUE(blobs->remove(hash).has_value());
  EXPECT_FALSE(blobs->has(hash));
  EXPECT_TRUE(blobs->put(some_bytes(100, 9)).has_value());
}

TEST_F(BlobsTest, AddsSmallBlobsToAPackAndLargeOnesAsFiles) {
  const ByteVector small = some_bytes(100);
  const ByteVector large = some_bytes(70'000);
  std::vector<Hash> hashes;
  {
    const auto blobs = open();
    hashes = blobs->add_all(std::vector<ByteSpan>{small, large, small}).value();
    EXPECT_EQ(blobs->read(hashes[0]).value(), small) << "there before it is durable";
    ASSERT_TRUE(blobs->sync().has_value());
  }

  const auto blobs = open();

  EXPECT_EQ(hashes[0], hashes[2]);
  EXPECT_FALSE(fs::exists(file_of(hashes[0])));
  EXPECT_TRUE(fs::exists(file_of(hashes[1])));
  EXPECT_EQ(blobs->read(hashes[0]).value(), small);
  EXPECT_EQ(blobs->read(hashes[0], 10, 5).value(),
            ByteVector(small.begin() + 10, small.begin() + 15));
  EXPECT_EQ(blobs->read(hashes[0], 99, 2).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(blobs->size(hashes[0]).value(), 100U);
  EXPECT_EQ(blobs->count(), 2U);
  EXPECT_EQ(blobs->bytes_total(), 70'100U);
  std::ifstream file(blobs->location(hashes[0])->path, std::ios::binary);
  file.seekg(static_cast<std::streamoff>(blobs->location(hashes[0])->offset));
  ByteVector there(100);
  file.read(reinterpret_cast<char*>(there.data()), 100);
  EXPECT_EQ(there, small);
  EXPECT_TRUE(blobs->remove(hashes[0]).has_value());
  EXPECT_EQ(blobs->remove(hashes[0]).error().code, ErrorCode::not_found);
  EXPECT_EQ(blobs->bytes_total(), 70'000U);
}

TEST_F(BlobsTest, CountsAddedBytesTowardsItsBound) {
  const auto blobs = open(150);
  ASSERT_TRUE(blobs->add(some_bytes(100)).has_value());
  ASSERT_TRUE(blobs->add(some_bytes(100)).has_value()) << "the same again";

  EXPECT_EQ(blobs->add(some_bytes(51, 3)).error().code, ErrorCode::resource_exhausted);
  EXPECT_EQ(blobs->bytes_total(), 100U);
}

TEST_F(BlobsTest, PutsManyAtOnceAndFromManyThreads) {
  const auto blobs = open();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&blobs] {
      std::vector<ByteVector> all;
      std::vector<ByteSpan> spans;
      for (std::uint8_t i = 0; i < 10; ++i)
        all.push_back(some_bytes(100, i));  // The blobs are equal in all threads.
      for (const ByteVector& bytes : all) spans.emplace_back(bytes);
      EXPECT_EQ(blobs->put_all(spans).value().size(), 10U);
    });
  }
  for (std::thread& thread : threads) thread.join();

  EXPECT_EQ(blobs->count(), 10U);
  EXPECT_EQ(blobs->bytes_total(), 1000U);
}

TEST_F(BlobsTest, IsKnownIfItIsPutWhileItIsRemoved) {
  const auto blobs = open();
  const ByteVector bytes = some_bytes(10);
  const Hash hash = blobs->put(bytes).value();
  for (int round = 0; round < 300; ++round) {
    std::barrier both(2);
    std::thread remover([&] {
      both.arrive_and_wait();
      for (int i = 0; i < 10; ++i) (void)blobs->remove(hash);
    });
    both.arrive_and_wait();
    for (int i = 0; i < 10; ++i) (void)blobs->put(bytes);
    remover.join();
    const bool there = fs::exists(file_of(hash));
    ASSERT_EQ(blobs->has(hash), there) << "round " << round;
    ASSERT_EQ(blobs->count(), there ? 1U : 0U);
    ASSERT_EQ(blobs->bytes_total(), there ? 10U : 0U);
  }
}

// Blobs with a clock that the test moves.
class CollectedBlobs : public BlobsTest {
 protected:
  std::unique_ptr<Blobs> open_small(std::uint64_t packed_bytes_max = 100) const {
    return Blobs::open(directory, {.bytes_max = 1 << 20,
                                   .packed_bytes_max = packed_bytes_max,
                                   .clock = [this] { return time; }})
        .value();
  }
  void pass(std::chrono::minutes duration) { time += duration; }
  // Removes the blobs that were unused for an hour.
  Blobs::Collected collect(Blobs& blobs) const {
    const Instant since = time - std::chrono::hours(1);
    return blobs.collect(blobs.unused(since), since);
  }

  Instant time{std::chrono::hours(100)};
};

TEST_F(CollectedBlobs, GoIfTheyWereNotUsed) {
  const auto blobs = open_small();
  const Hash file = blobs->put(some_bytes(1000)).value();
  const Hash packed = blobs->add(some_bytes(10)).value();
  pass(std::chrono::minutes(59));
  EXPECT_EQ(collect(*blobs).count, 0U);
  pass(std::chrono::minutes(2));

  const auto collected = collect(*blobs);

  EXPECT_EQ(collected.count, 2U);
  EXPECT_EQ(collected.bytes, 1010U);
  EXPECT_FALSE(blobs->has(file));
  EXPECT_FALSE(blobs->has(packed));
  EXPECT_FALSE(fs::exists(file_of(file)));
  EXPECT_EQ(blobs->bytes_total(), 0U);
  EXPECT_EQ(blobs->count(), 0U);
}

TEST_F(CollectedBlobs, StayIfTheyWereUsedInAnyWay) {
  const auto blobs = open_small();
  struct Use {
    const char* name;
    std::function<void(Blobs&, const Hash&, ByteSpan)> use;
  };
  const std::vector<Use> uses = {
      {"has", [](Blobs& all, const Hash& hash, ByteSpan) { EXPECT_TRUE(all.has(hash)); }},
      {"size", [](Blobs& all, const Hash& hash, ByteSpan) { EXPECT_TRUE(all.size(hash)); }},
      {"read", [](Blobs& all, const Hash& hash, ByteSpan) { EXPECT_TRUE(all.read(hash)); }},
      {"part", [](Blobs& all, const Hash& hash, ByteSpan) { EXPECT_TRUE(all.read(hash, 1, 2)); }},
      {"location", [](Blobs& all, const Hash& hash, ByteSpan) { EXPECT_TRUE(all.location(hash)); }},
      {"put", [](Blobs& all, const Hash&, ByteSpan bytes) { EXPECT_TRUE(all.put(bytes)); }},
      {"add", [](Blobs& all, const Hash&, ByteSpan bytes) { EXPECT_TRUE(all.add(bytes)); }},
      {"written",
       [](Blobs& all, const Hash& hash, ByteSpan bytes) {
         auto writer = all.begin(hash, bytes.size()).value();
         EXPECT_TRUE(writer.write(bytes));
         EXPECT_TRUE(writer.finish());
       }},
  };
  for (const std::size_t size : {10, 1000}) {
    for (const Use& use : uses) {
      // A written blob has a file of its own.
      if (size == 10 && use.name == std::string_view("written")) continue;
      SCOPED_TRACE(weft::format("{} of {} bytes", use.name, size));
      const ByteVector bytes = some_bytes(size, static_cast<std::uint8_t>(use.name[0]));
      const Hash hash = blobs->add(bytes).value();
      pass(std::chrono::minutes(50));
      use.use(*blobs, hash, bytes);
      pass(std::chrono::minutes(50));
      EXPECT_EQ(collect(*blobs).count, 0U);
      EXPECT_EQ(blobs->read(hash).value(), bytes);
      pass(std::chrono::minutes(61));
      EXPECT_EQ(collect(*blobs).count, 1U);
    }
  }
}

// The caller has found two blobs unused, and a client uses both before they are removed.
TEST_F(CollectedBlobs, StayIfTheyAreFoundWhileTheyAreLookedFor) {
  const auto blobs = open_small();
  const Hash file = blobs->put(some_bytes(1000)).value();
  const Hash packed = blobs->add(some_bytes(10)).value();
  pass(std::chrono::minutes(61));
  const Instant since = time - std::chrono::hours(1);
  const auto found = blobs->unused(since);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_TRUE(blobs->has(file));
  EXPECT_TRUE(blobs->has(packed));

  EXPECT_EQ(blobs->collect(found, since).count, 0U);

  EXPECT_TRUE(blobs->has(file));
  EXPECT_TRUE(blobs->has(packed));
}

TEST_F(CollectedBlobs, CountAsUsedWhenTheFolderIsOpened) {
  {
    const auto blobs = open_small();
    ASSERT_TRUE(blobs->put(some_bytes(1000)));
    ASSERT_TRUE(blobs->add(some_bytes(10)));
    ASSERT_TRUE(blobs->sync());
    pass(std::chrono::minutes(61));
  }
  const auto blobs = open_small();
  EXPECT_EQ(collect(*blobs).count, 0U);
  pass(std::chrono::minutes(61));
  EXPECT_EQ(collect(*blobs).count, 2U);
}

// An upload ends at varying moments of a removal: the removal begins later with each round.
TEST_F(CollectedBlobs, AreKnownIfTheyArePutWhileTheyAreCollected) {
  const auto blobs = open_small(1);
  const ByteVector bytes = some_bytes(10);
  const std::array hashes = {blobs->put(bytes).value()};
  constexpr int rounds = 3000;
  std::barrier both(2);
  std::thread collector([&] {
    for (int round = 0; round < rounds; ++round) {
      both.arrive_and_wait();
      for (std::atomic<int> wait = round % 300 * 30; wait > 0;) --wait;
      (void)blobs->collect(hashes, Instant::max());
      both.arrive_and_wait();
    }
  });
  int wrong = 0;
  for (int round = 0; round < rounds; ++round) {
    EXPECT_TRUE(blobs->put(bytes));
    auto upload = blobs->begin(hashes[0], bytes.size()).value();
    EXPECT_TRUE(upload.write(bytes));
    both.arrive_and_wait();
    EXPECT_TRUE(upload.finish());
    both.arrive_and_wait();
    if (blobs->has(hashes[0]) != fs::exists(file_of(hashes[0]))) ++wrong;
  }
  collector.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(CollectedBlobs, GiveTheRoomOfAPackBackAndTheOthersStay) {
  std::vector<Hash> hashes;
  {
    const auto blobs = open_small(2000);
    for (int i = 0; i < 40; ++i) {
      ByteVector bytes = some_bytes(1000);
      bytes[0] = static_cast<std::uint8_t>(i);
      hashes.push_back(blobs->add(bytes).value());
    }
    ASSERT_TRUE(blobs->sync());
  }
  const fs::path first = directory / "pack" / "000001";
  ASSERT_TRUE(fs::exists(first));
  {
    const auto blobs = open_small(2000);
    pass(std::chrono::minutes(61));
    for (int i = 0; i < 10; ++i) ASSERT_TRUE(blobs->has(hashes[static_cast<std::size_t>(i)]));
    EXPECT_EQ(collect(*blobs).count, 30U);
    for (int call = 0; call < 4; ++call) ASSERT_TRUE(blobs->compact());
    EXPECT_FALSE(fs::exists(first));
    EXPECT_EQ(blobs->count(), 10U);
    EXPECT_EQ(blobs->bytes_total(), 10'000U);
    for (int i = 0; i < 40; ++i)
      EXPECT_EQ(blobs->read(hashes[static_cast<std::size_t>(i)]).has_value(), i < 10) << i;
    ASSERT_TRUE(blobs->compact()) << "which has nothing left to do";
  }
  const auto again = open_small(2000);
  EXPECT_EQ(again->count(), 10U);
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(again->read(hashes[static_cast<std::size_t>(i)])) << i;
}

// A file is not copied again and again if its blobs are smaller than their heads.
TEST_F(CollectedBlobs, AreNotMovedWhileMostOfTheirFileIsNamed) {
  {
    const auto blobs = open_small();
    for (std::uint8_t i = 0; i < 100; ++i) ASSERT_TRUE(blobs->add(ByteVector{i}));
    ASSERT_TRUE(blobs->sync());
  }
  const auto blobs = open_small();
  for (int call = 0; call < 4; ++call) ASSERT_TRUE(blobs->compact());
  EXPECT_TRUE(fs::exists(directory / "pack" / "000001"));
  EXPECT_FALSE(fs::exists(directory / "pack" / "000002"));
}

}  // namespace
}  // namespace weft::store
