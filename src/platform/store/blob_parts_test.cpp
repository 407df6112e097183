// A blob that arrives in parts is complete after the last part, wherever it was interrupted; bytes
// with another hash never become a blob.
#include "platform/store/blob_parts.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "common/crypto/sha256.h"

namespace weft::store {
namespace {

namespace fs = std::filesystem;

class BlobPartsTest : public testing::Test {
 protected:
  BlobPartsTest() {
    std::string name = (fs::temp_directory_path() / "weft-parts-XXXXXX").string();
    directory = ::mkdtemp(name.data());
    for (std::size_t i = 0; i < bytes.size(); ++i)
      bytes[i] = static_cast<std::uint8_t>(i * 7 + i / 256);
    hash = crypto::sha256(bytes);
    reopen();
  }
  ~BlobPartsTest() override { fs::remove_all(directory); }
  void reopen(BlobParts::Options options = {}) {
    parts.reset();
    blobs.reset();
    blobs = Blobs::open(directory / "blobs", {.bytes_max = 1 << 20}).value();
    parts = BlobParts::open(*blobs, directory / "parts", options).value();
  }
  // Sends a part, which is interrupted unless `whole`.
  Result<std::uint64_t> send(std::size_t from, std::size_t to, const std::string& owner = "a",
                             bool whole = true) {
    WEFT_ASSIGN(auto part, parts->begin(hash, owner, from, bytes.size()));
    WEFT_OK(part.write(ByteSpan(bytes).subspan(from, to - from)));
    if (!whole) return from;
    return part.finish();
  }

  fs::path directory;
  ByteVector bytes = ByteVector(100'000);
  Hash hash;
  std::unique_ptr<Blobs> blobs;
  std::unique_ptr<BlobParts> parts;
};

TEST_F(BlobPartsTest, BecomeTheBlobWithTheLast) {
  EXPECT_EQ(parts->have(hash, "a"), 0u);
  EXPECT_EQ(send(0, 40'000).value(), 40'000u);
  EXPECT_FALSE(blobs->has(hash));
  EXPECT_EQ(send(40'000, 100'000).value(), 100'000u);

  EXPECT_EQ(blobs->read(hash).value(), bytes);
  EXPECT_EQ(blobs->bytes_total(), bytes.size());
  EXPECT_EQ(parts->have(hash, "b"), bytes.size()) << "no client needs to send it again";
  EXPECT_TRUE(fs::is_empty(directory / "parts"));
}

TEST_F(BlobPartsTest, GoOnBehindWhatCameBeforeACut) {
  ASSERT_TRUE(send(0, 30'000).has_value());
  ASSERT_TRUE(send(30'000, 55'000, "a", false).has_value());
  EXPECT_EQ(parts->have(hash, "a"), 55'000u);
  reopen();
  EXPECT_EQ(parts->have(hash, "a"), 55'000u) << "also after a restart";
  EXPECT_EQ(send(30'000, 60'000).error().code, ErrorCode::already_exists);
  EXPECT_EQ(send(60'000, 70'000).error().code, ErrorCode::already_exists);
  EXPECT_TRUE(send(55'000, 100'000).has_value());
  EXPECT_TRUE(blobs->has(hash));
}

TEST_F(BlobPartsTest, OfSeveralOwnersDoNotMeet) {
  bytes[5] ^= 1;
  ASSERT_TRUE(send(0, 50'000, "vandal").has_value());
  bytes[5] ^= 1;
  EXPECT_EQ(parts->have(hash, "a"), 0u);
  EXPECT_TRUE(send(0, 100'000, "a").has_value());
  EXPECT_EQ(blobs->read(hash).value(), bytes);
}

TEST_F(BlobPartsTest, WithAnotherHashAreThrownAway) {
  ASSERT_TRUE(send(0, 50'000).has_value());
  bytes[99'999] ^= 1;
  EXPECT_EQ(send(50'000, 100'000).error().code, ErrorCode::invalid_argument);
  EXPECT_FALSE(blobs->has(hash));
  EXPECT_EQ(parts->have(hash, "a"), 0u);
}

TEST_F(BlobPartsTest, AreWrittenByOneAtATimeAndNotPastTheirLength) {
  auto first = parts->begin(hash, "a", 0, 10).value();
  EXPECT_EQ(parts->begin(hash, "a", 0, 10).error().code, ErrorCode::already_exists);
  EXPECT_EQ(first.write(ByteSpan(bytes).first(11)).error().code, ErrorCode::resource_exhausted);
  {
    const auto gone = std::move(first);
  }
  EXPECT_TRUE(parts->begin(hash, "a", 0, 10).has_value());
}

TEST_F(BlobPartsTest, TakeNoMoreRoomThanTheyMayAndNotForEver) {
  reopen({.bytes_max = 60'000});
  ASSERT_TRUE(send(0, 50'000).has_value());
  EXPECT_EQ(send(0, 20'000, "b").error().code, ErrorCode::resource_exhausted);
  reopen({.bytes_max = 60'000, .keep = std::chrono::seconds(0)});
  EXPECT_EQ(parts->have(hash, "a"), 0u);
  EXPECT_TRUE(send(0, 20'000, "b").has_value());
}

// Begins an upload of another blob, with one byte.
void begin_another(BlobParts& parts, int number, const std::string& owner, bool& taken) {
  auto part = parts.begin(crypto::sha256(as_bytes(std::to_string(number))), owner, 0, 10);
  taken = part.has_value();
  if (taken) taken = part->write(as_bytes("x")).has_value();
}

TEST_F(BlobPartsTest, AreSoManyAndNotMore) {
  reopen({.parts_max = 3, .parts_of_owner_max = 2});
  std::vector<bool> taken;
  for (const auto& [number, owner] : {std::pair(1, "a"), {2, "a"}, {3, "a"}, {1, "b"}, {2, "b"}}) {
    bool one = false;
    begin_another(*parts, number, owner, one);
    taken.push_back(one);
  }
  EXPECT_EQ(taken, (std::vector<bool>{true, true, false, true, false}));
  const auto files = [&] {
    return std::distance(fs::directory_iterator(directory / "parts"), fs::directory_iterator());
  };
  EXPECT_EQ(files(), 3);

  // An existing upload can continue after a restart, and makes room when it is finished.
  reopen({.parts_max = 3, .parts_of_owner_max = 2});
  EXPECT_EQ(send(0, 10, "b").error().code, ErrorCode::resource_exhausted);
  EXPECT_TRUE(parts->begin(crypto::sha256(as_bytes("1")), "b", 1, 10).has_value());
  EXPECT_EQ(files(), 3);
}

TEST_F(BlobPartsTest, GiveWayWhenNoUploadContinuesThem) {
  reopen({.parts_max = 3, .parts_of_owner_max = 2, .spare = std::chrono::seconds(0)});
  bool taken = false;
  auto busy = parts->begin(crypto::sha256(as_bytes("busy")), "a", 0, 10).value();
  for (int number = 1; number <= 5; ++number) {
    begin_another(*parts, number, "a", taken);
    EXPECT_TRUE(taken) << number;
  }
  EXPECT_EQ(parts->have(crypto::sha256(as_bytes("5")), "a"), 1u) << "the last is there";
  EXPECT_EQ(parts->have(crypto::sha256(as_bytes("4")), "a"), 0u)
      << "the one before gave way, since the other is being written";
  begin_another(*parts, 6, "b", taken);
  begin_another(*parts, 7, "c", taken);
  EXPECT_TRUE(taken);
  EXPECT_EQ(parts->have(crypto::sha256(as_bytes("5")), "a"), 0u) << "the oldest of all gave way";
  EXPECT_TRUE(busy.write(as_bytes("x")).has_value());
}

}  // namespace
}  // namespace weft::store
