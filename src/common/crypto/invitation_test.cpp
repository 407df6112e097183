// An invitation is valid at the coordinator that signed it, until its time is over, for its wallet.
#include "common/crypto/invitation.h"

#include <gtest/gtest.h>

namespace weft::crypto {
namespace {

TEST(Invitation, CountsWhereItWasSigned) {
  const auto coordinator = KeyPair::generate().value();
  const auto worker = KeyPair::generate().value();
  const std::string text =
      write_invitation(coordinator, {.kind = InvitationKind::verifier, .until = 1000});

  EXPECT_LE(text.size(), invitation_bytes_max);
  const auto read = read_invitation(text, coordinator.public_key(), worker.public_key(), 999);
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_EQ(read->kind, InvitationKind::verifier);
  EXPECT_EQ(read_invitation(text, worker.public_key(), worker.public_key(), 1).error().code,
            ErrorCode::permission_denied);
  EXPECT_EQ(read_invitation(text, coordinator.public_key(), worker.public_key(), 1000).error().code,
            ErrorCode::permission_denied);
}

TEST(Invitation, OfOneWalletIsOfNoUseToAnother) {
  const auto coordinator = KeyPair::generate().value();
  const auto worker = KeyPair::generate().value();
  const std::string text =
      write_invitation(coordinator, {.until = 1000, .wallet = worker.public_key()});

  EXPECT_TRUE(read_invitation(text, coordinator.public_key(), worker.public_key(), 1).has_value());
  EXPECT_EQ(
      read_invitation(text, coordinator.public_key(), coordinator.public_key(), 1).error().code,
      ErrorCode::permission_denied);
}

TEST(Invitation, WithAnyDigitChangedIsNone) {
  const auto coordinator = KeyPair::generate().value();
  const std::string text = write_invitation(coordinator, {.until = 1000});
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string changed = text;
    changed[i] = changed[i] == '0' ? '1' : '0';
    EXPECT_FALSE(
        read_invitation(changed, coordinator.public_key(), coordinator.public_key(), 1).has_value())
        << i;
  }
  EXPECT_FALSE(read_invitation("", coordinator.public_key(), {}, 1).has_value());
}

TEST(Invitation, SaysWhatItIsFor) {
  const auto coordinator = KeyPair::generate().value();
  for (const auto kind : {InvitationKind::worker, InvitationKind::verifier, InvitationKind::client,
                          InvitationKind::own}) {
    const auto read = read_invitation(write_invitation(coordinator, {.kind = kind, .until = 1000}),
                                      coordinator.public_key(), coordinator.public_key(), 1);
    ASSERT_TRUE(read.has_value()) << read.error().message;
    EXPECT_EQ(read->kind, kind);
  }
  for (const int number : {0, 5, 255}) {
    const auto kind = static_cast<InvitationKind>(number);
    EXPECT_EQ(read_invitation(write_invitation(coordinator, {.kind = kind, .until = 1000}),
                              coordinator.public_key(), coordinator.public_key(), 1)
                  .error()
                  .code,
              ErrorCode::invalid_argument)
        << number;
  }
}

}  // namespace
}  // namespace weft::crypto
