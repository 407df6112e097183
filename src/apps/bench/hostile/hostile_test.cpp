// Tests that the attacks do what their names say, and that the generator makes them from many
// addresses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <thread>
#include <unistd.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "apps/bench/hostile/generator.h"

namespace weft::coordinator::bench {
namespace {

const Attack& kind_of(const std::vector<Attack>& all, std::string_view name) {
  return *std::ranges::find(all, name, &Attack::name);
}

TEST(Attacks, AreWhatTheirNamesSay) {
  const auto all = attacks("127.0.0.1:7300");
  std::set<std::string> names;
  for (const Attack& one : all) names.insert(one.name);
  EXPECT_EQ(names.size(), all.size());
  const auto ends_its_head = [&](std::string_view name) {
    return kind_of(all, name).opening.find("\r\n\r\n") != std::string::npos;
  };
  EXPECT_FALSE(ends_its_head("slow head"));
  EXPECT_TRUE(ends_its_head("slow body"));
  // Submissions of jobs cannot be used for a slow body, because the signature is checked before the
  // body is read.
  EXPECT_TRUE(kind_of(all, "slow body").opening.starts_with("POST /v1/chat/completions "));
  EXPECT_TRUE(kind_of(all, "slow signed body").opening.contains("\r\nweft-signature: "));
  EXPECT_GT(kind_of(all, "large head").opening.size(), 64U << 10);
  EXPECT_EQ(kind_of(all, "oversized frame").after_upgrade.size(), 14U);
  EXPECT_EQ(kind_of(all, "oversized frame").after_upgrade[5], '\x00')
      << "2^40, the fifth byte of 8";
  EXPECT_EQ(kind_of(all, "oversized frame").after_upgrade[4], '\x01');
  EXPECT_EQ(kind_of(all, "broken TLS").opening[0], '\x16');
  EXPECT_TRUE(kind_of(all, "silent").opening.empty());
}

TEST(Generator, RestsSoThatItKeepsToItsShare) {
  using namespace std::chrono_literals;
  EXPECT_EQ(rest_after(100ms, 100ms, 0.5), 100ms);
  EXPECT_EQ(rest_after(100ms, 300ms, 0.5), Duration::zero());
  EXPECT_EQ(rest_after(100ms, 100ms, 1), Duration::zero());
}

TEST(Generator, OpensConnectionsFromManyAddressesAndOpensEndedOnesAgain) {
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ASSERT_EQ(::bind(listener, reinterpret_cast<const sockaddr*>(&address), size), 0);
  ASSERT_EQ(::listen(listener, 64), 0);
  ASSERT_EQ(::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size), 0);
  auto generator = Generator::start(
      {.port = ntohs(address.sin_port),
       .connections = 8,
       .addresses = 4,
       .share = 1,
       .kinds = {{.name = "asks", .opening = "hello"},
                 {.name = "drips", .drip = "x", .every = std::chrono::milliseconds(1)}}});
  ASSERT_TRUE(generator) << generator.error().message;
  std::set<std::uint32_t> from;
  std::multiset<std::string> said;
  for (int i = 0; i < 8; ++i) {
    sockaddr_in other{};
    socklen_t length = sizeof other;
    const int file = ::accept(listener, reinterpret_cast<sockaddr*>(&other), &length);
    ASSERT_GE(file, 0);
    from.insert(ntohl(other.sin_addr.s_addr));
    char first = 0;
    EXPECT_EQ(::recv(file, &first, 1, 0), 1);
    said.insert(std::string(1, first));
    EXPECT_EQ(::send(file, "HTTP/1.1 429 x", 14, MSG_NOSIGNAL), 14);
    ::close(file);
  }
  EXPECT_THAT(from, testing::ElementsAre(0x7f400001, 0x7f400002, 0x7f400003, 0x7f400004));
  EXPECT_EQ(said.count("h"), 4U);
  EXPECT_EQ(said.count("x"), 4U);
  const int again = ::accept(listener, nullptr, nullptr);
  EXPECT_GE(again, 0);
  ::close(again);
  const auto tallies = (*generator)->finish();
  ASSERT_EQ(tallies.size(), 2U);
  EXPECT_GT((*generator)->share_used(), 0);
  EXPECT_GE(tallies[0].opened, 4U);
  EXPECT_GE(tallies[0].ended, 4U);
  ::close(listener);
}

}  // namespace
}  // namespace weft::coordinator::bench
