// Sends a worker's requests for blobs. Where the coordinator refuses one for now (429, 503), the
// answer is unavailable, and comes when the time is over that its Retry-After names: who tries
// again then does not come too early. Every other answer comes as it is, at once.
//
// Threading: the client's. Lifetime: outlived by the client.
#pragma once

#include <functional>

#include "platform/net/client.h"

namespace weft::worker {

void send_for_blob(net::Client& client, net::Request request,
                   std::function<void(Result<net::Response>)> done);

}  // namespace weft::worker
