// A coordinator on this machine cannot make a worker or client send it the content of any other
// file.
#include "common/crypto/own_invitation.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <sys/stat.h>

#include "common/base/clock.h"
#include "common/crypto/invitation.h"

namespace weft::crypto {
namespace {

class OwnInvitation : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "weft-invite-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string write(const std::string& text, mode_t mode = 0600) {
    const auto path = folder_ / "invite";
    std::ofstream(path) << text;
    chmod(path.c_str(), mode);
    return path.string();
  }

  std::filesystem::path folder_;
  KeyPair coordinator_ = KeyPair::generate().value();
  KeyPair worker_ = KeyPair::generate().value();
  std::string text_ = write_invitation(coordinator_, {.until = unix_now() + 1'000'000});

  std::string found(const std::string& file, const KeyPair& asking) {
    return own_invitation(file, asking.public_key(), worker_.public_key());
  }
};

TEST_F(OwnInvitation, IsReadWhereItIsThisUsersAndThisCoordinators) {
  EXPECT_EQ(found(write(text_), coordinator_), text_);
}

TEST_F(OwnInvitation, OfAnotherCoordinatorStaysHere) {
  EXPECT_EQ(found(write(text_), worker_), "");
}

TEST_F(OwnInvitation, ThatOthersMayReadIsNone) {
  EXPECT_EQ(found(write(text_, 0644), coordinator_), "");
}

TEST_F(OwnInvitation, NoOtherFileIsSent) {
  EXPECT_EQ(found(write("a secret"), coordinator_), "");
  EXPECT_EQ(found("/dev/zero", coordinator_), "");
  EXPECT_EQ(found((folder_ / "missing").string(), coordinator_), "");
  EXPECT_EQ(found("invite", coordinator_), "");
  std::filesystem::create_symlink(write(text_), folder_ / "link");
  EXPECT_EQ(found((folder_ / "link").string(), coordinator_), "");
}

}  // namespace
}  // namespace weft::crypto
