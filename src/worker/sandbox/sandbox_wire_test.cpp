// Values are unchanged after the socket pair, and an invalid frame of a child is only an error.
#include "worker/sandbox/sandbox_wire.h"

#include <gtest/gtest.h>

#include <array>
#include <thread>
#include <unistd.h>

#include <sys/socket.h>

namespace weft::worker {
namespace {

using namespace std::chrono_literals;
const auto nothing = [] {};

class Sockets : public testing::Test {
 protected:
  Sockets() { EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends_.data()), 0); }
  ~Sockets() override {
    for (const int end : ends_) ::close(end);
  }
  void say(ByteVector bytes) {
    EXPECT_EQ(::write(ends_[1], bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
  }
  std::array<int, 2> ends_{};
};

TEST_F(Sockets, CarryFramesLargerThanTheirBuffer) {
  const ByteVector large(3'000'000, 7);
  std::jthread writer([&] {
    EXPECT_TRUE(write_frame(ends_[1], FrameKind::run, large, now() + 1min, nothing).has_value());
  });

  const auto frame = read_frame(ends_[0], 4'000'000, now() + 1min, nothing);

  ASSERT_TRUE(frame.has_value()) << frame.error().message;
  EXPECT_EQ(frame->kind, FrameKind::run);
  EXPECT_EQ(frame->payload, large);
}

TEST_F(Sockets, RefuseAFrameThatIsSaidToBeTooLarge) {
  say({101, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 127});
  EXPECT_EQ(read_frame(ends_[0], 1000, now() + 1min, nothing).error().code,
            ErrorCode::resource_exhausted);
}

TEST_F(Sockets, NoticeThatTheOtherSideIsGone) {
  say({101, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 1, 2});
  ::shutdown(ends_[1], SHUT_RDWR);
  EXPECT_EQ(read_frame(ends_[0], 1000, now() + 1min, nothing).error().code, ErrorCode::unavailable);
  EXPECT_EQ(
      write_frame(ends_[0], FrameKind::run, ByteVector(10), now() + 1min, nothing).error().code,
      ErrorCode::unavailable);
}

TEST_F(Sockets, GiveUpAtTheDeadline) {
  EXPECT_EQ(read_frame(ends_[0], 1000, now(), nothing).error().code, ErrorCode::deadline_exceeded);
  EXPECT_EQ(
      write_frame(ends_[0], FrameKind::run, ByteVector(10'000'000), now(), nothing).error().code,
      ErrorCode::deadline_exceeded);
}

TEST(Packing, KeepsOutputsErrorsAndJobs) {
  const exec::Output output{.outputs = {{1, 2, 3}, {}, ByteVector(1000, 9)},
                            .gpu_seconds = 0.25,
                            .wall_seconds = 1e-9,
                            .dispatches = 17};
  const auto read = unpack_output(pack_output(output)).value();
  EXPECT_EQ(read.outputs, output.outputs);
  EXPECT_EQ(read.gpu_seconds, 0.25);
  EXPECT_EQ(read.wall_seconds, 1e-9);
  EXPECT_EQ(read.dispatches, 17U);

  const Error error{ErrorCode::invalid_argument, "3:17: no."};
  EXPECT_EQ(unpack_error(pack_error(error)), error);

  const std::string text =
      R"({"weft":1,"kind":"wgsl","name":"t","shader":{"inline":"fn"},"entry":"main","bindings":[{"binding":0,"role":"output","type":"u32","shape":[8]},{"binding":1,"role":"input","type":"u32","shape":[1],"value":[5]}],"dispatch":[4]})";
  exec::Job job{
      .manifest = manifest::parse(text).value(), .shader = "fn", .data = {{}, {5, 0, 0, 0}}};
  const auto again = unpack_job(pack_job(job)).value();
  EXPECT_EQ(again.shader, "fn");
  EXPECT_EQ(again.data, job.data);
  EXPECT_EQ(again.manifest.bindings.size(), 2U);
  EXPECT_EQ(again.manifest.steps[0].dispatch, job.manifest.steps[0].dispatch);
}

TEST(Packing, RefusesWhatEndsTooEarlyOrCountsTooFar) {
  const ByteVector whole =
      pack_output({.outputs = {{1, 2, 3}}, .gpu_seconds = 0, .wall_seconds = 0, .dispatches = 1});
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_FALSE(unpack_output(ByteSpan(whole).first(size)).has_value()) << size;
  EXPECT_FALSE(unpack_output(Packer().real(0).real(0).number(1).number(~std::uint64_t{0}).take())
                   .has_value());
  EXPECT_FALSE(
      unpack_output(Packer().real(0).real(0).number(1).number(1).number(~std::uint64_t{0}).take())
          .has_value());
  EXPECT_EQ(unpack_error({}).code, ErrorCode::internal);
  EXPECT_EQ(unpack_error(Packer().number(99).text("x").take()).code, ErrorCode::internal);
}

}  // namespace
}  // namespace weft::worker
