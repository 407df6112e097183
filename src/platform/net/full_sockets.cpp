#include "platform/net/full_sockets.h"

#include <charconv>
#include <filesystem>
#include <poll.h>
#include <string>

#include <netinet/in.h>
#include <sys/socket.h>

namespace weft::net {

namespace {

std::string text_of(const sockaddr_storage& storage) {
  if (storage.ss_family == AF_INET)
    return trantor::InetAddress(reinterpret_cast<const sockaddr_in&>(storage)).toIpPort();
  if (storage.ss_family == AF_INET6)
    return trantor::InetAddress(reinterpret_cast<const sockaddr_in6&>(storage)).toIpPort();
  return {};
}

template <class Name>
std::string name_of(int descriptor, Name name) {
  sockaddr_storage storage{};
  socklen_t size = sizeof storage;
  if (name(descriptor, reinterpret_cast<sockaddr*>(&storage), &size) != 0) return {};
  return text_of(storage);
}

}  // namespace

void refuse_writes_if_full(int descriptor) {
  pollfd room{.fd = descriptor, .events = POLLOUT, .revents = 0};
  if (poll(&room, 1, 0) != 1 || (room.revents & POLLOUT) == 0) ::shutdown(descriptor, SHUT_RDWR);
}

void refuse_writes_if_full(const trantor::InetAddress& local, const trantor::InetAddress& peer) {
  const std::string here = local.toIpPort(), there = peer.toIpPort();
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", error)) {
    const std::string number = entry.path().filename().string();
    int descriptor = -1;
    std::from_chars(number.data(), number.data() + number.size(), descriptor);
    if (name_of(descriptor, ::getsockname) == here && name_of(descriptor, ::getpeername) == there)
      refuse_writes_if_full(descriptor);
  }
}

}  // namespace weft::net
