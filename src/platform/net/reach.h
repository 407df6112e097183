// Whether a program takes connections at a URL, by connecting and nothing more. What an HTTP
// library calls "no connection" has several reasons, and a person can do something else about each.
//
// Any thread; blocks, for `patience` at most and as long as the system takes to look up a name.
#pragma once

#include "common/base/clock.h"
#include "common/base/result.h"
#include "platform/net/client.h"

namespace weft::net {

// Otherwise unavailable, with a sentence that says which it is: an unknown name, no listener,
// no way there, silence.
[[nodiscard]] Result<> try_to_reach(const Url& url, Duration patience);

}  // namespace weft::net
