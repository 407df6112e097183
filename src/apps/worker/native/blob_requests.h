// Sends a worker's requests for blobs. If the coordinator refuses one for now (429, 503), the error
// unavailable is returned after the time of its Retry-After, so that a caller that tries again is
// not too early. Every other answer is returned unchanged and at once.
//
// Threading: the client's thread. Lifetime: the client outlives this object.
#pragma once

#include <functional>

#include "platform/net/client.h"

namespace weft::worker {

void send_for_blob(net::Client& client, net::Request request,
                   std::function<void(Result<net::Response>)> done);

}  // namespace weft::worker
