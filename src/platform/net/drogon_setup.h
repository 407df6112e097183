// The process-wide defaults of Drogon and trantor that the client and the server change. Private to
// this folder.
#pragma once

#include <cstddef>

namespace weft::net {

// Drogon by default refuses WebSocket messages over 128 KiB and logs to standard output; this
// changes both. May be called repeatedly and from any thread.
void set_up_drogon_once();

// If `on` is true, logs Drogon's messages as errors instead of debug messages. The start of a
// server uses this, because Drogon reports a failed start only by such a message and then ends the
// process.
void let_drogon_complain(bool on);

// The largest WebSocket message that Drogon itself lets through. Our own bounds are smaller, so
// that the server can answer a message that exceeds them.
inline constexpr std::size_t drogon_message_bytes_max = std::size_t{4} << 20;

}  // namespace weft::net
