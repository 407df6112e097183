// What a client may still take, as answers say it (draft-ietf-httpapi-ratelimit-headers).
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
  std::string name;  // A word: "jobs".
  std::uint64_t limit = 0;
  std::uint64_t remaining = 0;
  std::string unit = {};   // "content-bytes"; empty: things that are counted.
  Duration window{};       // In which all of it comes back; 0: when what was taken ends.
  Duration whole_after{};  // Until it is whole again; of those with a window.
};
// Those of a client, by its key as text; any thread.
using QuotasOf = std::function<std::vector<Quota>(const std::string& client)>;

// "ratelimit-policy" and "ratelimit"; empty without a quota.
struct QuotaHeaders {
  std::string policy, left;
};
[[nodiscard]] QuotaHeaders quota_headers(std::span<const Quota> quotas);

}  // namespace weft::net
