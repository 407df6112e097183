// The operator: the holder of the coordinator's own wallet, whose signed orders carry its clock.
//
// "at" in an order's body is the operator's clock in milliseconds since 1970: an order that was
// signed earlier does not undo what was signed later, however often it is sent again.
#pragma once

#include <string_view>

#include "apps/coordinator/http/http.h"
#include "common/json/json.h"

namespace weft::coordinator {

[[nodiscard]] bool is_operator(const HttpParts& parts, const PublicKey& key);
// permission_denied: "Only the operator, with the coordinator's own wallet, VERB."
[[nodiscard]] net::Reply only_operator(std::string_view verb);
// The bounded "at" of an order; invalid_argument names it if it is missing or out of bounds.
[[nodiscard]] Result<std::int64_t> signed_at(const json::Object& order);

}  // namespace weft::coordinator
