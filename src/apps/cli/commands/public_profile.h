// `weft serve --public`: what a coordinator that strangers reach needs, checked in one place.
#pragma once

#include "apps/cli/commands/serve.h"
#include "common/base/result.h"

namespace weft::cli {

// Checks the options against the profile and completes them: models need keys, and with a
// certificate the address is every one of this machine if none was named. invalid_argument for what
// is missing (a name, encryption, a proxy) and for options that open what the profile closes; the
// sentence says what to do. docs/public.md lists the settings.
[[nodiscard]] Result<> apply_public_profile(ServeOptions& options);

}  // namespace weft::cli
