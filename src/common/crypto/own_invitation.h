// The invitation that a coordinator leaves on its own machine for its operator's workers and
// clients. Native only.
#pragma once

#include <string>

#include "common/base/ids.h"

namespace weft::crypto {

// Returns the text of the file that the coordinator named if the file belongs to this user, only
// this user can read it (mode 0600), and it is an invitation of this coordinator. Otherwise the
// text is empty, so that a coordinator that names another file does not learn its content.
[[nodiscard]] std::string own_invitation(const std::string& file, const PublicKey& coordinator,
                                         const PublicKey& wallet);

}  // namespace weft::crypto
