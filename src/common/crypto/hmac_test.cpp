// The vectors of RFC 4231 and RFC 2202.
#include "common/crypto/hmac.h"

#include <gtest/gtest.h>

#include <string>

namespace weft::crypto {
namespace {

TEST(Hmac, GivesTheDigestsOfRfc4231) {
  const auto digest = [](const std::string& key, const std::string& message) {
    return hmac_sha256(as_bytes(key), as_bytes(message)).text();
  };
  EXPECT_EQ(digest(std::string(20, '\x0b'), "Hi There"),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  EXPECT_EQ(digest("Jefe", "what do ya want for nothing?"),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(
      digest(std::string(131, '\xaa'), "Test Using Larger Than Block-Size Key - Hash Key First"),
      "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

TEST(Hmac, GivesTheDigestsOfRfc2202) {
  EXPECT_EQ(to_hex(hmac_sha1(as_bytes(std::string(20, '\x0b')), as_bytes("Hi There"))),
            "b617318655057264e28bc0b6fb378c8ef146be00");
  EXPECT_EQ(to_hex(hmac_sha1(as_bytes("Jefe"), as_bytes("what do ya want for nothing?"))),
            "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79");
}

TEST(Hmac, ComparesAllBytes) {
  EXPECT_TRUE(equal_in_constant_time(as_bytes("abc"), as_bytes("abc")));
  EXPECT_FALSE(equal_in_constant_time(as_bytes("abc"), as_bytes("abd")));
  EXPECT_FALSE(equal_in_constant_time(as_bytes("xbc"), as_bytes("abc")));
  EXPECT_FALSE(equal_in_constant_time(as_bytes("ab"), as_bytes("abc")));
}

}  // namespace
}  // namespace weft::crypto
