// The blob cache returns the stored blob or none, whatever happens to its files, and keeps to its
// bound.
#include "engine/gpu/native/blob_cache.h"

#include <gtest/gtest.h>

#include <fstream>

namespace weft::gpu::native {
namespace {

namespace fs = std::filesystem;

class BlobCacheTest : public testing::Test {
 protected:
  void SetUp() override {
    directory_ = fs::path(testing::TempDir()) /
                 ("weft_blob_cache_" +
                  std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
    fs::remove_all(directory_);
  }
  void TearDown() override { fs::remove_all(directory_); }

  static ByteVector load(BlobCache& cache, ByteSpan key) {
    ByteVector blob(cache.load(key, {}));
    if (!blob.empty()) {
      EXPECT_EQ(cache.load(key, blob), blob.size());
    }
    return blob;
  }
  std::vector<fs::path> files() const {
    std::vector<fs::path> paths;
    for (const auto& entry : fs::directory_iterator(directory_)) paths.push_back(entry.path());
    return paths;
  }

  fs::path directory_;
  const ByteVector key_ = {1, 2, 3};
  const ByteVector blob_ = {9, 8, 7, 6};
};

TEST_F(BlobCacheTest, KeepsBlobsBetweenRuns) {
  BlobCache({.directory = directory_}).store(key_, blob_);

  BlobCache later({.directory = directory_});

  EXPECT_EQ(load(later, key_), blob_);
  EXPECT_EQ(load(later, ByteVector{1, 2}), ByteVector{});
  EXPECT_EQ(later.hits(), 1);
}

TEST_F(BlobCacheTest, TakesDamagedFilesForMissingOnes) {
  BlobCache cache({.directory = directory_});
  cache.store(key_, blob_);
  const fs::path file = files().at(0);
  const auto size = fs::file_size(file);

  for (std::uint64_t at = 0; at < size; ++at) {
    std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
    stream.seekg(static_cast<std::streamoff>(at));
    const auto byte = static_cast<char>(stream.get() ^ 0x40);
    stream.seekp(static_cast<std::streamoff>(at));
    stream.put(byte);
    stream.close();
    BlobCache again({.directory = directory_});
    EXPECT_EQ(load(again, key_), ByteVector{}) << "byte " << at;
    cache.store(key_, blob_);
  }
  for (std::uint64_t length = 0; length < size; ++length) {
    fs::resize_file(file, length);
    BlobCache again({.directory = directory_});
    EXPECT_EQ(load(again, key_), ByteVector{}) << "length " << length;
    cache.store(key_, blob_);
  }
}

TEST_F(BlobCacheTest, DropsWhatWasLongestUnusedBeyondItsBound) {
  BlobCache cache({.directory = directory_, .bytes_max = 10'000});
  for (std::uint8_t i = 0; i < 20; ++i) cache.store(ByteVector{i}, ByteVector(1000, i));

  std::uint64_t bytes = 0;
  for (const fs::path& file : files()) bytes += fs::file_size(file);
  EXPECT_LE(bytes, 10'000);
  EXPECT_EQ(load(cache, ByteVector{0}), ByteVector{});
  EXPECT_EQ(load(cache, ByteVector{19}), ByteVector(1000, 19));
}

TEST_F(BlobCacheTest, DoesWithoutAFolderThatCannotBeMade) {
  std::ofstream(directory_) << "a file is in the way";
  BlobCache cache({.directory = directory_ / "below"});

  cache.store(key_, blob_);

  EXPECT_EQ(load(cache, key_), ByteVector{});
  EXPECT_EQ(cache.stores(), 0);
}

}  // namespace
}  // namespace weft::gpu::native
