// Bytes and ids survive being written as text and read back; readers refuse any other text. Logs
// write control characters of strangers as text.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "common/base/bytes.h"
#include "common/base/ids.h"
#include "common/base/log.h"
#include "common/base/log_escapes.h"
#include "common/base/number_id.h"

namespace weft {
namespace {

TEST(Hex, RoundTripsAndRefusesOddOrForeignText) {
  EXPECT_EQ(to_hex(ByteVector{0, 0x1f, 0xff}), "001fff");
  EXPECT_EQ(from_hex("001FfF").value(), (ByteVector{0, 0x1f, 0xff}));
  EXPECT_EQ(from_hex("0").error().message, "Hex text has an odd length (1).");
  EXPECT_FALSE(from_hex("0g").has_value());
}

TEST(Base58, AgreesWithPublishedVectors) {
  // The examples of draft-msporny-base58-03, section 5.
  EXPECT_EQ(to_base58(as_bytes(std::string_view("Hello World!"))), "2NEpo7TZRRrLZSi2U");
  EXPECT_EQ(to_base58(from_hex("0000287fb4cd").value()), "11233QC4");
  EXPECT_EQ(from_base58("11233QC4").value(), from_hex("0000287fb4cd").value());
  EXPECT_FALSE(from_base58("0OIl").has_value());
  EXPECT_FALSE(from_base58(std::string(129, '2')).has_value());
}

// A simple base58, digit by digit, to compare with.
std::string plain_base58(ByteSpan bytes) {
  std::vector<unsigned> digits;  // Digits, the least significant first.
  for (const std::uint8_t byte : bytes) {
    unsigned carry = byte;
    for (unsigned& digit : digits) {
      carry += digit << 8;
      digit = carry % 58;
      carry /= 58;
    }
    for (; carry != 0; carry /= 58) digits.push_back(carry % 58);
  }
  std::string text;
  for (std::size_t i = 0; i < bytes.size() && bytes[i] == 0; ++i) text += '1';
  for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit)
    text += "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"[*digit];
  return text;
}

TEST(Bytes, Base58OfEverySizeIsWhatItIsOnPaper) {
  std::uint64_t state = 7;
  for (std::size_t size = 0; size <= 90; ++size) {
    for (std::size_t zeros = 0; zeros <= std::min<std::size_t>(size, 6); ++zeros) {
      ByteVector bytes(size, 0);
      for (std::size_t i = zeros; i < size; ++i) {
        state = state * 6364136223846793005U + 1442695040888963407U;
        bytes[i] = size % 7 == 0 ? 0xff : static_cast<std::uint8_t>(state >> 56);
      }

      const std::string text = to_base58(bytes);

      ASSERT_EQ(text, plain_base58(bytes)) << size << " bytes, " << zeros << " zeros";
      if (text.size() <= 128) {
        ASSERT_EQ(from_base58(text).value(), bytes) << size << " bytes, " << zeros << " zeros";
      }
    }
  }
}

TEST(Base64, AgreesWithRfc4648AndRefusesLooseText) {
  const std::map<std::string_view, std::string_view> vectors = {{"", ""},
                                                                {"f", "Zg=="},
                                                                {"fo", "Zm8="},
                                                                {"foo", "Zm9v"},
                                                                {"foob", "Zm9vYg=="},
                                                                {"fooba", "Zm9vYmE="},
                                                                {"foobar", "Zm9vYmFy"}};
  for (const auto& [plain, coded] : vectors) {
    EXPECT_EQ(to_base64(as_bytes(plain)), coded);
    EXPECT_EQ(as_text(from_base64(coded).value()), plain);
  }
  for (const std::string_view wrong :
       {"Zg=", "Zg", "Z===", "====", "Zh==", "Zm9=", "Z g=", "Zg==Zg=="}) {
    EXPECT_FALSE(from_base64(wrong).has_value()) << wrong;
  }
}

TEST(TaskId, ReadsWhatItWritesAndNothingElse) {
  TaskId task;
  task.job.bytes[0] = 0xab;
  task.index = 4294967295U;
  EXPECT_EQ(TaskId::parse(task.text()).value(), task);
  const std::string job = task.job.text();
  for (const std::string& wrong : {job, job + "/", job + "/-1", job + "/4294967296", job + "/1x",
                                   std::string("ab/1"), std::string("/")}) {
    EXPECT_FALSE(TaskId::parse(wrong).has_value()) << wrong;
  }
}

TEST(ErrorCode, HasAWordForEachCodeAndReadsItBack) {
  for (int code = 0; code <= static_cast<int>(ErrorCode::internal); ++code) {
    EXPECT_EQ(error_code_from(to_string(static_cast<ErrorCode>(code))),
              static_cast<ErrorCode>(code));
  }
}

TEST(NumberId, NamesNothingUntilItIsGivenOutAndIsNoOtherKindOfId) {
  using Ship = NumberId<struct ShipTag, std::uint32_t>;
  using Port = NumberId<struct PortTag, std::uint32_t>;
  static_assert(!std::is_convertible_v<std::uint32_t, Ship> && !std::is_convertible_v<Ship, Port>);
  static_assert(!std::is_constructible_v<Ship, Port> &&
                !std::is_convertible_v<Ship, std::uint32_t>);

  Ship counter;
  EXPECT_FALSE(counter);
  const Ship first = ++counter, second = ++counter;
  EXPECT_TRUE(first);
  EXPECT_LT(first, second);
  EXPECT_EQ(second.number(), 2U);
  EXPECT_EQ(std::hash<Ship>()(Ship(7)), std::hash<std::uint32_t>()(7));
}

// Strangers' text becomes part of the log's lines. It must not begin a line, and must not control a
// terminal.
TEST(Log, WritesControlCharactersOfStrangersAsText) {
  const auto written = [] {
    testing::internal::CaptureStderr();
    log_error("Its shader: {}",
              "a\n00:00:00.000 error a false line\x1b[2J\xc2\x9b"
              "2J caf\xc3\xa9");
    return testing::internal::GetCapturedStderr();
  };
  const std::string line = written();

  EXPECT_TRUE(line.ends_with(
      "Its shader: a\\x0a00:00:00.000 error a false line\\x1b[2J\\x9b2J caf\xc3\xa9\n"))
      << line;
  EXPECT_EQ(std::ranges::count(line, '\n'), 1);

  set_log_escapes(false);
  const std::string open = written();
  set_log_escapes(true);
  EXPECT_EQ(std::ranges::count(open, '\n'), 2) << "the attack";
  EXPECT_TRUE(open.contains("\n00:00:00.000 error a false line\x1b[2J"));
}

}  // namespace
}  // namespace weft
