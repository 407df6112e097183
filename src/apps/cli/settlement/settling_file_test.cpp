// Tests of the file of an open settling: until its request is answered, the request is repeated and
// no other settling is requested.
#include "apps/cli/settlement/settling_file.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

namespace weft::cli {
namespace {

TEST(SettlingFile, the_same_settling_comes_back_until_it_is_answered) {
  std::string pattern = (std::filesystem::temp_directory_path() / "weft-settling-XXXXXX").string();
  const std::filesystem::path folder = mkdtemp(pattern.data());
  const SettlingFile file = SettlingFile::of(folder / "wallet.json").value();
  PublicKey coordinator, other;
  coordinator.bytes.fill(7);
  other.bytes.fill(8);
  EXPECT_EQ(file.read().value(), std::nullopt);

  const auto first = file.begin(coordinator, 25'000'000);
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_EQ(file.begin(coordinator, 25'000'000).value(), *first);
  const auto again = SettlingFile::of(folder / "wallet.json").value();
  EXPECT_EQ(again.begin(coordinator, 25'000'000).value(), *first);
  EXPECT_EQ(again.begin(coordinator, 24'000'000).error().code, ErrorCode::unavailable);
  EXPECT_EQ(again.begin(other, 25'000'000).error().code, ErrorCode::unavailable);
  EXPECT_EQ(again.read().value(), *first);

  file.remove();
  const auto second = file.begin(coordinator, 25'000'000);
  ASSERT_TRUE(second);
  EXPECT_NE(second->nonce, first->nonce);
  for (const char* text : {"", "weft-settling-1\n", "weft-settling-1\nx\n5\n00\n"}) {
    std::ofstream(folder / "wallet.json.settling") << text;
    EXPECT_FALSE(file.begin(coordinator, 1)) << text;
  }
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace weft::cli
