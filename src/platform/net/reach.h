// Checks whether a program accepts connections at a URL, by connecting only. An HTTP library
// reports "no connection" for several reasons, and the user can do something different about each.
//
// Any thread. Blocks for at most `patience` plus the time of the system's name lookup.
#pragma once

#include "common/base/clock.h"
#include "common/base/result.h"
#include "platform/net/client.h"

namespace weft::net {

// Fails with unavailable and a message that states the reason: an unknown name, no listener, no
// route, or no answer.
[[nodiscard]] Result<> try_to_reach(const Url& url, Duration patience);

}  // namespace weft::net
