// Models on disk stay within a bound; those that were used least recently are removed.
#include "apps/worker/native/chunk_folder.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace weft::worker {
namespace {

constexpr std::uint32_t chunk_bytes = 64 << 10;

class Chunks : public testing::Test {
 protected:
  Chunks() {
    std::string pattern = (std::filesystem::temp_directory_path() / "weft-chunks-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  ~Chunks() override { std::filesystem::remove_all(folder_); }

  static ModelFile model(std::uint8_t number, std::uint32_t chunks = 2) {
    ModelFile out{
        .hash = {}, .bytes = std::uint64_t{chunks} * chunk_bytes, .chunk_bytes = chunk_bytes};
    out.hash.bytes.fill(number);
    return out;
  }
  // Stores all chunks of a model. Models with higher numbers are stored later, all of them hours
  // ago.
  void store(const ChunkFolder& folder, const ModelFile& file) const {
    for (std::uint32_t i = 0; i < file.chunks(); ++i) {
      const auto written = folder.write(file, i, ByteVector(chunk_bytes, file.hash.bytes[0]));
      ASSERT_TRUE(written.has_value()) << written.error().message;
    }
    was_used(file, std::chrono::hours(100 - file.hash.bytes[0]));
  }
  void was_used(const ModelFile& file, std::chrono::hours ago) const {
    std::filesystem::last_write_time(folder_ / (file.hash.text() + ".chunks"),
                                     std::filesystem::file_time_type::clock::now() - ago);
  }
  static bool has(const ChunkFolder& folder, const ModelFile& file) {
    return folder.read(file, 0).has_value();
  }

  std::filesystem::path folder_;
};

TEST_F(Chunks, StayWithinTheirBoundAndTheLeastRecentlyUsedGo) {
  const ChunkFolder folder(folder_, std::uint64_t{5} * chunk_bytes);
  store(folder, model(1));
  store(folder, model(2));
  const auto mapped = folder.open(model(1));  // Uses the first model again.
  ASSERT_TRUE(mapped.has_value());

  store(folder, model(3));

  EXPECT_TRUE(has(folder, model(1)));
  EXPECT_FALSE(has(folder, model(2))) << "so that this one goes";
  EXPECT_TRUE(has(folder, model(3)));
  was_used(model(1), std::chrono::hours(1000));
  store(folder, model(4));
  EXPECT_FALSE(has(folder, model(1)));
  EXPECT_EQ((*mapped)->view(0, 1).value()[0], 1) << "what is mapped stays readable";
}

TEST_F(Chunks, GrowWithoutEndWhereTheBoundIsOff) {
  const ChunkFolder folder(folder_, 0);
  for (std::uint8_t i = 1; i <= 6; ++i) store(folder, model(i));

  for (std::uint8_t i = 1; i <= 6; ++i) EXPECT_TRUE(has(folder, model(i)));
}

TEST_F(Chunks, OfAModelOverTheBoundAreRefusedAndNothingGoes) {
  const ChunkFolder folder(folder_, std::uint64_t{3} * chunk_bytes);
  store(folder, model(1));

  const auto refused = folder.write(model(2, 4), 0, ByteVector(chunk_bytes));

  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::resource_exhausted);
  EXPECT_EQ(refused.error().message,
            "The model has 262144 bytes; at most 196608 are kept on this disk (weft work "
            "--model-disk-mb).");
  EXPECT_TRUE(has(folder, model(1)));
}

}  // namespace
}  // namespace weft::worker
