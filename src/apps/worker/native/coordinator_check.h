// Whether what answers at a worker's --coordinator is one, from its answer to GET /v1/info. A
// server that is down or in trouble may come back; one that is something else stays that, and
// trying again would have no end.
#pragma once

#include <string_view>

#include "common/base/result.h"
#include "platform/net/client.h"

namespace weft::worker {

// not_found, unsupported or unauthenticated, with a sentence, where waiting changes nothing;
// otherwise fine, also without an answer.
[[nodiscard]] Result<> check_coordinator(std::string_view url, const Result<net::Response>& info);

}  // namespace weft::worker
