// The invitation that a coordinator of this machine leaves for its operator's own workers and
// clients. Native only.
#pragma once

#include <string>

#include "common/base/ids.h"

namespace weft::crypto {

// What stands in the file that the coordinator named, where that is this user's own, readable by no
// other (mode 0600), and an invitation of this very coordinator; otherwise empty. A coordinator
// that names another file learns no part of it.
[[nodiscard]] std::string own_invitation(const std::string& file, const PublicKey& coordinator,
                                         const PublicKey& wallet);

}  // namespace weft::crypto
