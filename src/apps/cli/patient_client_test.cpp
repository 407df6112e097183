// Tests of commands while a coordinator is slow or refuses requests for now, and while another
// server answers at its address. A fake client gives the answers.
#include "apps/cli/patient_client.h"

#include <gtest/gtest.h>

#include <deque>
#include <utility>
#include <vector>

#include "apps/cli/signed_requests.h"

namespace weft::cli {
namespace {

net::Response response_of(int status, std::string body, std::string type) {
  net::Response response;
  response.status = status;
  response.headers["content-type"] = std::move(type);
  response.body = std::move(body);
  return response;
}

// Answers each request with the next prepared answer, and with the last one after that.
class FakeClient final : public net::Client {
 public:
  explicit FakeClient(std::deque<Result<net::Response>> answers) : answers_(std::move(answers)) {
    url_.host = "127.0.0.1";
    url_.port = 1;
  }
  void send(net::Request request, Answer answer) override {
    requests.push_back(std::move(request));
    Result<net::Response> next = answers_.front();
    if (answers_.size() > 1) answers_.pop_front();
    answer(std::move(next));
  }
  Result<net::Response> send_now(net::Request) override { return answers_.front(); }
  std::shared_ptr<net::Socket> connect(std::string, net::SocketHandlers) override { return {}; }
  void post(std::function<void()> work) override { work(); }
  void after(Duration, std::function<void()> work) override { work(); }
  void next_turn(std::function<void()> work) override { work(); }
  [[nodiscard]] const net::Url& url() const override { return url_; }

  std::vector<net::Request> requests;

 private:
  std::deque<Result<net::Response>> answers_;
  net::Url url_;
};

struct Rig {
  explicit Rig(std::deque<Result<net::Response>> answers,
               std::chrono::milliseconds patience = std::chrono::minutes(1))
      : fake(new FakeClient(std::move(answers))),
        client(std::unique_ptr<net::Client>(fake), "http://coordinator", patience) {}

  FakeClient* fake;
  PatientClient client;
};

Result<net::Response> unavailable() {
  return fail(ErrorCode::unavailable, "There is no connection.");
}

TEST(PatientClient, ARequestThatIsRefusedForNowIsTriedAgain) {
  Rig rig({response_of(503, "{}", "application/json"),
           response_of(200, "{\"a\":1}", "application/json")});
  const auto answer = rig.client.send(net::get("/v1/info"));
  ASSERT_TRUE(answer.has_value()) << answer.error().message;
  EXPECT_EQ(answer->body, "{\"a\":1}");
  EXPECT_EQ(rig.fake->requests.size(), 2U);
}

TEST(PatientClient, WithoutPatienceTheRefusalIsTheAnswer) {
  Rig rig({response_of(503, "{\"detail\":\"The disk is full.\"}", "application/problem+json")}, {});
  const auto answer = rig.client.send(net::get("/v1/info"));
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().message, "The disk is full.");
  EXPECT_EQ(rig.fake->requests.size(), 1U);
}

TEST(PatientClient, ACoordinatorThatWasReachedIsWaitedFor) {
  Rig rig({response_of(200, "{}", "application/json"), unavailable(),
           response_of(200, "{\"b\":2}", "application/json")});
  ASSERT_TRUE(rig.client.send(net::get("/v1/info")).has_value());
  const auto answer = rig.client.send(net::get("/v1/info"));
  ASSERT_TRUE(answer.has_value()) << answer.error().message;
  EXPECT_EQ(answer->body, "{\"b\":2}");
}

TEST(PatientClient, OneThatWasNeverReachedIsUnavailableAtOnce) {
  Rig rig({unavailable()});
  const auto answer = rig.client.send(net::get("/v1/info"));
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().code, ErrorCode::unavailable);
  EXPECT_EQ(rig.fake->requests.size(), 1U) << "no second try";
}

TEST(PatientClient, AnotherServersPageIsNoCoordinator) {
  Rig rig({response_of(404, "<html>", "text/html")});
  const auto answer = rig.client.send(net::get("/v1/info"));
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().message,
            "http://coordinator is not a Weft coordinator (it answers 404).");
}

TEST(SignedRequests, AReadIsUnsignedUntilAWalletReads) {
  Rig rig({response_of(200, "{}", "application/json")});
  SignedRequests requests(rig.client);
  EXPECT_EQ(requests.read_document("/v1/info"), "{}");
  ASSERT_EQ(rig.fake->requests.size(), 1U);
  EXPECT_FALSE(rig.fake->requests[0].headers.contains("weft-signature"));
}

TEST(SignedRequests, NothingIsSignedForACoordinatorThatDoesNotProveItsKey) {
  const auto wallet = crypto::KeyPair::generate().value();
  const auto other = crypto::KeyPair::generate().value();
  const std::string document =
      "{\"coordinator\":\"" + other.public_key().text() + "\",\"signature\":\"" +
      other.sign_now(as_bytes("something else")).text() + "\",\"rotations\":[]}";
  Rig rig({response_of(200, document, "application/json")});
  SignedRequests requests(rig.client);

  const auto answer = requests.post("/v1/owner/grant", "{}", wallet);

  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().code, ErrorCode::unauthenticated) << answer.error().message;
  ASSERT_EQ(rig.fake->requests.size(), 1U) << "the coordinator was asked who it is, and no more";
  EXPECT_TRUE(rig.fake->requests[0].path.starts_with("/v1/identity/"));
}

TEST(SignedRequests, ADocumentThatIsNotJsonIsRefused) {
  Rig rig({response_of(200, "<html>", "text/html")});
  SignedRequests requests(rig.client);
  const auto answer = requests.read_document("/v1/info");
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().message,
            "http://coordinator is not a Weft coordinator (its /v1/info is not JSON).");
}

}  // namespace
}  // namespace weft::cli
