// Tests that a stranger cannot make other workers connect to addresses that are not its own, except
// public ones.
#include "apps/coordinator/http/line_addresses.h"

#include <gtest/gtest.h>

namespace weft::coordinator {
namespace {

struct Row {
  const char* comes_from;
  const char* host;
  bool passed;
};

TEST(LineAddresses, AreTheWorkersOwnPublicOrOfItsPrivateNetwork) {
  constexpr Row rows[] = {
      {"192.0.2.7", "192.0.2.7", true},
      // The option --peer-address names another public address.
      {"192.0.2.7", "198.51.100.1", true},
      {"192.0.2.7", "127.0.0.1", false},
      {"192.0.2.7", "10.0.0.5", false},
      {"192.0.2.7", "[fd00::1]", false},
      {"192.0.2.7", "169.254.169.254", false},
      {"192.0.2.7", "[::ffff:127.0.0.1]", false},
      {"192.0.2.7", "0.0.0.0", false},
      {"10.0.0.9", "10.0.0.5", true},
      {"10.0.0.9", "192.168.1.5", false},
      {"10.0.0.9", "127.0.0.1", false},
      {"127.0.0.1", "127.0.0.1", true},
      {"127.0.0.1", "192.168.1.5", true},
      {"127.0.0.1", "169.254.1.1", false},
      {"2001:db8::1", "[2001:db8::1]", true},
      {"2001:db8::1", "[fe80::1]", false},
      {"192.0.2.7", "example.org", false},
      {"192.0.2.7", "", false},
      {"nonsense", "192.0.2.7", false},
  };
  for (const Row& row : rows) {
    const std::vector<std::string> lines{std::string("tcp://") + row.host + ":4711#ab", "webrtc"};
    const std::vector<std::string> expected =
        row.passed ? lines : std::vector<std::string>{"webrtc"};
    EXPECT_EQ(lines_to_pass_on(lines, row.comes_from), expected)
        << row.host << " of a worker that comes from " << row.comes_from;
    EXPECT_EQ(lines_to_pass_on(lines, row.comes_from, {.addresses_are_checked = false}), lines)
        << "the attack";
  }
}

}  // namespace
}  // namespace weft::coordinator
