// Checks by the answer to GET /v1/info if the server at a worker's --coordinator is a coordinator.
// A server that is down or has an error may come back. A server of another kind never becomes a
// coordinator, so trying again would not end.
#pragma once

#include <string_view>

#include "common/base/result.h"
#include "platform/net/client.h"

namespace weft::worker {

// Fails with not_found, unsupported or unauthenticated, and a message, if waiting cannot help.
// Succeeds otherwise, even if the server did not answer.
[[nodiscard]] Result<> check_coordinator(std::string_view url, const Result<net::Response>& info);

}  // namespace weft::worker
