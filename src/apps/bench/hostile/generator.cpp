#include "apps/bench/hostile/generator.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <unistd.h>
#include <utility>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>

namespace weft::coordinator::bench {
namespace {

constexpr std::uint32_t first_address = 0x7f400001;  // The address 127.64.0.1.
constexpr std::size_t addresses_max = 65'534;
// Descriptors for the honest crowd and this process.
constexpr std::size_t other_descriptors = 1024;
constexpr Duration reopened_after = std::chrono::seconds(1);
constexpr int events_max = 512;

Duration thread_time() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

}  // namespace

Duration rest_after(Duration used, Duration wall, double share) {
  const Duration least =
      std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds(used) / share));
  return std::max(least - wall, Duration::zero());
}

Result<std::unique_ptr<Generator>> Generator::start(Options options) {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  if (options.connections + other_descriptors > limit.rlim_cur)
    return fail(ErrorCode::unavailable,
                "{} connections need {} descriptors, and this process may have {}: raise `ulimit "
                "-n` or take fewer with --connections.",
                options.connections, options.connections + other_descriptors, limit.rlim_cur);
  if (options.addresses == 0 || options.addresses > addresses_max || options.kinds.empty())
    return fail(
        ErrorCode::invalid_argument,
        "There must be at least one kind of attack, and 1 to {} source addresses (--addresses).",
        addresses_max);
  const int poll = ::epoll_create1(EPOLL_CLOEXEC);
  if (poll < 0)
    return fail(ErrorCode::internal, "The epoll instance for the connections cannot be made: {}.",
                std::strerror(errno));
  return std::unique_ptr<Generator>(new Generator(std::move(options), poll));
}

Generator::Generator(Options options, int poll) : options_(std::move(options)), poll_(poll) {
  connections_.resize(options_.connections);
  for (std::size_t i = 0; i < connections_.size(); ++i)
    connections_[i].kind = i % options_.kinds.size();
  for (const Attack& kind : options_.kinds) tallies_.push_back({.name = kind.name});
  thread_ = std::jthread([this](const std::stop_token& stop) { work(stop); });
}

Generator::~Generator() {
  (void)finish();
  ::close(poll_);
}

std::vector<Generator::Tally> Generator::finish() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
  for (Connection& connection : connections_) {
    if (connection.file >= 0) ::close(std::exchange(connection.file, -1));
  }
  open_ = 0;
  return tallies_;
}

void Generator::open(std::size_t index) {
  Connection& connection = connections_[index];
  Tally& tally = tallies_[connection.kind];
  connection.next = now() + reopened_after;
  const int file = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  sockaddr_in from{}, to{};
  from.sin_family = to.sin_family = AF_INET;
  from.sin_addr.s_addr =
      htonl(first_address + static_cast<std::uint32_t>(index % options_.addresses));
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  to.sin_port = htons(options_.port);
  const int yes = 1;
  const bool begun =
      file >= 0 && ::setsockopt(file, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &yes, sizeof yes) == 0 &&
      ::bind(file, reinterpret_cast<const sockaddr*>(&from), sizeof from) == 0 &&
      (::connect(file, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0 ||
       errno == EINPROGRESS);
  epoll_event event{.events = EPOLLIN | EPOLLOUT | EPOLLET, .data = {.u64 = index}};
  if (!begun || ::epoll_ctl(poll_, EPOLL_CTL_ADD, file, &event) != 0) {
    if (file >= 0) ::close(file);
    ++tally.unopened;
    return;
  }
  const Attack& kind = options_.kinds[connection.kind];
  connection.file = file;
  connection.state = State::connecting;
  connection.out = kind.opening;
  connection.begun = connection.upgraded = false;
  connection.next = now() + kind.every;
}

void Generator::close(std::size_t index, bool by_other) {
  Connection& connection = connections_[index];
  Tally& tally = tallies_[connection.kind];
  if (connection.state == State::open) --open_;
  if (by_other) ++(connection.state == State::open ? tally.ended : tally.unopened);
  ::close(std::exchange(connection.file, -1));
  connection.state = State::closed;
  connection.out = {};
  connection.next = now() + reopened_after;
}

void Generator::flush(std::size_t index) {
  Connection& connection = connections_[index];
  while (!connection.out.empty()) {
    const ssize_t sent =
        ::send(connection.file, connection.out.data(), connection.out.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno == EAGAIN) return;
    if (sent < 0) return close(index, true);
    connection.out.erase(0, static_cast<std::size_t>(sent));
  }
}

// Counts replies. Each read is taken as one reply, so the counts are approximate.
void Generator::look(std::size_t index, std::string_view said) {
  Connection& connection = connections_[index];
  const Attack& kind = options_.kinds[connection.kind];
  if (connection.upgraded || !said.starts_with("HTTP/1.1 ") || said.size() < 12) return;
  ++(said[9] < '4' ? tallies_[connection.kind].answered : tallies_[connection.kind].refused);
  if (said.substr(9, 3) == "101") {
    connection.upgraded = true;
    connection.out += kind.after_upgrade;
  }
  if (kind.repeats && connection.out.empty()) connection.out = kind.opening;
}

void Generator::read(std::size_t index) {
  std::array<char, 16384> bytes;
  for (;;) {
    const ssize_t count = ::recv(connections_[index].file, bytes.data(), bytes.size(), 0);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) return;
    if (count <= 0) return close(index, true);
    look(index, {bytes.data(), static_cast<std::size_t>(count)});
  }
}

void Generator::work(const std::stop_token& stop) {
  std::array<epoll_event, events_max> events;
  const Instant begun = now();
  const Duration used_before = thread_time();
  std::size_t turn = 0;
  while (!stop.stop_requested()) {
    const int count = ::epoll_wait(poll_, events.data(), events_max, 1);
    for (int i = 0; i < count; ++i) {
      const std::size_t index = events[static_cast<std::size_t>(i)].data.u64;
      Connection& connection = connections_[index];
      if (connection.file < 0) continue;
      if (connection.state == State::connecting) {
        int error = 0;
        socklen_t size = sizeof error;
        ::getsockopt(connection.file, SOL_SOCKET, SO_ERROR, &error, &size);
        if (error != 0) {
          close(index, true);
          continue;
        }
        if ((events[static_cast<std::size_t>(i)].events & EPOLLOUT) == 0) continue;
        connection.state = State::open;
        ++tallies_[connection.kind].opened;
        ++open_;
      }
      read(index);
      if (connection.file >= 0) flush(index);
    }
    // Each turn looks at 256 connections, to send what is due and to reopen closed ones.
    const Instant moment = now();
    for (std::size_t i = 0; i < 256; ++i, turn = (turn + 1) % connections_.size()) {
      Connection& connection = connections_[turn];
      if (connection.next > moment) continue;
      if (connection.state == State::closed) {
        open(turn);
      } else if (const Attack& kind = options_.kinds[connection.kind]; !kind.drip.empty()) {
        connection.next = moment + kind.every;
        if (kind.after_upgrade.empty() || connection.upgraded) connection.out += kind.drip;
        if (connection.state == State::open) flush(turn);
      }
    }
    const Duration rest = rest_after(thread_time() - used_before, now() - begun, options_.share);
    if (rest > Duration::zero())
      std::this_thread::sleep_for(std::min<Duration>(rest, std::chrono::milliseconds(50)));
  }
  share_used_ = seconds(thread_time() - used_before) / std::max(seconds(now() - begun), 1e-9);
}

}  // namespace weft::coordinator::bench
