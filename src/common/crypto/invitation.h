// What an operator gives to workers that it trusts, and to clients that it wants to have credits: a
// text that its coordinator's key has signed. A worker shows it when it proves its own key, a
// client to be granted credits. No part of it is stored: the signature and the time say whether it
// counts. Native only.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/clock.h"
#include "common/base/result.h"
#include "common/crypto/keys.h"

namespace weft::crypto {

enum class InvitationKind : std::uint8_t {
  worker = 1,    // Believed alone.
  verifier = 2,  // Its evidence decides between others.
  client = 3,    // Is granted credits, and never trusted.
  own = 4,       // A process of the operator's: a worker's and a client's in one.
};

struct Invitation {
  InvitationKind kind = InvitationKind::worker;
  UnixMillis until = 0;
  PublicKey wallet{};  // For this wallet alone; all zeros: for any.
};

// "weft-" and 244 hexadecimal digits.
[[nodiscard]] std::string write_invitation(const KeyPair& coordinator,
                                           const Invitation& invitation);
// invalid_argument if the text is not an invitation, permission_denied if it is not this
// coordinator's, is over, or is for another wallet.
[[nodiscard]] Result<Invitation> read_invitation(std::string_view text,
                                                 const PublicKey& coordinator,
                                                 const PublicKey& wallet, UnixMillis now);

inline constexpr std::size_t invitation_bytes_max = 256;

}  // namespace weft::crypto
