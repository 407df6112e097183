// The file: it survives being closed, belongs to one process, says what is wrong with it, and grows from older versions.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "service/store/sqlite/schema.h"
#include "service/store/sqlite/sqlite_store.h"
#include "service/store/sqlite/test_rows.h"

namespace weft::store::sqlite {
namespace {

namespace fs = std::filesystem;

class SqliteFile : public testing::Test {
 protected:
  SqliteFile() {
    std::string name = (fs::temp_directory_path() / "weft-sqlite-XXXXXX").string();
    directory = ::mkdtemp(name.data());
    path = directory / "deep" / "weft.db";
  }
  ~SqliteFile() override { fs::remove_all(directory); }

  fs::path directory;
  fs::path path;
};

TEST_F(SqliteFile, KeepsEverythingOverAReopening) {
  Job job = job_row(1);
  job.manifest = std::string("{\"a\": \"") + std::string(100'000, 'x') + "\"}";
  {
    const auto store = open(path).value();
    ASSERT_TRUE(store->commit(submit_batch(job)).has_value());
  }

  const auto store = open(path).value();

  EXPECT_EQ(store->load()->jobs, std::vector{job});
  EXPECT_EQ(store->commit(submit_batch(job)).error().code, ErrorCode::already_exists);
  EXPECT_TRUE(store->audit().has_value());
}

TEST_F(SqliteFile, BelongsToOneAtATime) {
  const auto store = open(path).value();

  const auto second = open(path);

  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().code, ErrorCode::unavailable);
  EXPECT_TRUE(second.error().message.starts_with("Another process has the database")) << second.error().message;
}

TEST_F(SqliteFile, CallsAFileThatIsNoDatabaseDamaged) {
  fs::create_directories(path.parent_path());
  std::ofstream(path) << std::string(8192, 'n');

  const auto opened = open(path);

  ASSERT_FALSE(opened.has_value());
  EXPECT_EQ(opened.error().code, ErrorCode::data_loss);
  EXPECT_EQ(opened.error().message,
            "The database is damaged (file is not a database); restore it from a copy. - while opening the database " + path.string());
}

TEST_F(SqliteFile, FindsDamageInsideTheFile) {
  {
    const auto store = open(path).value();
    for (unsigned i = 0; i < 300; ++i) {
      Batch batch;
      batch.jobs.push_back(job_row(i));
      ASSERT_TRUE(store->commit(batch).has_value());
    }
  }
  {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(4096 * 3);
    file << std::string(static_cast<std::size_t>(fs::file_size(path)) - 4096 * 3, '\xff');
  }

  const auto opened = open(path);
  const ErrorCode code = opened ? opened.value()->load().error().code : opened.error().code;

  EXPECT_EQ(code, ErrorCode::data_loss);
}

TEST_F(SqliteFile, NoticesMoneyThatWasChangedBehindItsBack) {
  const auto store = open(path).value();
  ASSERT_TRUE(store->commit(submit_batch(job_row(1))).has_value());
  ASSERT_TRUE(store->audit().has_value());
  Connection other = Connection::open(path.string(), "").value();
  ASSERT_TRUE(other.execute("UPDATE accounts SET balance = balance + 1 WHERE kind = 1").has_value());

  EXPECT_EQ(store->audit().error().code, ErrorCode::data_loss);
}

TEST_F(SqliteFile, RefusesAFileOfANewerWeft) {
  {
    ASSERT_TRUE(open(path).has_value());
  }
  {
    Connection other = Connection::open(path.string(), "").value();
    ASSERT_TRUE(other.execute("INSERT INTO schema_steps VALUES (1000, 0)").has_value());
  }

  const auto opened = open(path);

  ASSERT_FALSE(opened.has_value());
  EXPECT_EQ(opened.error().code, ErrorCode::unsupported);
}

TEST_F(SqliteFile, SyncsEveryCommit) {
  const auto store = open(path).value();
  ASSERT_TRUE(store->commit(submit_batch(job_row(1))).has_value());
  Connection other = Connection::open(path.string(), "").value();
  Statement mode = other.prepare("PRAGMA journal_mode").value();
  mode.start();
  ASSERT_TRUE(mode.next().value());
  EXPECT_EQ(mode.text(0), "wal");
}

TEST_F(SqliteFile, WritesNothingMoreAfterTheDiskIsFull) {
  const auto store = open(path, {.synchronous = true, .vfs = "", .pages_max = 64}).value();
  Result<> result;
  unsigned stored = 0;
  for (unsigned i = 0; i < 2000 && result; ++i) {
    Batch batch;
    Job job = job_row(i);
    job.manifest = std::string(4000, 'x');
    batch.jobs.push_back(job);
    result = store->commit(batch);
    stored += result ? 1 : 0;
  }
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, ErrorCode::resource_exhausted);

  Batch small;
  small.settings.push_back({.name = "a", .value = {}});
  EXPECT_EQ(store->commit(small).error().code, ErrorCode::resource_exhausted);
  EXPECT_EQ(store->load()->jobs.size(), stored);
}

}  // namespace
}  // namespace weft::store::sqlite
