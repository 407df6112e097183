// A worker stays with a coordinator that is down or has an error, and leaves any other server.
#include "apps/worker/native/coordinator_check.h"

#include <gtest/gtest.h>

#include "common/protocol/api.h"

namespace weft::worker {
namespace {

constexpr std::string_view url = "http://there:7300";

net::Response answer(int status, std::string body = "<html>", net::Headers headers = {}) {
  return {.status = status, .headers = std::move(headers), .body = std::move(body)};
}

TEST(CoordinatorCheck, StaysWithACoordinatorAndWithWhatMayBecomeOneAgain) {
  const std::string info =
      protocol::api::to_json(protocol::api::Info{.software = "weft/0.1.0", .coordinator = "key"});

  EXPECT_TRUE(check_coordinator(url, answer(200, info)));
  for (const int status : {408, 429, 500, 502, 503, 504})
    EXPECT_TRUE(check_coordinator(url, answer(status))) << status;
  for (const ErrorCode code : {ErrorCode::unavailable, ErrorCode::deadline_exceeded})
    EXPECT_TRUE(check_coordinator(url, fail(code, "Not there.")));
}

TEST(CoordinatorCheck, SaysWhatIsThereInstead) {
  const auto sentence = [](const Result<net::Response>& given) {
    const auto checked = check_coordinator(url, given);
    return checked ? "fine" : checked.error().message;
  };

  EXPECT_EQ(sentence(answer(404)), "http://there:7300 is not a Weft coordinator (it answers 404).");
  EXPECT_EQ(sentence(answer(401)), "http://there:7300 is not a Weft coordinator (it answers 401).");
  EXPECT_EQ(sentence(answer(200)),
            "http://there:7300 is not a Weft coordinator (its /v1/info does not describe one).");
  EXPECT_EQ(sentence(answer(200, "{}")),
            "http://there:7300 is not a Weft coordinator (its /v1/info does not describe one).");
  EXPECT_EQ(
      sentence(answer(301, "", {{"location", "https://there/"}})),
      "http://there:7300 is not a Weft coordinator (it redirects the request: https://there/).");
  EXPECT_EQ(
      sentence(fail(ErrorCode::unsupported, "http://there:7300 sends an answer that is not HTTP.")),
      "http://there:7300 sends an answer that is not HTTP.");
  EXPECT_EQ(sentence(fail(ErrorCode::unauthenticated, "The certificate is not trusted.")),
            "The certificate is not trusted.");
}

}  // namespace
}  // namespace weft::worker
