// A stranger's link does not make a worker connect to its own machine, its link-local network or a
// private network that it is not in, however the address is written.
#include "apps/worker/native/peer_address.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace weft::worker {
namespace {

net::Address address(const std::string& text) {
  const auto parsed = net::Address::parse(text);
  EXPECT_TRUE(parsed.has_value()) << text;
  return parsed.value_or(net::Address());
}

TEST(PeerAddress, OfThisMachineIsCalledOnlyWhereTheCoordinatorIsOnIt) {
  for (const std::string text : {"127.0.0.1", "127.9.9.9", "::1", "0:0:0:0:0:0:0:1", "::0001",
                                 "::ffff:127.0.0.1", "::ffff:7f00:1"}) {
    EXPECT_FALSE(may_call(address(text), {}, {})) << text;
    EXPECT_TRUE(may_call(address(text), {}, {.loopback = true}))
        << text << ": the attack, with the defence off";
  }
}

TEST(PeerAddress, OfNoHostOrOfTheLinkIsNotCalled) {
  for (const std::string text :
       {"0.0.0.0", "0.1.2.3", "::", "::10.0.0.1", "::ffff:0.0.0.0", "169.254.169.254",
        "::ffff:169.254.169.254", "FE80::1", "fe90::1", "febf::1", "fec0::1", "224.0.0.1",
        "255.255.255.255", "ff02::1", "64:ff9b::7f00:1", "2002:7f00:1::"}) {
    EXPECT_FALSE(may_call(address(text), {}, {.loopback = true})) << text;
    EXPECT_TRUE(may_call(address(text), {}, {.special = true}))
        << text << ": the attack, with the defence off";
  }
}

TEST(PeerAddress, OfAPrivateNetworkIsCalledByAWorkerInIt) {
  const std::vector<std::pair<std::string, std::string>> rows{
      {"10.1.2.3", "10.200.0.1"},
      {"172.16.0.1", "172.31.255.1"},
      {"192.168.17.4", "192.168.1.1"},
      {"100.64.0.1", "100.127.0.1"},
      {"::ffff:192.168.0.1", "192.168.1.1"},
      {"fd00::1", "fc12::1"},
  };
  for (const auto& [peer, own] : rows) {
    const std::vector<net::Address> inside{address(own)};
    const std::vector<net::Address> outside{address("203.0.113.7"), address("2001:db8::1")};
    EXPECT_TRUE(may_call(address(peer), inside, {})) << peer;
    EXPECT_FALSE(may_call(address(peer), outside, {})) << peer;
    EXPECT_TRUE(may_call(address(peer), outside, {.any_private = true}))
        << peer << ": the attack, with the defence off";
  }
  const std::vector<net::Address> ten{address("10.0.0.1")};
  EXPECT_FALSE(may_call(address("192.168.0.1"), ten, {})) << "another private network";
}

TEST(PeerAddress, OfTheOpenNetworkIsCalled) {
  for (const std::string text :
       {"203.0.113.7", "172.32.0.1", "192.169.0.1", "100.128.0.1", "2001:db8::1", "2a00::1"})
    EXPECT_TRUE(may_call(address(text), {}, {})) << text;
}

}  // namespace
}  // namespace weft::worker
