// Streams between two programs over real sockets: bytes arrive in order, the certificate is the
// expected one, the end of a stream is reported, and every wait ends.
#include "platform/net/streams.h"

#include <gtest/gtest.h>

#include <future>
#include <unistd.h>

#include <arpa/inet.h>
#include <sys/socket.h>

#include "common/base/format.h"
#include "platform/net/client.h"

namespace weft::net {
namespace {

using namespace std::chrono_literals;

// Two clients run on two threads, as two programs would.
class Streams : public testing::Test {
 protected:
  void SetUp() override {
    folder = std::filesystem::temp_directory_path() / weft::format("weft-streams-{}", getpid());
    std::filesystem::create_directories(folder);
    for (auto* side : {&near, &far})
      *side = std::move(*Client::create({.url = "http://127.0.0.1:1"}));
  }
  void TearDown() override {
    on(*far, [&] {
      taken.reset();
      listener.reset();
    });
    on(*near, [&] { called.reset(); });
    near.reset();
    far.reset();
    std::filesystem::remove_all(folder);
  }
  template <class Function>
  static void on(Client& client, Function function) {
    std::promise<void> done;
    client.post([&] {
      function();
      done.set_value();
    });
    done.get_future().get();
  }
  // Makes the far side echo all bytes.
  void listen() {
    on(*far, [&] {
      auto made =
          StreamListener::create({.scratch = folder}, [this](std::shared_ptr<Stream> stream) {
            taken = std::move(stream);
            taken->listen({.bytes = [this](ByteSpan bytes) { taken->send(bytes); },
                           .closed =
                               [this] {
                                 taken.reset();
                                 far_closed.set_value();
                               }});
          });
      ASSERT_TRUE(made.has_value()) << made.error().message;
      listener = std::move(*made);
      port = listener->port();
      fingerprint = listener->fingerprint();
    });
  }
  Result<> call(std::string whose, std::uint16_t where) {
    std::promise<Result<>> done;
    near->post([&] {
      dial({.address = "127.0.0.1", .port = where, .fingerprint = std::move(whose), .patience = 2s},
           [&](Result<std::shared_ptr<Stream>> stream) {
             if (stream) called = std::move(*stream);
             done.set_value(stream ? Result<>() : Result<>(std::unexpected(stream.error())));
           });
    });
    return done.get_future().get();
  }

  std::filesystem::path folder;
  std::unique_ptr<Client> near, far;
  std::unique_ptr<StreamListener> listener;
  std::shared_ptr<Stream> taken, called;
  std::uint16_t port = 0;
  std::string fingerprint;
  std::promise<void> far_closed;
};

TEST_F(Streams, CarryBytesInOrderThereAndBack) {
  listen();
  EXPECT_EQ(fingerprint.size(), 64u);
  const auto opened = call(fingerprint, port);
  ASSERT_TRUE(opened.has_value()) << opened.error().message;
  constexpr std::size_t bytes = 3 << 20;
  ByteVector sent(bytes), come;
  for (std::size_t i = 0; i < bytes; ++i)
    sent[i] = static_cast<std::uint8_t>(i * 2654435761u >> 13);
  std::promise<void> all;
  near->post([&] {
    called->listen({.bytes = [&](ByteSpan part) {
      append(come, part);
      if (come.size() == bytes) all.set_value();
    }});
    for (std::size_t at = 0; at < bytes; at += 50'000)
      called->send(ByteSpan(sent).subspan(at, std::min<std::size_t>(50'000, bytes - at)));
  });
  ASSERT_EQ(all.get_future().wait_for(20s), std::future_status::ready);
  EXPECT_TRUE(come == sent);
  on(*near, [&] { called->close(); });
  EXPECT_EQ(far_closed.get_future().wait_for(5s), std::future_status::ready);
  EXPECT_TRUE(std::filesystem::is_empty(folder)) << "the key lies there no more";
}

TEST_F(Streams, TakeNoOtherCertificateThanTheOneThatWasNamed) {
  listen();
  const auto opened = call(std::string(64, '0'), port);
  ASSERT_FALSE(opened.has_value());
  EXPECT_EQ(opened.error().code, ErrorCode::unauthenticated);
}

TEST_F(Streams, SayThatNoServerAnswers) {
  listen();
  on(*far, [&] { listener.reset(); });
  const auto opened = call(fingerprint, port);
  ASSERT_FALSE(opened.has_value());
  EXPECT_EQ(opened.error().code, ErrorCode::unavailable);
}

TEST_F(Streams, GiveUpOnAPeerThatSpeaksNoTls) {
  // A listener that accepts connections and sends nothing.
  const int descriptor = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{
      .sin_family = AF_INET, .sin_port = 0, .sin_addr = {htonl(INADDR_LOOPBACK)}, .sin_zero = {}};
  socklen_t size = sizeof address;
  ASSERT_EQ(bind(descriptor, reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(::listen(descriptor, 4), 0);
  ASSERT_EQ(getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &size), 0);
  const auto opened = call(std::string(64, '0'), ntohs(address.sin_port));
  ASSERT_FALSE(opened.has_value());
  EXPECT_EQ(opened.error().code, ErrorCode::unavailable);
  close(descriptor);
}

TEST_F(Streams, RefuseAnAddressThatIsNone) {
  on(*far, [&] {
    EXPECT_EQ(StreamListener::create({.address = "localhost", .scratch = folder}, {}).error().code,
              ErrorCode::invalid_argument);
    EXPECT_EQ(
        StreamListener::create({.address = "203.0.113.7", .scratch = folder}, {}).error().code,
        ErrorCode::unavailable);
  });
  EXPECT_EQ(address_towards("127.0.0.1", 80), "127.0.0.1");
}

}  // namespace
}  // namespace weft::net
