// A blob in a pack can be read at once, and after a crash if it was synced. A blob that a crash
// damaged is not found, and does not affect others.
#include "platform/store/blob_pack.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <thread>
#include <vector>

#include <sys/stat.h>

#include "common/crypto/sha256.h"

namespace weft::store {
namespace {

namespace fs = std::filesystem;

class BlobPackTest : public testing::Test {
 protected:
  BlobPackTest() {
    std::string name = (fs::temp_directory_path() / "weft-pack-XXXXXX").string();
    directory = ::mkdtemp(name.data());
  }
  ~BlobPackTest() override { fs::remove_all(directory); }

  std::unique_ptr<BlobPack> open(std::uint64_t file_bytes_max = 1 << 20) const {
    return BlobPack::open(directory, {.file_bytes_max = file_bytes_max}).value();
  }
  static ByteVector text(std::string_view of) { return {of.begin(), of.end()}; }
  static Hash put(BlobPack& pack, std::string_view bytes) {
    const Hash hash = crypto::sha256(as_bytes(bytes));
    EXPECT_TRUE(pack.add(hash, as_bytes(bytes)).value());
    return hash;
  }
  static Result<ByteVector> whole(const BlobPack& pack, const Hash& hash) {
    const auto place = pack.find(hash);
    if (!place) return fail(ErrorCode::not_found, "It is not there.");
    return pack.read(*place, 0, place->size);
  }
  fs::path file(std::string_view name) const { return directory / name; }
  // Writes the waiting bytes to the file, as in a crash in which the page cache survived in part.
  static void write_out(const BlobPack& pack, const Hash& blob) {
    ASSERT_TRUE(pack.file_of(*pack.find(blob)).has_value());
  }
  void overwrite(const fs::path& path, std::uint64_t at, char with) const {
    std::fstream stream(path, std::ios::in | std::ios::out | std::ios::binary);
    stream.seekp(static_cast<std::streamoff>(at));
    stream.put(with);
  }

  fs::path directory;
};

TEST_F(BlobPackTest, GivesBackWhatWasAddedAtOnceAndWhenReopened) {
  Hash one;
  Hash empty;
  {
    const auto pack = open();
    one = put(*pack, "one");
    empty = put(*pack, "");
    EXPECT_EQ(whole(*pack, one).value(), text("one"));
    EXPECT_FALSE(pack->add(one, as_bytes(std::string_view("one"))).value())
        << "it is there already";
    ASSERT_TRUE(pack->sync().has_value());
  }

  const auto pack = open();

  EXPECT_EQ(whole(*pack, one).value(), text("one"));
  EXPECT_EQ(whole(*pack, empty).value(), ByteVector());
  EXPECT_EQ(pack->read(*pack->find(one), 1, 1).value(), text("n"));
  EXPECT_EQ(pack->bytes(), 3U);
  EXPECT_EQ(pack->count(), 2U);
}

TEST_F(BlobPackTest, PassesOverWhatACrashTore) {
  Hash before;
  Hash torn;
  Hash behind;
  Hash cut;
  {
    const auto pack = open();
    before = put(*pack, "before");
    ASSERT_TRUE(pack->sync().has_value());
    torn = put(*pack, "torn torn torn");
    behind = put(*pack, "behind");
    cut = put(*pack, "cut off");
    write_out(*pack, cut);
    overwrite(file("000001"), pack->find(torn)->offset + 5, '?');
    fs::resize_file(file("000001"), pack->find(cut)->offset + 3);
  }

  const auto pack = open();

  EXPECT_EQ(whole(*pack, before).value(), text("before"));
  EXPECT_FALSE(pack->find(torn).has_value());
  EXPECT_EQ(whole(*pack, behind).value(), text("behind"));
  EXPECT_FALSE(pack->find(cut).has_value());
  EXPECT_EQ(put(*pack, "torn torn torn"), torn) << "it can be added again";
  EXPECT_EQ(whole(*pack, torn).value(), text("torn torn torn"));
}

TEST_F(BlobPackTest, EndsAtAHeadThatIsNone) {
  Hash one;
  Hash two;
  {
    const auto pack = open();
    one = put(*pack, "one");
    two = put(*pack, "two");
    write_out(*pack, two);
    overwrite(file("000001"), pack->find(two)->offset - 20, '?');
  }

  const auto pack = open();
  const Hash three = put(*pack, "three");
  write_out(*pack, three);

  EXPECT_EQ(whole(*pack, one).value(), text("one"));
  EXPECT_FALSE(pack->find(two).has_value());
  EXPECT_EQ(whole(*open(), three).value(), text("three")) << "it stands in a file of its own";
}

TEST_F(BlobPackTest, TrustsWhatAMarkSaysAndHashesTheRest) {
  Hash marked;
  Hash open_end;
  {
    const auto pack = open();
    marked = put(*pack, "marked");
    ASSERT_TRUE(pack->sync().has_value());
    open_end = put(*pack, "open end");  // This blob is added after the mark.
    write_out(*pack, open_end);
    overwrite(file("000001"), pack->find(marked)->offset, '?');
    overwrite(file("000001"), pack->find(open_end)->offset, '?');
  }

  const auto pack = open();

  EXPECT_EQ(whole(*pack, marked).value(), text("?arked"))
      << "damage after the sync is seen by a reader that has the hash";
  EXPECT_FALSE(pack->find(open_end).has_value());
}

TEST_F(BlobPackTest, BeginsAnotherFileWhenOneIsFull) {
  std::vector<Hash> hashes;
  {
    const auto pack = open(200);
    for (int i = 0; i < 10; ++i)
      hashes.push_back(put(*pack, "a blob of some bytes " + std::to_string(i)));
    ASSERT_TRUE(pack->sync().has_value());
  }

  const auto pack = open(200);

  EXPECT_TRUE(fs::exists(file("000003")));
  for (int i = 0; i < 10; ++i)
    EXPECT_EQ(whole(*pack, hashes[static_cast<std::size_t>(i)]).value(),
              text("a blob of some bytes " + std::to_string(i)));
}

// A blob that was not synced is not in the file and can be read; file_of() writes it first.
TEST_F(BlobPackTest, KeepsInMemoryWhatWasNotSynced) {
  const auto pack = open();
  const Hash one = put(*pack, "one");
  ASSERT_TRUE(pack->sync().has_value());
  const auto size = fs::file_size(file("000001"));
  const Hash two = put(*pack, "two");

  EXPECT_EQ(fs::file_size(file("000001")), size);
  EXPECT_EQ(whole(*pack, two).value(), text("two"));
  EXPECT_EQ(pack->read(*pack->find(two), 1, 2).value(), text("wo"));
  EXPECT_EQ(open()->find(two), std::nullopt);

  const auto path = pack->file_of(*pack->find(two)).value();
  std::ifstream stream(path, std::ios::binary);
  stream.seekg(static_cast<std::streamoff>(pack->find(two)->offset));
  std::string read(3, ' ');
  stream.read(read.data(), 3);
  EXPECT_EQ(read, "two");
  EXPECT_EQ(whole(*open(), one).value(), text("one"));
}

TEST_F(BlobPackTest, WritesWhatWaitsWhenItIsTooMuch) {
  const auto pack = BlobPack::open(directory, {.waiting_bytes_max = 1000}).value();
  std::vector<Hash> hashes;
  for (int i = 0; i < 40; ++i)
    hashes.push_back(put(*pack, std::string(100, 'x') + std::to_string(i)));

  EXPECT_GT(fs::file_size(file("000001")), 4000U);
  for (const Hash& hash : hashes) EXPECT_TRUE(whole(*pack, hash).has_value());
  pack->sync().value();
  for (const Hash& hash : hashes) EXPECT_TRUE(open()->find(hash).has_value());
}

TEST_F(BlobPackTest, RemovesWhatIsNotWrittenYet) {
  {
    const auto pack = open();
    const Hash gone = put(*pack, "gone");
    const Hash kept = put(*pack, "kept");
    EXPECT_TRUE(pack->remove(gone).value());
    EXPECT_EQ(pack->bytes(), 4U);
    EXPECT_FALSE(pack->find(gone).has_value());
    EXPECT_EQ(whole(*pack, kept).value(), text("kept"));
    ASSERT_TRUE(pack->sync().has_value());
  }

  const auto pack = open();

  EXPECT_EQ(pack->count(), 1U);
  EXPECT_FALSE(pack->find(crypto::sha256(as_bytes(std::string_view("gone")))).has_value());
  put(*pack, "gone");
  EXPECT_EQ(pack->count(), 2U);
}

TEST_F(BlobPackTest, GivesBackTheRoomThatWasSetAside) {
  const auto blocks = [&] {
    struct stat status{};
    EXPECT_EQ(::stat(file("000001").c_str(), &status), 0);
    return status.st_blocks * 512;
  };
  {
    const auto pack = open();
    put(*pack, "one");
    ASSERT_TRUE(pack->sync().has_value());
  }
  if (blocks() < 1 << 20) GTEST_SKIP() << "this file system sets none aside";

  const auto pack = open();

  EXPECT_LE(blocks(), 1 << 16);
  EXPECT_EQ(pack->count(), 1U);
}

TEST_F(BlobPackTest, ForgetsWhatIsRemovedForGood) {
  Hash gone;
  Hash kept;
  {
    const auto pack = open();
    gone = put(*pack, "gone");
    kept = put(*pack, "kept");
    ASSERT_TRUE(pack->sync().has_value());
    EXPECT_TRUE(pack->remove(gone).value());
    EXPECT_FALSE(pack->remove(gone).value());
  }

  const auto pack = open();

  EXPECT_FALSE(pack->find(gone).has_value());
  EXPECT_EQ(whole(*pack, kept).value(), text("kept"));
  EXPECT_EQ(pack->bytes(), 4U);
}

TEST_F(BlobPackTest, TakesAndSyncsFromManyThreads) {
  constexpr int each = 300;
  {
    const auto pack = open(16 << 10);
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&pack, t] {
        for (int i = 0; i < each; ++i) {
          put(*pack, std::to_string(t) + " " + std::to_string(i));
          if (i % 50 == 0) {
            EXPECT_TRUE(pack->sync().has_value());
          }
        }
      });
    }
  }

  const auto pack = open();

  EXPECT_EQ(pack->count(), 4U * each);
  for (int t = 0; t < 4; ++t) {
    for (int i = 0; i < each; ++i) {
      const std::string bytes = std::to_string(t) + " " + std::to_string(i);
      ASSERT_EQ(whole(*pack, crypto::sha256(as_bytes(bytes))).value(), text(bytes));
    }
  }
}

}  // namespace
}  // namespace weft::store
