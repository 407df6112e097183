// `weft invite`: makes an invitation for a worker that the operator trusts, or for a client that
// shall get credits.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "common/base/result.h"
#include "common/crypto/invitation.h"

namespace weft::cli {

struct InviteOptions {
  std::filesystem::path data;  // The coordinator's data folder; empty: the default one.
  crypto::InvitationKind kind = crypto::InvitationKind::worker;
  std::uint32_t days = 30;
  std::string wallet;  // Address of the invited wallet; empty: any wallet.
};

// Makes an invitation, signed by the key in the data folder. Fails with not_found if there is no
// key, and with invalid_argument if `wallet` is not an address.
[[nodiscard]] Result<std::string> invitation(const InviteOptions& options);

// Prints the invitation. The coordinator need not run, because its operator can read the key that
// signs.
[[nodiscard]] int invite_command(const InviteOptions& options);

}  // namespace weft::cli
