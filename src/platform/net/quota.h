// The quotas that a client still has, in the form of answer headers
// (draft-ietf-httpapi-ratelimit-headers).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "common/base/clock.h"

namespace weft::net {

struct Quota {
  std::string name;  // One word, such as "jobs".
  std::uint64_t limit = 0;
  std::uint64_t remaining = 0;
  std::string unit = {};   // "content-bytes"; empty: a number of things.
  Duration window{};       // Time in which the quota is refilled; 0: freed when its use ends.
  Duration whole_after{};  // If there is a window, the time until the quota is full again.
};
// Returns the quotas of a client, which is given by its key as text. May be called from any thread.
using QuotasOf = std::function<std::vector<Quota>(const std::string& client)>;

// The headers "ratelimit-policy" and "ratelimit"; empty if there is no quota.
struct QuotaHeaders {
  std::string policy, left;
};
[[nodiscard]] QuotaHeaders quota_headers(std::span<const Quota> quotas);

}  // namespace weft::net
