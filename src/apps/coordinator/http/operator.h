// The operator: the holder of the coordinator's own wallet, whose signed orders carry a time.
//
// "at" in an order's body is the operator's time in milliseconds since 1970. An order with an
// earlier time does not undo an order with a later one, even if it is sent again.
#pragma once

#include <string_view>

#include "apps/coordinator/http/http.h"
#include "common/json/json.h"

namespace weft::coordinator {

[[nodiscard]] bool is_operator(const HttpParts& parts, const PublicKey& key);
// The permission_denied reply "Only the operator, with the coordinator's own wallet, VERB."
[[nodiscard]] net::Reply only_operator(std::string_view verb);
// Reads the bounded "at" of an order. Fails with invalid_argument if it is missing or out of
// bounds.
[[nodiscard]] Result<std::int64_t> signed_at(const json::Object& order);

}  // namespace weft::coordinator
