// A coordinator's key is written down when it is first seen, and another one is refused unless the
// key that is known announces it.
#include "apps/cli/known_coordinators.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "common/base/format.h"
#include "common/crypto/keys.h"
#include "common/protocol/signing.h"

namespace weft::cli {
namespace {

using Seen = KnownCoordinators::Seen;
using protocol::api::KeyRotation;

class KnownCoordinatorsTest : public testing::Test {
 protected:
  KnownCoordinatorsTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "weft-known-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  ~KnownCoordinatorsTest() override { std::filesystem::remove_all(folder_); }

  static KeyRotation rotation(const crypto::KeyPair& before, const PublicKey& after,
                              const crypto::KeyPair& signer) {
    return {
        .before = before.public_key().text(),
        .after = after.text(),
        .signature = signer.sign_now(protocol::rotation_digest(before.public_key(), after)).text()};
  }

  std::filesystem::path folder_;
  const crypto::KeyPair a_ = crypto::KeyPair::generate().value();
  const crypto::KeyPair b_ = crypto::KeyPair::generate().value();
  const crypto::KeyPair c_ = crypto::KeyPair::generate().value();
};

TEST_F(KnownCoordinatorsTest, AKeyIsWrittenDownAndAnotherOneRefused) {
  const KnownCoordinators known(folder_ / "known");

  EXPECT_EQ(known.check("host:1", a_.public_key(), {}).value(), Seen::first);
  EXPECT_EQ(known.check("host:2", b_.public_key(), {}).value(), Seen::first);
  EXPECT_EQ(known.check("host:1", a_.public_key(), {}).value(), Seen::known);
  const auto changed = known.check("host:1", b_.public_key(), {});

  ASSERT_FALSE(changed.has_value());
  EXPECT_EQ(changed.error().code, ErrorCode::unauthenticated);
  EXPECT_EQ(
      changed.error().message,
      weft::format("The coordinator at host:1 shows the key {}, and not {} as before ({}). "
                   "Nothing was signed: another coordinator may be answering in its place. "
                   "If its operator says that the key was replaced, remove its line from "
                   "that file.",
                   b_.public_key().text(), a_.public_key().text(), (folder_ / "known").string()));
  EXPECT_EQ(known.check("host:1", a_.public_key(), {}).value(), Seen::known) << "as before";
}

TEST_F(KnownCoordinatorsTest, AKeyThatTheKnownOneAnnouncesIsFollowed) {
  const KnownCoordinators known(folder_ / "known");
  ASSERT_TRUE(known.check("host", a_.public_key(), {}).has_value());
  const std::vector<KeyRotation> chain{rotation(a_, b_.public_key(), a_),
                                       rotation(b_, c_.public_key(), b_)};

  EXPECT_EQ(known.check("host", c_.public_key(), chain).value(), Seen::rotated);
  EXPECT_EQ(known.check("host", c_.public_key(), {}).value(), Seen::known);
  EXPECT_FALSE(known.check("host", a_.public_key(), chain).has_value()) << "the old key is over";
}

TEST_F(KnownCoordinatorsTest, OnlyTheKnownKeyAnnounces) {
  const KnownCoordinators known(folder_ / "known");
  ASSERT_TRUE(known.check("host", a_.public_key(), {}).has_value());
  const std::vector<std::vector<KeyRotation>> forged{
      {rotation(a_, b_.public_key(), b_)},
      {rotation(c_, b_.public_key(), c_)},
      {rotation(b_, c_.public_key(), b_), rotation(c_, b_.public_key(), c_)},
      {{.before = a_.public_key().text(), .after = b_.public_key().text(), .signature = "x"}},
  };
  for (const auto& chain : forged)
    EXPECT_FALSE(known.check("host", b_.public_key(), chain).has_value());
}

TEST_F(KnownCoordinatorsTest, ALineThatIsNoneIsNamed) {
  const auto file = folder_ / "known";
  std::ofstream(file) << "# comment\n\nhost nonsense\n";

  const auto seen = KnownCoordinators(file).check("host", a_.public_key(), {});

  EXPECT_EQ(seen.error().message, weft::format("Line 3 of {} is not \"HOST KEY\".", file.string()));
}

}  // namespace
}  // namespace weft::cli
