// Tests of the known coordinators: a coordinator's key is stored when it is first seen. Another key
// of that coordinator is refused unless the known key announces it.
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

// The first coordinator that answers at a new host may be an impostor.
TEST_F(KnownCoordinatorsTest, AKeyThatIsNamedInAdvanceIsTheOnlyOneAtFirstSight) {
  const std::string file = (folder_ / "known").string();
  setenv("WEFT_KNOWN_COORDINATORS", file.c_str(), 1);
  const auto meet = [](const crypto::KeyPair& shown, bool is_loopback = false) {
    return KnownCoordinators::meet(
        {.host = "host:1", .is_loopback = is_loopback, .shown = shown.public_key()}, {});
  };
  KnownCoordinators::name_in_advance(a_.public_key().text());

  const auto other = meet(b_);
  ASSERT_FALSE(other.has_value());
  EXPECT_EQ(other.error(),
            (Error{ErrorCode::unauthenticated,
                   weft::format("The coordinator at host:1 shows the key {}, and not {}, which was "
                                "named in advance (--coordinator-key, WEFT_COORDINATOR_KEY). "
                                "Nothing was signed: another coordinator may be answering in its "
                                "place.",
                                b_.public_key().text(), a_.public_key().text())}));
  unsetenv("WEFT_KNOWN_COORDINATORS");
  EXPECT_FALSE(meet(b_, true).has_value()) << "of this machine neither";
  EXPECT_TRUE(meet(a_, true).has_value());
  setenv("WEFT_KNOWN_COORDINATORS", file.c_str(), 1);
  EXPECT_FALSE(std::filesystem::exists(file)) << "no other key was written down";
  EXPECT_EQ(meet(a_).value(), Seen::known);

  unsetenv("WEFT_COORDINATOR_KEY");
  EXPECT_FALSE(meet(b_).has_value()) << "it is known from then on";
  std::filesystem::remove(file);
  EXPECT_EQ(meet(b_).value(), Seen::first) << "the attack, where no key was named";
  KnownCoordinators::name_in_advance(a_.public_key().text());
  EXPECT_EQ(meet(a_).value(), Seen::known) << "what the user says replaces what was seen";
  KnownCoordinators::name_in_advance("no key");
  EXPECT_EQ(meet(a_).error().code, ErrorCode::invalid_argument);
  unsetenv("WEFT_COORDINATOR_KEY");
  unsetenv("WEFT_KNOWN_COORDINATORS");
}

}  // namespace
}  // namespace weft::cli
