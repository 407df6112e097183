// `weft invite`: an invitation for a worker that the operator trusts, or for a client that is to
// have credits.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "common/base/result.h"
#include "common/crypto/invitation.h"

namespace weft::cli {

struct InviteOptions {
  std::filesystem::path data;  // The coordinator's; empty: the default one.
  crypto::InvitationKind kind = crypto::InvitationKind::worker;
  std::uint32_t days = 30;
  std::string wallet;  // Its address; empty: any.
};

// Signed by the key in the data folder. not_found if there is none.
[[nodiscard]] Result<std::string> invitation(const InviteOptions& options);

// Prints the invitation. Needs no running coordinator: its key signs, and its operator can read it.
[[nodiscard]] int invite_command(const InviteOptions& options);

}  // namespace weft::cli
