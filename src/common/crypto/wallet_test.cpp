// A wallet is Solana's id.json, readable by its owner alone. Anything else is refused with the
// reason, and an existing wallet is never overwritten.
#include "common/crypto/wallet.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include <sys/stat.h>

#include "common/crypto/wallet_text.h"

namespace weft::crypto {
namespace {

namespace fs = std::filesystem;

class Wallet : public testing::Test {
 protected:
  Wallet() {
    std::string pattern = (fs::temp_directory_path() / "weft-wallet-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
  }
  ~Wallet() override { fs::remove_all(folder_); }

  void write(const fs::path& path, std::string_view text, mode_t mode = 0600) {
    std::ofstream(path) << text;
    ::chmod(path.c_str(), mode);
  }
  static std::string read(const fs::path& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }
  static unsigned mode(const fs::path& path) {
    struct stat status{};
    EXPECT_EQ(::stat(path.c_str(), &status), 0);
    return status.st_mode & 07777;
  }

  fs::path folder_;
};

TEST_F(Wallet, IsMadeForItsOwnerAloneAndReadBack) {
  const fs::path path = folder_ / "config" / "weft" / "wallet.json";

  const KeyPair made = create_wallet(path).value();
  const KeyPair loaded = load_wallet(path).value();

  EXPECT_EQ(loaded.public_key(), made.public_key());
  EXPECT_EQ(loaded.seed(), made.seed());
  EXPECT_EQ(mode(path), 0600U);
  EXPECT_EQ(mode(path.parent_path()), 0700U);
  EXPECT_EQ(std::distance(fs::directory_iterator(path.parent_path()), fs::directory_iterator()),
            1);  // The folder has no file but the wallet.
}

TEST_F(Wallet, IsNeverOverwritten) {
  const fs::path path = folder_ / "wallet.json";
  const PublicKey first = create_wallet(path)->public_key();

  EXPECT_EQ(create_wallet(path).error().code, ErrorCode::already_exists);
  EXPECT_EQ(load_or_create_wallet(path)->public_key(), first);
}

TEST_F(Wallet, ReadsWhatSolanaWrites) {
  // The seed and key of RFC 8032's first test, as solana-keygen lays them out.
  const std::string text =
      "[157,97,177,157,239,253,90,96,186,132,74,244,146,236,44,196,68,73,197,105,123,50,105,25,112,"
      "59,172,3,28,174,127,96,"
      "215,90,152,1,130,177,10,183,213,75,254,211,201,100,7,58,14,225,114,243,218,166,35,37,175,2,"
      "26,104,247,7,81,26]";
  write(folder_ / "id.json", text);

  EXPECT_EQ(to_hex(load_wallet(folder_ / "id.json")->public_key().span()),
            "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a");
  EXPECT_EQ(wallet_text(parse_wallet_text(text).value()), text);
}

TEST_F(Wallet, RefusesAFileThatOthersMayRead) {
  const fs::path path = folder_ / "wallet.json";
  ASSERT_TRUE(create_wallet(path).has_value());
  for (const mode_t wrong : {0640, 0604, 0660, 0644, 0610}) {
    ::chmod(path.c_str(), wrong);
    const auto refused = load_wallet(path);
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().code, ErrorCode::permission_denied);
    EXPECT_NE(refused.error().message.find("chmod 600"), std::string::npos);
  }
}

TEST_F(Wallet, RefusesWhatIsNoWallet) {
  ASSERT_TRUE(create_wallet(folder_ / "good.json").has_value());
  const std::string good = read(folder_ / "good.json");
  const fs::path path = folder_ / "wrong.json";
  const std::string zeros = [] {
    std::string text = "[0";
    for (int i = 1; i < 64; ++i) text += ",0";
    return text + "]";
  }();
  for (const std::string& wrong :
       {std::string(), std::string("{}"), std::string("[1,2,3]"), good + "x",
        "[256" + zeros.substr(2), "[-1" + zeros.substr(2), "[0.5" + zeros.substr(2),
        zeros /* the key is not the seed's */, "[0," + zeros.substr(1), std::string(5000, ' ')}) {
    write(path, wrong);
    EXPECT_EQ(load_wallet(path).error().code, ErrorCode::invalid_argument) << wrong;
  }
  EXPECT_EQ(load_wallet(folder_ / "none.json").error().code, ErrorCode::not_found);
  EXPECT_EQ(load_wallet(folder_).error().code, ErrorCode::invalid_argument);
}

TEST_F(Wallet, LivesWhereTheConfigurationLives) {
  ::setenv("XDG_CONFIG_HOME", "/somewhere", 1);
  EXPECT_EQ(default_wallet_path().value(), "/somewhere/weft/wallet.json");
  ::unsetenv("XDG_CONFIG_HOME");
  ::setenv("HOME", "/home/user", 1);
  EXPECT_EQ(default_wallet_path().value(), "/home/user/.config/weft/wallet.json");
}

}  // namespace
}  // namespace weft::crypto
