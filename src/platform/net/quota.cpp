#include "platform/net/quota.h"

#include <cmath>

#include "common/base/format.h"

namespace weft::net {

QuotaHeaders quota_headers(std::span<const Quota> quotas) {
  QuotaHeaders out;
  const auto add = [](std::string& list, std::string item) {
    list += (list.empty() ? "" : ", ") + std::move(item);
  };
  for (const Quota& quota : quotas) {
    std::string policy = weft::format("\"{}\";q={}", quota.name, quota.limit);
    std::string left = weft::format("\"{}\";r={}", quota.name, quota.remaining);
    if (!quota.unit.empty()) policy += weft::format(";qu=\"{}\"", quota.unit);
    if (quota.window > Duration::zero()) {
      policy += weft::format(";w={:.0f}", std::ceil(seconds(quota.window)));
      left += weft::format(";t={:.0f}", std::ceil(seconds(quota.whole_after)));
    }
    add(out.policy, std::move(policy));
    add(out.left, std::move(left));
  }
  return out;
}

}  // namespace weft::net
