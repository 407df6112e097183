// Strangers are counted by the range that one stranger owns: an IPv4 address, or a /64 of IPv6. If
// a foreign host name is pointed to this server, a page under that name is not a page of the
// server.
#include "platform/net/address.h"

#include <gtest/gtest.h>

#include <vector>

namespace weft::net {
namespace {

TEST(AddressGroup, IsAnIpv4AddressOrASlash64) {
  EXPECT_EQ(address_group("192.0.2.1"), "192.0.2.1");
  EXPECT_EQ(address_group("::ffff:192.0.2.1"), "192.0.2.1");
  EXPECT_EQ(address_group("2001:db8:0:1:aaaa::1"), "2001:db8:0:1::/64");
  EXPECT_EQ(address_group("2001:db8:0:1:bbbb::2"), address_group("2001:db8:0:1:aaaa::1"));
  EXPECT_NE(address_group("2001:db8:0:2::1"), address_group("2001:db8:0:1::1"));
  EXPECT_EQ(address_group("unknown"), "unknown");
}

TEST(ForwardedAddress, IsBelievedOfTrustedProxiesOnly) {
  const std::vector<std::string> trusted{"10.0.0.1", "10.0.0.2"};

  EXPECT_EQ(forwarded_address("10.0.0.1", "203.0.113.9", trusted), "203.0.113.9");
  EXPECT_EQ(forwarded_address("203.0.113.1", "198.51.100.1", trusted), "203.0.113.1")
      << "a stranger's header";
  EXPECT_EQ(forwarded_address("10.0.0.1", "1.1.1.1, 203.0.113.9, 10.0.0.2", trusted), "203.0.113.9")
      << "what a client wrote itself stands to the left";
  EXPECT_EQ(forwarded_address("10.0.0.1", "", trusted), "10.0.0.1");
  EXPECT_EQ(forwarded_address("10.0.0.1", "1.1.1.1, nonsense", trusted), "10.0.0.1");
  EXPECT_EQ(forwarded_address("10.0.0.1", "1.1.1.1", {}), "10.0.0.1");
}

TEST(Host, IsReadWithoutItsPort) {
  EXPECT_EQ(host_of("Weft.Example:7300"), "weft.example");
  EXPECT_EQ(host_of("weft.example."), "weft.example");
  EXPECT_EQ(host_of("[::1]:7300"), "::1");
  EXPECT_EQ(host_of("[::1"), "");
  EXPECT_EQ(host_of(""), "");
  for (const char* other : {"a/b.grid.example", "a b.grid.example", "a@b", "a:b", "a:123456",
                            "[::1]x", "[::1]:x", "[a/b]", "[[::1]]"})
    EXPECT_EQ(host_of(other), "") << other;
}

TEST(Host, IsAcceptedIfItIsLoopbackOrAName) {
  const std::vector<std::string> names{"weft.example", "*.grid.example", "192.168.1.5",
                                       "2001:db8::1"};
  for (const char* good : {"localhost", "127.0.0.1", "127.9.9.9", "::1", "weft.example",
                           "a.grid.example", "192.168.1.5", "2001:db8:0::1"})
    EXPECT_TRUE(is_accepted_host(good, names)) << good;
  for (const char* bad :
       {"", "evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "grid.example",
        "a.b.grid.example", ".grid.example", "192.168.1.6", "0.0.0.0", "weft.example.evil.example"})
    EXPECT_FALSE(is_accepted_host(bad, names)) << bad;
}

TEST(AddressPrefix, ANetworkOfStrangersIsItsPrefixAndOnesOwnIsNone) {
  EXPECT_EQ(address_prefix("203.0.113.7"), "203.0.113.0/24");
  EXPECT_EQ(address_prefix("203.0.113.254"), address_prefix("203.0.113.7"));
  EXPECT_EQ(address_prefix("::ffff:203.0.113.9"), "203.0.113.0/24");
  EXPECT_EQ(address_prefix("2001:db8:5:1::1"), "2001:db8:5::/48");
  EXPECT_EQ(address_prefix("2001:db8:5:ffff::9"), "2001:db8:5::/48");
  for (const char* own :
       {"127.0.0.1", "127.9.9.9", "::1", "10.1.2.3", "172.16.0.1", "172.31.255.1", "192.168.1.1",
        "169.254.1.1", "100.64.0.1", "100.127.255.1", "fd00::1", "fe80::1", "somewhere", ""})
    EXPECT_EQ(address_prefix(own), "") << own;
  for (const char* other : {"172.32.0.1", "100.128.0.1", "11.0.0.1", "192.169.0.1"})
    EXPECT_NE(address_prefix(other), "") << other;
}

}  // namespace
}  // namespace weft::net
