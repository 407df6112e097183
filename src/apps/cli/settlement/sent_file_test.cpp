// The file of a sent transaction: every field is read back, and another text is refused.
#include "apps/cli/settlement/sent_file.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

namespace weft::cli {
namespace {

TEST(SentFile, what_was_signed_comes_back_and_nothing_else_does) {
  std::string pattern = (std::filesystem::temp_directory_path() / "weft-sent-XXXXXX").string();
  const std::filesystem::path folder = mkdtemp(pattern.data());
  const SentFile file = SentFile::of(folder / "wallet.json").value();
  SentRecord record{.program = {}, .what = "Deposits 5.000000 credits.", .transaction = {}};
  record.program.bytes.fill(7);
  record.transaction.bytes.resize(200, 9);
  record.transaction.last_valid_height = 123;
  EXPECT_EQ(file.read().value(), std::nullopt);

  ASSERT_TRUE(file.write(record));

  const auto read = file.read().value();
  ASSERT_TRUE(read);
  EXPECT_EQ(read->program, record.program);
  EXPECT_EQ(read->what, record.what);
  EXPECT_EQ(read->transaction.bytes, record.transaction.bytes);
  EXPECT_EQ(read->transaction.last_valid_height, 123U);
  EXPECT_EQ(read->transaction.signature.bytes[0], 9);
  for (const char* text : {"", "weft-sent-1\n", "weft-sent-1\nx\ny\n1\nAAAA\n"}) {
    std::ofstream(folder / "wallet.json.sent") << text;
    EXPECT_FALSE(file.read()) << text;
  }
  file.remove();
  EXPECT_EQ(file.read().value(), std::nullopt);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace weft::cli
