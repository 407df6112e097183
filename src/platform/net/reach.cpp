#include "platform/net/reach.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <netdb.h>
#include <poll.h>
#include <unistd.h>

#include <sys/socket.h>

namespace weft::net {
namespace {

// Returns 0 if the connection was made, otherwise the errno of its failure.
int connect_within(const addrinfo& at, Duration patience) {
  const int descriptor =
      socket(at.ai_family, at.ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, at.ai_protocol);
  if (descriptor < 0) return errno;
  int error = connect(descriptor, at.ai_addr, at.ai_addrlen) == 0 ? 0 : errno;
  if (error == EINPROGRESS) {
    pollfd waiting{.fd = descriptor, .events = POLLOUT, .revents = 0};
    const int ready = poll(
        &waiting, 1,
        static_cast<int>(std::chrono::duration_cast<std::chrono::milliseconds>(patience).count()));
    socklen_t size = sizeof error;
    if (ready <= 0) {
      error = ready == 0 ? ETIMEDOUT : errno;
    } else if (getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &size) != 0) {
      error = errno;
    }
  }
  close(descriptor);
  return error;
}

}  // namespace

Result<> try_to_reach(const Url& url, Duration patience) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (const int code =
          getaddrinfo(url.host.c_str(), std::to_string(url.port).c_str(), &hints, &found);
      code != 0)
    return fail(
        ErrorCode::unavailable,
        "The host of {} is not found ({}): look at its spelling and at this machine's network.",
        url.text(), gai_strerror(code));
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> addresses(found, freeaddrinfo);
  int error = ETIMEDOUT;
  for (const addrinfo* at = addresses.get(); at != nullptr; at = at->ai_next) {
    error = connect_within(*at, patience);
    if (error == 0) return {};
  }
  if (error == ECONNREFUSED)
    return fail(ErrorCode::unavailable,
                "Nothing listens at {}: start a coordinator there (weft serve), or give the "
                "address of another.",
                url.text());
  if (error == ETIMEDOUT)
    return fail(ErrorCode::unavailable,
                "Nothing answers at {}: look at the address, and at firewalls in between.",
                url.text());
  return fail(ErrorCode::unavailable, "{} cannot be reached: {}.", url.text(),
              std::strerror(error));
}

}  // namespace weft::net
