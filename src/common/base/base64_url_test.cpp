// base64url is read exactly as it is written.
#include "common/base/base64_url.h"

#include <gtest/gtest.h>

namespace weft {
namespace {

TEST(Base64Url, IsWrittenWithoutPadding) {
  EXPECT_EQ(to_base64_url({}), "");
  EXPECT_EQ(to_base64_url(as_bytes("f")), "Zg");
  EXPECT_EQ(to_base64_url(as_bytes("fo")), "Zm8");
  EXPECT_EQ(to_base64_url(as_bytes("foo")), "Zm9v");
  EXPECT_EQ(to_base64_url(ByteVector{0xfb, 0xff, 0xfe}), "-__-");
}

TEST(Base64Url, ReadsWhatItWrites) {
  ByteVector bytes;
  for (int i = 0; i < 300; ++i) {
    EXPECT_EQ(from_base64_url(to_base64_url(bytes)), bytes);
    bytes.push_back(static_cast<std::uint8_t>(i * 7));
  }
}

TEST(Base64Url, RefusesEverythingElse) {
  for (const char* text :
       {"Zg==", "Zg=", "+/+/", "Zh", "Z", "Zm8 ", "Zm9v\n", "Z!8", "Zm9", "=", "===="})
    EXPECT_FALSE(from_base64_url(text)) << text;
}

}  // namespace
}  // namespace weft
