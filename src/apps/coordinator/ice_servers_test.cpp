// Tests of ICE servers for tabs: credentials for TURN servers with a shared secret, and exact
// messages for errors.
#include "apps/coordinator/ice_servers.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace weft::coordinator {
namespace {

TEST(IceServers, GiveEveryWorkerCredentialsOfItsOwn) {
  const auto servers = IceServers::parse(R"([{"urls":"stun:a.example:3478"},
    {"urls":["turn:b.example:3478?transport=udp","turns:b.example:5349"],"secret":"north","hours":2},
    {"urls":"turn:c.example","username":"u","credential":"p"}])");
  ASSERT_TRUE(servers.has_value()) << servers.error().message;
  const auto issued = servers->issue("worker", 1'700'000'000'000, IceServers::For::known);
  ASSERT_EQ(issued.size(), 3u);
  EXPECT_EQ(issued[0].urls, std::vector<std::string>{"stun:a.example:3478"});
  EXPECT_TRUE(issued[0].username.empty());
  EXPECT_EQ(issued[1].urls.size(), 2u);
  EXPECT_EQ(issued[1].username, "1700007200:worker");
  // The expected value is from: printf '1700007200:worker' | openssl dgst -sha1 -hmac north -binary
  // | base64
  EXPECT_EQ(issued[1].credential, "apjEtxwAI3biaaIK/UqtcG2QWqc=");
  EXPECT_EQ(issued[2].username, "u");
  EXPECT_EQ(issued[2].credential, "p");
}

// Wallets are free, so a relay for each of them would be a relay for all strangers.
TEST(IceServers, GiveStrangersNoRelay) {
  const auto servers = IceServers::parse(R"([{"urls":"stun:a.example:3478"},
    {"urls":"turn:b.example:3478","secret":"north"},
    {"urls":"turn:c.example","username":"u","credential":"p"}])");
  ASSERT_TRUE(servers.has_value()) << servers.error().message;

  const auto issued = servers->issue("worker", 1, IceServers::For::stranger);

  ASSERT_EQ(issued.size(), 1u);
  EXPECT_EQ(issued[0].urls, std::vector<std::string>{"stun:a.example:3478"});
  EXPECT_EQ(servers->issue("worker", 1, IceServers::For::known).size(), 3u) << "the attack";
}

struct Wrong {
  const char* json;
  const char* message;
};
class WrongIceServers : public testing::TestWithParam<Wrong> {};
INSTANTIATE_TEST_SUITE_P(
    Rows, WrongIceServers,
    testing::Values(Wrong{R"([{"urls":"http://a"}])", "is not a URL of a STUN or TURN server"},
                    Wrong{R"([{"urls":[]}])", "must not be empty"},
                    Wrong{R"([{"urls":"turn:a"}])", "neither a secret nor username and credential"},
                    Wrong{R"([{"urls":"turn:a","username":"u"}])",
                          "needs username and credential together"},
                    Wrong{R"([{"urls":"turn:a","username":"u","credential":"p","secret":"s"}])",
                          "has a secret, and a username or credential"},
                    Wrong{R"([{"urls":"stun:a","secret":"s"}])", "STUN asks for no credential"},
                    Wrong{R"([{"urls":"turn:a","secret":"s","hours":0}])", "must be at least 1"},
                    Wrong{R"([{"urls":"turn:a","secret":"s","days":1}])", "days"},
                    Wrong{R"({"urls":"turn:a"})", "array"},
                    Wrong{R"([{"urls":"turn:u@a","secret":"s"}])", "is not a URL"}));

TEST_P(WrongIceServers, GetAnExactSentence) {
  const auto servers = IceServers::parse(GetParam().json);
  ASSERT_FALSE(servers.has_value());
  EXPECT_TRUE(servers.error().message.contains(GetParam().message)) << servers.error().message;
  EXPECT_TRUE(servers.error().message.contains("line 1")) << servers.error().message;
}

TEST(IceServers, AreReadFromTheOptionOrAFile) {
  EXPECT_TRUE(IceServers::read("").value().empty());
  EXPECT_FALSE(IceServers::read(R"( [{"urls":"stun:a"}])").value().empty());
  const auto path = std::filesystem::temp_directory_path() / "weft-ice-servers-test.json";
  std::ofstream(path) << R"([{"urls":"stun:a"}])";
  EXPECT_FALSE(IceServers::read(path.string()).value().empty());
  std::ofstream(path) << "[1]";
  EXPECT_TRUE(IceServers::read(path.string()).error().message.contains(path.string()));
  std::filesystem::remove(path);
  EXPECT_TRUE(IceServers::read("nowhere.json")
                  .error()
                  .message.contains("nowhere.json is neither a JSON array nor a file"));
}

}  // namespace
}  // namespace weft::coordinator
