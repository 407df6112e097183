#include "worker/serving_child/child_loop.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>
#include <utility>

#include <sys/socket.h>

#include "common/base/byte_reader.h"
#include "common/base/check.h"

namespace weft::worker {
namespace {

constexpr std::size_t header_bytes = 12;       // Size of a frame header of sandbox_wire.cpp.
constexpr std::size_t read_bytes = 256 << 10;  // The most bytes of one read.
// Maximum files of one read; the parent sends one at a time.
constexpr std::size_t files_at_once = 4;
constexpr std::size_t shrink_bytes = 64 << 20;  // A larger buffer is freed once it is empty.

}  // namespace

ChildLoop::ChildLoop(int socket)
    : socket_(socket), scratch_(std::make_unique_for_overwrite<std::uint8_t[]>(read_bytes)) {
  std::array<int, 2> pipe{};
  check(::pipe2(pipe.data(), O_CLOEXEC | O_NONBLOCK) == 0, "a pipe can be made");
  wake_read_ = pipe[0];
  wake_write_ = pipe[1];
}

ChildLoop::~ChildLoop() {
  ::close(wake_read_);
  ::close(wake_write_);
  for (const int file : files_) ::close(file);
}

void ChildLoop::post(std::function<void()> work) {
  const std::lock_guard lock(mutex_);
  posted_.push_back(std::move(work));
  (void)!::write(wake_write_, "x", 1);  // If the pipe is full, the loop wakes up anyway.
}

void ChildLoop::after(Duration delay, std::function<void()> work) {
  timers_.emplace(now() + delay, std::move(work));
}

void ChildLoop::next_turn(std::function<void()> work) { turns_.push_back(std::move(work)); }

void ChildLoop::send(ServingFrame kind, ByteSpan payload) {
  // Blocking without a deadline is safe, because the parent always reads and never waits for this
  // process.
  if (!gone_ && !write_frame(socket_, kind_of(kind), payload, Instant::max(), [] {})) gone_ = true;
}

int ChildLoop::take_file() {
  if (files_.empty()) return -1;
  const int file = files_.front();
  files_.pop_front();
  return file;
}

bool ChildLoop::receive() {
  for (;;) {
    iovec part{.iov_base = scratch_.get(), .iov_len = read_bytes};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * files_at_once)> control{};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    const ssize_t count = ::recvmsg(socket_, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno == EAGAIN || errno == EWOULDBLOCK;
    if (count == 0) return false;
    append(in_, ByteSpan(scratch_.get(), static_cast<std::size_t>(count)));
    for (cmsghdr* part_of = CMSG_FIRSTHDR(&message); part_of != nullptr;
         part_of = CMSG_NXTHDR(&message, part_of)) {
      if (part_of->cmsg_level != SOL_SOCKET || part_of->cmsg_type != SCM_RIGHTS) continue;
      std::array<int, files_at_once> files{};
      const std::size_t bytes = std::min(part_of->cmsg_len - CMSG_LEN(0), sizeof files);
      std::copy_n(CMSG_DATA(part_of), bytes, reinterpret_cast<unsigned char*>(files.data()));
      files_.insert(files_.end(), files.begin(),
                    files.begin() + static_cast<std::ptrdiff_t>(bytes / sizeof(int)));
    }
    std::size_t taken = 0;
    for (;;) {
      const ByteSpan left = ByteSpan(in_).subspan(taken);
      if (left.size() < header_bytes) break;
      const auto size = read_le<std::uint64_t>(left, 4);
      if (left.size() - header_bytes < size) break;
      const ByteSpan payload = left.subspan(header_bytes, static_cast<std::size_t>(size));
      frames_.push_back({.kind = static_cast<FrameKind>(read_le<std::uint32_t>(left)),
                         .payload = ByteVector(payload.begin(), payload.end())});
      taken += header_bytes + payload.size();
    }
    in_.erase(in_.begin(), in_.begin() + static_cast<std::ptrdiff_t>(taken));
    if (in_.empty() && in_.capacity() > shrink_bytes) in_ = {};
    if (static_cast<std::size_t>(count) < read_bytes) return true;
  }
}

bool ChildLoop::wait(std::optional<Instant> until) {
  int milliseconds = -1;
  if (until) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(*until - now()).count();
    milliseconds = static_cast<int>(std::clamp<std::int64_t>(left, 0, 60'000));
  }
  std::array<pollfd, 2> waits = {pollfd{.fd = socket_, .events = POLLIN, .revents = 0},
                                 pollfd{.fd = wake_read_, .events = POLLIN, .revents = 0}};
  if (::poll(waits.data(), waits.size(), milliseconds) < 0 && errno != EINTR) return false;
  if (waits[1].revents != 0) {
    std::array<char, 256> ignored{};
    while (::read(wake_read_, ignored.data(), ignored.size()) > 0) {
    }
  }
  if (waits[0].revents != 0 && !receive()) gone_ = true;
  return !gone_ || !frames_.empty();
}

void ChildLoop::run_due() {
  while (!timers_.empty() && timers_.begin()->first <= now()) {
    auto due = timers_.extract(timers_.begin());
    due.mapped()();
  }
}

void ChildLoop::run_posted() {
  std::vector<std::function<void()>> all;
  {
    const std::lock_guard lock(mutex_);
    all.swap(posted_);
  }
  for (auto& work : all) work();
}

void ChildLoop::run(const std::function<void(Frame)>& take) {
  for (;;) {
    std::optional<Instant> until;
    if (!timers_.empty()) until = timers_.begin()->first;
    if (!turns_.empty() || !frames_.empty()) until = now();
    if (!wait(until)) return;
    while (!frames_.empty()) {
      Frame frame = std::move(frames_.front());
      frames_.pop_front();
      take(std::move(frame));
    }
    run_posted();
    run_due();
    for (auto& work : std::exchange(turns_, {})) work();
    if (gone_ && frames_.empty()) return;
  }
}

Result<Frame> ChildLoop::wait_for(const std::function<bool(const Frame&)>& fits) {
  std::size_t looked_at = 0;
  for (;;) {
    for (; looked_at < frames_.size(); ++looked_at) {
      const auto place = frames_.begin() + static_cast<std::ptrdiff_t>(looked_at);
      if (!fits(*place)) continue;
      Frame found = std::move(*place);
      frames_.erase(place);
      return found;
    }
    if (gone_)
      return fail(ErrorCode::unavailable,
                  "The worker closed its connection to the process that serves models.");
    pollfd entry{.fd = socket_, .events = POLLIN, .revents = 0};
    if (::poll(&entry, 1, -1) < 0 && errno != EINTR) gone_ = true;
    if (entry.revents != 0 && !receive()) gone_ = true;
  }
}

}  // namespace weft::worker
