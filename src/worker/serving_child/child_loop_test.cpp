// The event loop of the process that serves models, over a real socket pair.
#include "worker/serving_child/child_loop.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <fcntl.h>
#include <thread>
#include <unistd.h>

#include <sys/socket.h>

namespace weft::worker {
namespace {

class ChildLoopTest : public testing::Test {
 protected:
  ChildLoopTest() { EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, sockets_.data()), 0); }
  ~ChildLoopTest() override {
    hang_up();
    ::close(sockets_[1]);
  }
  void say(ServingFrame kind, ByteSpan payload) {
    ASSERT_TRUE(
        write_frame(sockets_[0], kind_of(kind), payload, now() + std::chrono::minutes(1), [] {}));
  }
  void hang_up() {
    if (sockets_[0] >= 0) ::close(std::exchange(sockets_[0], -1));
  }

  std::array<int, 2> sockets_{};
};

TEST_F(ChildLoopTest, GivesFramesInTheirOrderAndEndsWithItsParent) {
  ChildLoop loop(sockets_[1]);
  say(ServingFrame::join, ByteVector{1});
  say(ServingFrame::begin, {});
  std::thread parent([&] {
    say(ServingFrame::socket_text, ByteVector(3'000'000, 7));
    hang_up();
  });
  std::vector<std::pair<FrameKind, std::size_t>> seen;
  loop.run([&](const Frame& frame) { seen.emplace_back(frame.kind, frame.payload.size()); });
  parent.join();
  EXPECT_EQ(seen, (std::vector<std::pair<FrameKind, std::size_t>>{
                      {kind_of(ServingFrame::join), 1},
                      {kind_of(ServingFrame::begin), 0},
                      {kind_of(ServingFrame::socket_text), 3'000'000}}));
}

TEST_F(ChildLoopTest, RunsTimersTurnsAndWhatOtherThreadsHandIn) {
  ChildLoop loop(sockets_[1]);
  std::vector<int> order;
  loop.after(std::chrono::milliseconds(2), [&] { order.push_back(3); });
  loop.after(Duration::zero(), [&] { order.push_back(1); });
  loop.next_turn([&] { order.push_back(2); });
  std::thread other;
  loop.after(std::chrono::milliseconds(3), [&] {
    other = std::thread([&] {
      loop.post([&] {
        order.push_back(4);
        hang_up();
      });
    });
  });
  loop.run([](const Frame&) {});
  other.join();
  EXPECT_EQ(order, (std::vector{1, 2, 3, 4}));
}

TEST_F(ChildLoopTest, WaitsForOneFrameAndKeepsTheOthers) {
  ChildLoop loop(sockets_[1]);
  say(ServingFrame::socket_text, ByteVector{1});
  say(ServingFrame::reply, ByteVector{2});
  say(ServingFrame::socket_text, ByteVector{3});
  hang_up();
  const auto is_reply = [](const Frame& frame) {
    return frame.kind == kind_of(ServingFrame::reply);
  };
  EXPECT_EQ(loop.wait_for(is_reply).value().payload, ByteVector{2});
  EXPECT_EQ(loop.wait_for(is_reply).error().code, ErrorCode::unavailable);
  std::vector<std::uint8_t> left;
  loop.run([&](const Frame& frame) { left.push_back(frame.payload.at(0)); });
  EXPECT_EQ(left, (std::vector<std::uint8_t>{1, 3}));
}

TEST_F(ChildLoopTest, TakesAnOpenFileThatComesWithAFrame) {
  ChildLoop loop(sockets_[1]);
  const int file = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  char byte = 0;
  iovec part{.iov_base = &byte, .iov_len = 1};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  cmsghdr* const header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(header), &file, sizeof file);
  // Sends the first byte of a frame of kind 0 without a payload.
  ASSERT_EQ(::sendmsg(sockets_[0], &message, 0), 1);
  ASSERT_TRUE(write_bytes(sockets_[0], ByteVector(11), now() + std::chrono::minutes(1)));
  ::close(file);
  EXPECT_TRUE(loop.wait_for([](const Frame&) { return true; }));
  const int taken = loop.take_file();
  ASSERT_GE(taken, 0);
  EXPECT_EQ(::close(taken), 0);
  EXPECT_EQ(loop.take_file(), -1);
}

}  // namespace
}  // namespace weft::worker
