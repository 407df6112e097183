// `weft serve --public`: checks in one place the settings of a coordinator that strangers can
// reach.
#pragma once

#include "apps/cli/commands/serve.h"
#include "common/base/result.h"

namespace weft::cli {

// Checks the options against the profile and completes them: models require API keys, and with a
// certificate the server listens on all addresses if no address was given. Fails with
// invalid_argument for a missing option (a name, encryption, a proxy) and for options that the
// profile forbids; the message says what to do. docs/public.md lists the settings.
[[nodiscard]] Result<> apply_public_profile(ServeOptions& options);

}  // namespace weft::cli
