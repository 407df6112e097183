// Sockets that take no more bytes. trantor says goodbye on a connection of TLS that it has already
// ended; where the socket is full it listens for room, and it ends the process when it removes a
// connection that listens. A socket that is shut down refuses the goodbye instead. To be called
// before trantor's goodbye: in the connection's callback of its end, or before forceClose().
// Private to this folder (it includes trantor).
#pragma once

#include <trantor/net/InetAddress.h>

namespace weft::net {

void refuse_writes_if_full(int descriptor);
// The same for the connection between two addresses, whose descriptor trantor does not tell: looked
// for among all of the process. For what is rare.
void refuse_writes_if_full(const trantor::InetAddress& local, const trantor::InetAddress& peer);

}  // namespace weft::net
