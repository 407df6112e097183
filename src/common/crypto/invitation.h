// An invitation, which an operator gives to workers that it trusts and to clients that are to have
// credits: a text that its coordinator's key has signed. A worker shows it when it proves its own
// key, a client shows it to be granted credits. The coordinator does not store it: the signature
// and the time decide if it is valid. Native only.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/clock.h"
#include "common/base/result.h"
#include "common/crypto/keys.h"

namespace weft::crypto {

enum class InvitationKind : std::uint8_t {
  worker = 1,    // For a worker that is believed without agreement of other workers.
  verifier = 2,  // For a worker whose evidence decides between other workers.
  client = 3,    // For a client, which is granted credits and is never trusted as a worker.
  own = 4,       // For a process of the operator, as a worker and as a client.
};

struct Invitation {
  InvitationKind kind = InvitationKind::worker;
  UnixMillis until = 0;
  PublicKey wallet{};  // The only wallet that may use the invitation; all zeros: any wallet may.
};

// The text of an invitation: "weft-" and 244 hexadecimal digits.
[[nodiscard]] std::string write_invitation(const KeyPair& coordinator,
                                           const Invitation& invitation);
// Reads an invitation. Fails with invalid_argument if the text is not an invitation, and with
// permission_denied if it is of another coordinator, has expired, or is for another wallet.
[[nodiscard]] Result<Invitation> read_invitation(std::string_view text,
                                                 const PublicKey& coordinator,
                                                 const PublicKey& wallet, UnixMillis now);

inline constexpr std::size_t invitation_bytes_max = 256;

}  // namespace weft::crypto
