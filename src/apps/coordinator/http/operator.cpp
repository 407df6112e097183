#include "apps/coordinator/http/operator.h"

#include "common/base/format.h"

namespace weft::coordinator {

bool is_operator(const HttpParts& parts, const PublicKey& key) {
  return key.text() == parts.info.coordinator;
}

net::Reply only_operator(std::string_view verb) {
  return net::problem(
      {ErrorCode::permission_denied,
       weft::format("Only the operator, with the coordinator's own wallet, {}.", verb)});
}

Result<std::int64_t> signed_at(const json::Object& order) {
  WEFT_ASSIGN(const json::Value at, order.get("at"));
  return at.integer({.min = 1, .max = std::int64_t{1} << 60});
}

}  // namespace weft::coordinator
