// Ranges and entity tags as in RFC 9110, problem documents as in RFC 9457, and the bound on
// requests of one address.
#include "platform/net/http.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "platform/net/client.h"
#include "platform/net/quota.h"
#include "platform/net/rate_limit.h"

namespace weft::net {
namespace {

struct RangeRow {
  const char* header;
  std::optional<ByteRange> expected;
};
class Ranges : public testing::TestWithParam<RangeRow> {};

TEST_P(Ranges, AreReadAgainstTenBytes) {
  const auto range = parse_range(GetParam().header, 10);

  ASSERT_TRUE(range.has_value());
  ASSERT_EQ(range->has_value(), GetParam().expected.has_value());
  if (*range) {
    EXPECT_EQ((*range)->first, GetParam().expected->first);
    EXPECT_EQ((*range)->count, GetParam().expected->count);
  }
}
INSTANTIATE_TEST_SUITE_P(
    Rows, Ranges,
    testing::Values(RangeRow{"bytes=0-3", ByteRange{0, 4}},
                    RangeRow{"bytes=8-100", ByteRange{8, 2}}, RangeRow{"bytes=4-", ByteRange{4, 6}},
                    RangeRow{"bytes=-3", ByteRange{7, 3}}, RangeRow{"bytes=-30", ByteRange{0, 10}},
                    RangeRow{"bytes=0-1,3-4", std::nullopt}, RangeRow{"bytes=5-4", std::nullopt},
                    RangeRow{"bytes=x-4", std::nullopt}, RangeRow{"lines=0-1", std::nullopt},
                    RangeRow{"bytes=99999999999999999999-", std::nullopt}));

TEST(Range, BehindTheEndIsRefused) {
  EXPECT_FALSE(parse_range("bytes=10-", 10).has_value());
  EXPECT_FALSE(parse_range("bytes=-0", 10).has_value());
  EXPECT_FALSE(parse_range("bytes=0-", 0).has_value());
}

TEST(FileReply, SendsTheRangeThatIsAskedFor) {
  IncomingRequest request;
  request.headers["range"] = "bytes=2-5";

  const Reply reply =
      file_reply(request, {.path = "f", .offset = 1, .size = 10}, "tag", "text/plain");

  EXPECT_EQ(reply.status, 206);
  EXPECT_EQ(reply.file->offset, 3U);
  EXPECT_EQ(reply.file->size, 4U);
  EXPECT_EQ(reply.headers.at("content-range"), "bytes 2-5/10");
}

TEST(FileReply, SaysNotModifiedForTheSameTag) {
  IncomingRequest request;
  request.headers["if-none-match"] = "\"tag\"";

  const Reply reply = file_reply(request, {.path = "f", .size = 10}, "tag", "text/plain");

  EXPECT_EQ(reply.status, 304);
  EXPECT_FALSE(reply.file.has_value());
}

TEST(FileReply, SendsEverythingWhenTheContentIsNotTheOneTheRangeWasFor) {
  IncomingRequest request;
  request.headers["range"] = "bytes=2-5";
  request.headers["if-range"] = "\"other\"";

  EXPECT_EQ(file_reply(request, {.path = "f", .size = 10}, "tag", "text/plain").status, 200);
}

TEST(Problem, IsJsonWhateverTheRequestHad) {
  const auto detail = [](std::string_view message) {
    return problem({ErrorCode::not_found, std::string(message)}).body;
  };

  EXPECT_NE(detail("\"a\\\x01").find(R"("detail":"\"a\\\u0001")"), std::string::npos);
  EXPECT_NE(detail("gr\xc3\xbc\xc3\x9f, \xe2\x82\xac, \xf0\x9f\x98\x80")
                .find("gr\xc3\xbc\xc3\x9f, \xe2\x82\xac, \xf0\x9f\x98\x80"),
            std::string::npos);
  // A lone byte, a truncated character, an overlong one, a surrogate, one beyond U+10FFFF.
  for (const std::string_view bad :
       {"\xff", "\xc3", "\xc0\xaf", "\xed\xa0\x80", "\xf5\x80\x80\x80"}) {
    const std::string body = detail(bad);
    EXPECT_NE(body.find("\"detail\":\"\xef\xbf\xbd"), std::string::npos) << body;
    EXPECT_EQ(body.find(bad), std::string::npos) << body;
  }
}

TEST(Problem, IsReadBackAsTheSameErrorWhateverItQuotes) {
  const Error error{ErrorCode::insufficient_funds, "The account \"a\\b\"\n\x01 holds 3."};

  const Reply reply = problem(error, {{"line", "7"}});
  const Error back = error_of({.status = reply.status,
                               .headers = {reply.headers.begin(), reply.headers.end()},
                               .body = reply.body});

  EXPECT_EQ(reply.status, 402);
  EXPECT_EQ(back, error);
  EXPECT_THAT(reply.body, testing::HasSubstr("\"line\":7"));
}

TEST(RetryAfter, IsToldOfRefusalsForNowOnly) {
  const auto told = [](int status, const char* header) {
    Response response{.status = status};
    if (header != nullptr) response.headers["retry-after"] = header;
    return retry_after(response);
  };
  using std::chrono::seconds;
  EXPECT_EQ(told(429, "7"), seconds(7));
  EXPECT_EQ(told(503, "0"), seconds(0));
  EXPECT_EQ(told(429, nullptr), seconds(1));
  EXPECT_EQ(told(429, "Wed, 21 Oct 2026 07:28:00 GMT"), seconds(1));
  EXPECT_EQ(told(429, "999999"), seconds(60)) << "no server has a worker wait for days";
  EXPECT_EQ(told(413, "7"), std::nullopt);
  EXPECT_EQ(told(200, nullptr), std::nullopt);
}

TEST(QuotaHeaders, SayWhatIsLeftAndWhenItIsWholeAgain) {
  const std::vector<Quota> quotas{{.name = "jobs", .limit = 10, .remaining = 7, .unit = {}},
                                  {.name = "uploads",
                                   .limit = 4096,
                                   .remaining = 96,
                                   .unit = "content-bytes",
                                   .window = std::chrono::hours(1),
                                   .whole_after = std::chrono::milliseconds(3'500'500)}};

  const QuotaHeaders headers = quota_headers(quotas);

  EXPECT_EQ(headers.policy, "\"jobs\";q=10, \"uploads\";q=4096;qu=\"content-bytes\";w=3600");
  EXPECT_EQ(headers.left, "\"jobs\";r=7, \"uploads\";r=96;t=3501");
  EXPECT_EQ(quota_headers({}).policy, "");
}

TEST(RateLimit, LetsABurstThroughAndThenTheRate) {
  RateLimit limit({.per_second = 2, .burst = 3});
  const Instant start{};

  EXPECT_TRUE(limit.take("a", 3, start));
  EXPECT_FALSE(limit.take("a", 1, start));
  EXPECT_TRUE(limit.take("b", 1, start));
  EXPECT_FALSE(limit.take("a", 2, start + std::chrono::milliseconds(900)));
  EXPECT_TRUE(limit.take("a", 2, start + std::chrono::seconds(1)));
}

TEST(RateLimit, ForgetsOnlyAddressesThatAreNotLimited) {
  RateLimit limit({.per_second = 1, .burst = 1, .addresses_max = 2});
  const Instant start{};
  ASSERT_TRUE(limit.take("a", 1, start));
  ASSERT_TRUE(limit.take("b", 1, start));

  EXPECT_FALSE(limit.take("c", 1, start));
  EXPECT_TRUE(limit.take("c", 1, start + std::chrono::seconds(1)));
  EXPECT_EQ(limit.addresses(), 1U);
}

TEST(Url, IsReadWithAndWithoutAPort) {
  EXPECT_EQ(Url::parse("http://10.0.0.1:7300/")->text(), "http://10.0.0.1:7300");
  EXPECT_EQ(Url::parse("https://weft.example")->port, 443);
  EXPECT_EQ(Url::parse("http://[::1]:80")->host, "::1");
  for (const char* bad : {"", "10.0.0.1:80", "http://", "http://a:0", "http://a:99999",
                          "http://a/b", "http://[::1", "ftp://a"}) {
    EXPECT_FALSE(Url::parse(bad).has_value()) << bad;
  }
}

}  // namespace
}  // namespace weft::net
