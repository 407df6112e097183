// Signed requests between real coordinators: requests that one coordinator's operator records are
// refused by another coordinator, and a replaced key announces its successor.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apps/coordinator/key_rotation.h"
#include "apps/coordinator/test_process.h"
#include "common/base/format.h"
#include "common/crypto/wallet.h"

namespace weft::coordinator {
namespace {

using testing::HasSubstr;

class SigningTest : public ProcessTest {
 protected:
  void SetUp() override {
    ProcessTest::SetUp();
    std::string pattern = (fs::temp_directory_path() / "weft-process-XXXXXX").string();
    other_folder_ = mkdtemp(pattern.data());
    other_ = std::make_unique<Process>(free_port(), other_folder_);
  }
  void TearDown() override {
    other_.reset();
    std::error_code ignored;
    fs::remove_all(other_folder_, ignored);
    ProcessTest::TearDown();
  }

  fs::path other_folder_;
  std::unique_ptr<Process> other_;
};

// Finding H-8 of the security review: the operator of coordinator B sends coordinator A requests
// that the victim signed for B.
TEST_F(SigningTest, WhatOneCoordinatorRecordsIsRefusedAtAnother) {
  const std::string manifest = jobs::count_manifest(2, 1);
  const std::vector<net::Request> recorded{
      signed_by(wallet_, net::post("/v1/keys", R"({"name":"stolen"})")),
      signed_by(wallet_, net::get("/v1/keys")),
      signed_by(wallet_, net::get("/v1/owner")),
      signed_by(wallet_, net::post("/v1/jobs", manifest)),
  };
  for (const net::Request& request : recorded) EXPECT_LT(ask(request).status, 300) << request.path;

  connect(other_->url());
  wait_until_ready();

  for (const net::Request& request : recorded) EXPECT_EQ(ask(request).status, 401) << request.path;
  EXPECT_EQ(ask(signed_by(wallet_, net::get("/v1/keys"))).body, R"({"keys":[]})");
}

TEST_F(SigningTest, ARepeatedPaymentPaysOnceAndHearsTheSameAnswer) {
  const auto operator_wallet = crypto::load_wallet(folder_ / "coordinator.json");
  ASSERT_TRUE(operator_wallet.has_value());
  const auto pay = [&](std::uint64_t nonce, int amount) {
    return signed_by(
        *operator_wallet,
        net::post("/v1/owner/payments", weft::format(R"({{"to":"{}","amount":{},"issue":true}})",
                                                     wallet_.public_key().text(), amount)),
        nonce);
  };
  const auto request = pay(1, 5);

  const auto first = ask(request);
  const auto again = ask(request);

  EXPECT_EQ(first.status, 200) << first.body;
  EXPECT_EQ(again.body, first.body);
  EXPECT_EQ(ask(pay(1, 6)).status, 409);
  const auto owner = ask(signed_by(wallet_, net::get("/v1/owner")));
  EXPECT_EQ(api::from_json<api::Owner>(owner.body)->free, 5);
}

TEST_F(SigningTest, AnOldTimeIsRefusedWithTheCoordinatorsOwn) {
  const auto now = signed_by(wallet_, net::get("/v1/owner"));
  const auto nonce = crypto::ordered_id();
  const auto old =
      sign_request(wallet_, net::get("/v1/owner"),
                   {.coordinator = coordinator_, .time = unix_now() - 301'000, .nonce = nonce});

  const auto answer = ask(old);

  EXPECT_EQ(ask(now).status, 200);
  EXPECT_EQ(answer.status, 401);
  EXPECT_THAT(answer.body, HasSubstr("\"time\":1"));
}

TEST_F(SigningTest, ACoordinatorProvesItsKeyUnderTheNameThatItIsAskedBy) {
  const auto nonce = crypto::ordered_id();
  const std::string host = process_->url().substr(std::string("http://").size());
  const auto proves = [&](const api::Identity& shown, const std::string& name) {
    return crypto::verify_now(
        PublicKey::parse(shown.coordinator).value(),
        protocol::identity_digest(PublicKey::parse(shown.coordinator).value(), nonce, name),
        Signature::parse(shown.signature).value());
  };

  const auto identity = view<api::Identity>("/v1/identity/" + to_hex(nonce));

  EXPECT_TRUE(proves(identity, host));
  EXPECT_FALSE(proves(identity, "relay.example")) << "a relay under another name";
  EXPECT_EQ(ask(net::get("/v1/identity/12")).status, 400);
}

TEST_F(SigningTest, AKeyThatIsReplacedAnnouncesTheNext) {
  const std::string before = view<api::Info>("/v1/info").coordinator;
  EXPECT_THAT(rotate_key(folder_).error().message, HasSubstr("is running"));
  client_.reset();
  process_->stop();

  const auto first = rotate_key(folder_);
  const auto second = rotate_key(folder_);
  ASSERT_TRUE(first.has_value()) << first.error().message;
  ASSERT_TRUE(second.has_value()) << second.error().message;
  process_->start();
  connect(process_->url());
  wait_until_ready();

  EXPECT_EQ(view<api::Info>("/v1/info").coordinator, second->text());
  const auto identity = view<api::Identity>("/v1/identity/" + std::string(32, '0'));
  ASSERT_EQ(identity.rotations.size(), 2U);
  EXPECT_EQ(identity.rotations[0].before, before);
  EXPECT_EQ(identity.rotations[0].after, first->text());
  EXPECT_EQ(identity.rotations[1].after, second->text());
  EXPECT_TRUE(fs::exists(folder_ / ("coordinator-" + before + ".json")));
  EXPECT_EQ(ask(signed_by(wallet_, net::get("/v1/owner"))).status, 200) << "for the new key";
}

}  // namespace
}  // namespace weft::coordinator
