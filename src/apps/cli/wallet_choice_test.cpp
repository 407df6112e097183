// A wallet is created at a path without one only if the command allows it.
#include "apps/cli/wallet_choice.h"

#include <gtest/gtest.h>

#include "apps/cli/scratch_folder.h"

namespace weft::cli {
namespace {

TEST(WalletChoice, NamesAPathWithoutAWalletAndMakesNone) {
  const ScratchFolder folder("weft-wallet-choice");
  const auto path = folder.path() / "mistyped.json";

  const auto wallet = wallet_there(path);

  ASSERT_FALSE(wallet.has_value());
  EXPECT_EQ(wallet.error().code, ErrorCode::not_found);
  EXPECT_EQ(wallet.error().message, "There is no wallet at " + path.string() +
                                        "; weft wallet new --file " + path.string() +
                                        " makes one.");
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(WalletChoice, FindsTheWalletThatWasMade) {
  const ScratchFolder folder("weft-wallet-choice");
  const auto made = wallet_or_new(folder.path() / "wallet.json");
  ASSERT_TRUE(made.has_value()) << made.error().message;

  const auto found = wallet_there(folder.path() / "wallet.json");

  ASSERT_TRUE(found.has_value()) << found.error().message;
  EXPECT_EQ(found->public_key().text(), made->public_key().text());
}

}  // namespace
}  // namespace weft::cli
