// Tests of signed requests: each is valid for one coordinator, method, path and body, for some
// minutes, and is carried out once. Each attack fails, and succeeds without its defence.
#include "apps/coordinator/http/signatures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/crypto/keys.h"
#include "common/crypto/sha256.h"

namespace weft::coordinator {
namespace {

using testing::HasSubstr;

constexpr UnixMillis first_signed = 1'800'000'000'000;
constexpr UnixMillis minute = 60'000;

class SignaturesTest : public testing::Test {
 protected:
  // A request that the victim's client signs for the coordinator `at_`.
  net::IncomingRequest request(const SignatureSettings& settings = {}, std::uint8_t nonce = 1,
                               std::string body = "{}") const {
    net::IncomingRequest out{.method = "POST",
                             .path = "/v1/owner/payments",
                             .parameters = {},
                             .query = {{"from", "1"}},
                             .headers = {},
                             .body = std::move(body),
                             .address = "192.0.2.1"};
    const ByteVector bytes(protocol::request_nonce_bytes, nonce);
    const ByteVector digest =
        protocol::request_digest({.coordinator = at_,
                                  .method = out.method,
                                  .target = {.path = out.path, .query = out.query},
                                  .body = crypto::sha256(as_bytes(out.body)),
                                  .time = now_,
                                  .nonce = bytes},
                                 settings.parts);
    out.headers = {{"weft-client", wallet_.public_key().text()},
                   {"weft-nonce", to_hex(bytes)},
                   {"weft-time", std::to_string(now_)},
                   {"weft-signature", wallet_.sign_now(digest).text()}};
    return out;
  }
  Signatures signatures(SignatureSettings settings = {}) {
    return Signatures(at_, settings, [this] { return now_; });
  }
  // Sends a request and returns the reply's status; `paid_` counts how often it was carried out.
  int pay(Signatures& signatures, const net::IncomingRequest& asked, int status = 200) {
    signatures.once(
        asked, [this](net::Reply reply) { reply_ = std::move(reply); },
        [&](const Signed& who, const net::Respond& respond) {
          EXPECT_EQ(who.client, wallet_.public_key());
          ++paid_;
          respond(net::json_reply(status, "{\"paid\":" + std::to_string(paid_) + "}"));
        });
    return reply_.status;
  }

  const crypto::KeyPair wallet_ = crypto::KeyPair::generate().value();
  const PublicKey at_ = crypto::KeyPair::generate().value().public_key();
  UnixMillis now_ = first_signed;
  int paid_ = 0;
  net::Reply reply_;
};

TEST_F(SignaturesTest, ARequestOfOneCoordinatorIsRefusedAtAnother) {
  const PublicKey other = crypto::KeyPair::generate().value().public_key();
  const SignatureSettings off{.parts = {.coordinator = false}};
  const Signatures elsewhere(other, {}, [this] { return now_; });
  const Signatures trusting(other, off, [this] { return now_; });

  const auto refused = elsewhere.signer(request());

  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::unauthenticated);
  EXPECT_THAT(refused.error().message, HasSubstr(other.text()));
  EXPECT_TRUE(trusting.signer(request(off)).has_value()) << "the attack, with the defence off";
}

TEST_F(SignaturesTest, AnotherMethodPathQueryOrBodyIsRefused) {
  struct Row {
    const char* what;
    SignatureSettings off;
    void (*change)(net::IncomingRequest&);
  };
  const std::vector<Row> rows{
      {"method", {.parts = {.method = false}}, [](auto& r) { r.method = "DELETE"; }},
      {"path", {.parts = {.target = false}}, [](auto& r) { r.path = "/v1/stakes"; }},
      {"query", {.parts = {.target = false}}, [](auto& r) { r.query["from"] = "2"; }},
      {"more query", {.parts = {.target = false}}, [](auto& r) { r.query["to"] = "2"; }},
      {"body", {.parts = {.body = false}}, [](auto& r) { r.body = "{} "; }},
      {"time",
       {.parts = {.time = false}},
       [](auto& r) { r.headers["weft-time"] = "1800000000001"; }},
  };
  for (const Row& row : rows) {
    auto changed = request();
    row.change(changed);
    EXPECT_FALSE(signatures().signer(changed).has_value()) << row.what;

    auto taken = request(row.off);
    row.change(taken);
    EXPECT_TRUE(signatures(row.off).signer(taken).has_value())
        << row.what << ": the attack, with the defence off";
  }
  EXPECT_TRUE(signatures().signer(request()).has_value());
}

TEST_F(SignaturesTest, AnOldRequestIsRefusedWithTheCoordinatorsTime) {
  const auto recorded = request();
  auto all = signatures();
  auto trusting = signatures({.valid_for = {}});

  now_ = first_signed + 5 * minute;
  EXPECT_TRUE(all.signer(recorded).has_value()) << "five minutes old";
  now_ = first_signed - 5 * minute;
  EXPECT_TRUE(all.signer(recorded).has_value()) << "of a clock that is five minutes fast";
  now_ = first_signed - 5 * minute - 1;
  EXPECT_FALSE(all.signer(recorded).has_value());
  now_ = first_signed + 5 * minute + 1;
  EXPECT_EQ(pay(all, recorded), 401);

  EXPECT_THAT(reply_.body, HasSubstr("\"time\":" + std::to_string(now_)));
  EXPECT_THAT(reply_.body, HasSubstr("300 s before the coordinator's clock"));
  EXPECT_EQ(paid_, 0);
  EXPECT_EQ(pay(trusting, recorded), 200) << "the attack, with the defence off";
  EXPECT_EQ(paid_, 1);
}

TEST_F(SignaturesTest, AReplayActsOnceAndHearsTheFirstAnswer) {
  const auto recorded = request();
  auto all = signatures();
  auto forgetful = signatures({.remembered_for = {}});

  EXPECT_EQ(pay(all, recorded), 200);
  now_ += 4 * minute;
  EXPECT_EQ(pay(all, recorded), 200);

  EXPECT_EQ(reply_.body, "{\"paid\":1}");
  EXPECT_EQ(paid_, 1);
  pay(forgetful, recorded);
  pay(forgetful, recorded);
  EXPECT_EQ(paid_, 3) << "the attack, with the defence off";
}

TEST_F(SignaturesTest, TheLatestReplayThatHoldsIsStillRemembered) {
  now_ = first_signed + 5 * minute;  // The client's clock is fast.
  const auto recorded = request();
  now_ = first_signed;
  auto all = signatures();
  EXPECT_EQ(pay(all, recorded), 200);

  now_ = first_signed + 10 * minute;
  EXPECT_EQ(pay(all, recorded), 200);
  EXPECT_EQ(paid_, 1);
  now_ = first_signed + 10 * minute + 1;
  EXPECT_EQ(pay(all, recorded), 401) << "it holds no more";
  EXPECT_EQ(paid_, 1);
}

TEST_F(SignaturesTest, ANonceIsGoodForOneRequest) {
  auto all = signatures();
  EXPECT_EQ(pay(all, request({}, 1, "{}")), 200);
  now_ += 1;

  EXPECT_EQ(pay(all, request({}, 1, "{\"amount\":2}")), 409);
  EXPECT_EQ(pay(all, request({}, 1, "{}")), 200) << "the first one, signed again later";
  EXPECT_EQ(paid_, 1);
  EXPECT_EQ(pay(all, request({}, 2, "{\"amount\":2}")), 200);
  EXPECT_EQ(paid_, 2);
}

TEST_F(SignaturesTest, WhatWasNotDecidedMayBeTriedAgain) {
  auto all = signatures();
  EXPECT_EQ(pay(all, request(), 503), 503);
  EXPECT_EQ(pay(all, request(), 402), 402);
  EXPECT_EQ(pay(all, request(), 200), 402) << "that was an answer";
  EXPECT_EQ(paid_, 2);
}

TEST_F(SignaturesTest, ASecondRequestWaitsForTheFirstOnesAnswer) {
  auto all = signatures();
  net::Respond first;
  std::vector<std::string> answers;
  const auto note = [&](const net::Reply& reply) { answers.push_back(reply.body); };
  const auto act = [&](const Signed&, const net::Respond& respond) { first = respond; };
  all.once(request(), note, act);
  for (int i = 0; i < 17; ++i) all.once(request(), note, act);

  ASSERT_EQ(answers.size(), 1u) << "sixteen wait, and no more";
  EXPECT_THAT(answers[0], HasSubstr("is being answered"));
  first(net::json_reply(200, "{}"));
  EXPECT_EQ(answers.size(), 18u);
  EXPECT_EQ(answers.back(), "{}");
}

TEST_F(SignaturesTest, OneClientsRequestsDoNotTakeTheRoomOfOthers) {
  auto all = signatures({.remembered_max = 3, .remembered_per_client = 2});
  EXPECT_EQ(pay(all, request({}, 1)), 200);
  EXPECT_EQ(pay(all, request({}, 2)), 200);
  EXPECT_EQ(pay(all, request({}, 3)), 429);
  EXPECT_EQ(pay(all, request({}, 1)), 200) << "is remembered";

  now_ += 10 * minute + 1;
  EXPECT_EQ(pay(all, request({}, 3)), 200) << "the first ones are forgotten";

  auto small = signatures({.remembered_max = 1});
  EXPECT_EQ(pay(small, request({}, 1)), 200);
  EXPECT_EQ(pay(small, request({}, 2)), 503);
  auto few_bytes = signatures({.remembered_bytes_max = 4});
  EXPECT_EQ(pay(few_bytes, request({}, 1)), 200);
  EXPECT_EQ(pay(few_bytes, request({}, 2)), 503);
}

TEST_F(SignaturesTest, MalformedHeadersAreNamed) {
  const std::vector<std::pair<std::string, std::string>> rows{
      {"weft-client", "0OIl"}, {"weft-nonce", "12"},    {"weft-nonce", std::string(32, 'x')},
      {"weft-time", "-1"},     {"weft-time", "1e12"},   {"weft-time", "99999999999999999999"},
      {"weft-time", ""},       {"weft-signature", "x"}, {"weft-signature", ""},
  };
  for (const auto& [name, value] : rows) {
    auto broken = request();
    broken.headers[name] = value;
    const auto who = signatures().signer(broken);
    ASSERT_FALSE(who.has_value()) << name << ": " << value;
    EXPECT_EQ(who.error().code, ErrorCode::unauthenticated) << name << ": " << value;
  }
}

}  // namespace
}  // namespace weft::coordinator
