// base64url without padding (RFC 4648 section 5), as in addresses of pages.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/base/bytes.h"

namespace weft {

[[nodiscard]] std::string to_base64_url(ByteSpan bytes);
// Returns nullopt for a text that to_base64_url() would not write.
[[nodiscard]] std::optional<ByteVector> from_base64_url(std::string_view text);

}  // namespace weft
