// Tests of the invitation file for the operator's own programs: only the operator's user can read
// it, and each start writes a new one.
#include "apps/coordinator/invite_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "common/crypto/invitation.h"

namespace weft::coordinator {
namespace {

namespace fs = std::filesystem;

struct InviteFileTest : testing::Test {
  InviteFileTest() {
    std::string name = (fs::temp_directory_path() / "weft-invite-XXXXXX").string();
    folder = ::mkdtemp(name.data());
  }
  ~InviteFileTest() override { fs::remove_all(folder); }
  static std::string text_of(const std::string& path) {
    std::ifstream in(path);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  fs::path folder;
  crypto::KeyPair identity = crypto::KeyPair::generate().value();
};

TEST_F(InviteFileTest, IsAnInvitationThatOnlyItsUserCanRead) {
  const auto path = write_invite(folder, identity, 1000);

  ASSERT_TRUE(path) << path.error().message;
  EXPECT_TRUE(fs::path(*path).is_absolute());
  EXPECT_EQ(fs::status(*path).permissions(), fs::perms::owner_read | fs::perms::owner_write);
  const auto invitation =
      crypto::read_invitation(text_of(*path), identity.public_key(), PublicKey(), 2000);
  ASSERT_TRUE(invitation) << invitation.error().message;
  EXPECT_EQ(invitation->kind, crypto::InvitationKind::own);
}

TEST_F(InviteFileTest, TakesThePlaceOfAnEarlierOneAndOfALinkToAnotherFile) {
  std::ofstream(folder / "precious") << "kept";
  fs::create_symlink(folder / "precious", folder / "invite");

  ASSERT_TRUE(write_invite(folder, identity, 1000));
  ASSERT_TRUE(write_invite(folder, identity, 1000));

  EXPECT_EQ(text_of((folder / "precious").string()), "kept");
  EXPECT_FALSE(fs::is_symlink(folder / "invite"));
}

TEST_F(InviteFileTest, CannotBeWrittenIntoAFolderThatIsNotThere) {
  const auto path = write_invite(folder / "missing", identity, 1000);

  ASSERT_FALSE(path);
  EXPECT_EQ(path.error().code, ErrorCode::unavailable);
}

}  // namespace
}  // namespace weft::coordinator
