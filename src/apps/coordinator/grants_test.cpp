// Tests of grants of credits to clients. Wallets are free, so a grant for each wallet would be
// unlimited money. An operator's invitation gives credits once, the grants of a day are bounded,
// and granted credits buy no trust.
#include "decisions/jobs/grants.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "apps/coordinator/test_network.h"
#include "apps/coordinator/test_process.h"
#include "common/base/format.h"
#include "common/crypto/invitation.h"
#include "common/crypto/own_invitation.h"
#include "common/crypto/wallet.h"
#include "common/json/json.h"

namespace weft::coordinator {
namespace {

using crypto::InvitationKind;
using crypto::KeyPair;
using ledger::Funds;
using testing::HasSubstr;

KeyPair fresh() { return KeyPair::generate().value(); }

TEST(Grants, AThousandFreshWalletsGetNothingWithoutAnInvitation) {
  const auto jobs_taken = [](bool need_invitation) {
    TestNetwork network;
    network.invited_grants = need_invitation;
    network.restart();
    std::size_t taken = 0;
    for (int i = 0; i < 1'000; ++i)
      taken += network.submit(fresh(), jobs::count_manifest(1, 1)) ? 1 : 0;
    return taken;
  };

  EXPECT_EQ(jobs_taken(true), 0U);
  EXPECT_EQ(jobs_taken(false), 1'000U) << "the attack";
}

// Asks a core for a grant of credits to a wallet.
Result<jobs::OwnerView> grant(TestNetwork& network, const KeyPair& wallet,
                              const std::string& address, bool is_own = false) {
  Result<jobs::OwnerView> answer = fail(ErrorCode::unavailable, "No answer.");
  network.post([&](jobs::Core& core, jobs::Moment now) {
    core.grants().give({.client = wallet.public_key(), .address = address, .is_own = is_own}, now,
                       [&](const Result<jobs::OwnerView>& view) { answer = view; });
  });
  network.run();
  return answer;
}

TEST(Grants, ComeOnceToAnOwnerAndStayGrantedAfterARestartToo) {
  TestNetwork network;
  network.invited_grants = network.taint_grants = true;
  network.restart();
  const auto wallet = fresh();

  const auto first = grant(network, wallet, "192.0.2.1");
  ASSERT_TRUE(first.has_value()) << first.error().message;
  EXPECT_EQ(first->balances.spendable, (Funds{.free = 0, .granted = TestNetwork::grant}));
  EXPECT_EQ(grant(network, wallet, "192.0.2.1").error().code, ErrorCode::already_exists);
  network.restart();
  EXPECT_EQ(grant(network, wallet, "192.0.2.1").error().code, ErrorCode::already_exists);
  EXPECT_TRUE(network.submit(wallet, jobs::count_manifest(1, 1)).has_value());
}

TEST(Grants, OfADayAreBoundedInAllAndByAddressAndTheOperatorsOwnAreNot) {
  const auto granted = [](jobs::GrantLimits limits, bool own) {
    jobs::CoreSettings settings;
    settings.grants = limits;
    TestNetwork network(settings);
    network.invited_grants = true;
    network.restart();
    std::size_t made = 0;
    for (const char* address : {"192.0.2.1", "2001:db8::/64"}) {
      for (int i = 0; i < 10; ++i) made += grant(network, fresh(), address, own) ? 1 : 0;
    }
    return made;
  };

  EXPECT_EQ(granted({.per_day = 0, .per_address = 4}, false), 8U);
  EXPECT_EQ(granted({.per_day = 6, .per_address = 4}, false), 6U);
  EXPECT_EQ(granted({.per_day = 0, .per_address = 0}, false), 20U) << "the attack";
  EXPECT_EQ(granted({.per_day = 1, .per_address = 1}, true), 20U);
}

// If grants were counted only in memory, each restart would allow the grants of a whole day again.
TEST(Grants, OfADayAreCountedOverARestart) {
  const auto granted = [](bool kept) {
    jobs::CoreSettings settings;
    settings.grants = {.per_day = 5, .per_address = 0, .kept_over_restart = kept};
    TestNetwork network(settings);
    network.invited_grants = true;
    std::size_t made = 0;
    for (int starts = 0; starts < 3; ++starts) {
      network.restart();
      for (int i = 0; i < 4; ++i) made += grant(network, fresh(), "192.0.2.1") ? 1 : 0;
    }
    return made;
  };
  EXPECT_EQ(granted(true), 5U);
  EXPECT_EQ(granted(false), 12U) << "the attack";
}

TEST(Grants, OfNothingAreRefusedInWords) {
  TestNetwork network;
  network.invited_grants = true;
  network.restart();
  const auto refused = network.submit(fresh(), jobs::count_manifest(1, 1));
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::insufficient_funds);
  EXPECT_THAT(refused.error().message, HasSubstr("Ask the operator for an invitation"));
}

// A whole coordinator that requires invitations, as `weft serve` does.
class InvitationsTest : public ProcessTest {
 protected:
  void SetUp() override {
    setenv("WEFT_TEST_INVITATIONS", "1", 1);
    ProcessTest::SetUp();
    unsetenv("WEFT_TEST_INVITATIONS");
  }
  [[nodiscard]] std::string invitation(InvitationKind kind, PublicKey wallet = {},
                                       UnixMillis until = unix_now() + 60'000) const {
    return crypto::write_invitation(crypto::load_wallet(folder_ / "coordinator.json").value(),
                                    {.kind = kind, .until = until, .wallet = wallet});
  }
  net::Response redeem(const KeyPair& wallet, const std::string& code) {
    return ask(signed_by(
        wallet, net::post("/v1/owner/grant", weft::format(R"({{"invitation":"{}"}})", code))));
  }
};

TEST_F(InvitationsTest, WithoutOneAWalletGetsNothing) {
  const auto text = jobs::count_manifest(1, 1);
  const ByteVector bytes{1, 2, 3};
  const Hash hash = crypto::sha256(bytes);

  EXPECT_EQ(submit(text, 1).status, 402);
  EXPECT_EQ(
      ask(signed_blob(wallet_, net::put("/v1/blobs/" + hash.text(), std::string(as_text(bytes))),
                      hash))
          .status,
      402);
  EXPECT_EQ(ask(signed_by(wallet_, net::post("/v1/models", "{}"))).status, 402);
  EXPECT_EQ(ask(signed_by(wallet_, net::post("/v1/keys", R"({"name":"k"})"))).status, 402);

  const auto granted = redeem(wallet_, invitation(InvitationKind::client));
  EXPECT_EQ(granted.status, 200) << granted.body;
  EXPECT_THAT(granted.body, HasSubstr(R"("granted":100000000000)"));
  EXPECT_EQ(submit(text, 2).status, 202);
  EXPECT_EQ(redeem(wallet_, invitation(InvitationKind::client)).status, 409);
}

TEST_F(InvitationsTest, OnlyAClientsOfThisCoordinatorBringCredits) {
  const auto other = fresh();
  const std::string foreign = crypto::write_invitation(
      other, {.kind = InvitationKind::client, .until = unix_now() + 60'000, .wallet = {}});

  EXPECT_EQ(redeem(wallet_, foreign).status, 403);
  EXPECT_EQ(redeem(wallet_, invitation(InvitationKind::client, other.public_key())).status, 403);
  EXPECT_EQ(redeem(wallet_, invitation(InvitationKind::client, {}, unix_now() - 1)).status, 403);
  const auto of_worker = redeem(wallet_, invitation(InvitationKind::worker));
  EXPECT_EQ(of_worker.status, 403);
  EXPECT_THAT(net::error_of(of_worker).message, HasSubstr("for a worker"));
  EXPECT_EQ(redeem(wallet_, invitation(InvitationKind::verifier)).status, 403);
  EXPECT_EQ(redeem(wallet_, "weft-00").status, 400);
  EXPECT_EQ(submit(jobs::count_manifest(1, 1), 1).status, 402) << "none of these did";
}

TEST_F(InvitationsTest, AReaderOfTheDataFolderIsTheOperators) {
  const auto told = ask(net::get("/v1/owner/grant"));
  const auto root = json::parse(told.body).value();
  const auto file = root.object({"grant", "invite_file"})->get("invite_file")->string().value();
  EXPECT_EQ(fs::path(file), fs::absolute(folder_) / "invite");
  const auto coordinator = crypto::load_wallet(folder_ / "coordinator.json").value().public_key();
  const std::string code = crypto::own_invitation(file, coordinator, wallet_.public_key());
  ASSERT_FALSE(code.empty());

  for (int i = 0; i < 20; ++i) {
    const auto granted = redeem(fresh(), code);
    ASSERT_EQ(granted.status, 200) << granted.body;
  }
  std::size_t others = 0;
  for (int i = 0; i < 20; ++i)
    others += redeem(fresh(), invitation(InvitationKind::client)).status == 200 ? 1 : 0;
  EXPECT_EQ(others, jobs::GrantLimits().per_address);
}

// An invitation for clients does not make a worker trusted.
TEST_F(InvitationsTest, AClientsGivesAWorkerNoTrust) {
  std::ofstream(folder_ / "invite") << invitation(InvitationKind::client);

  ScriptedWorker worker(process_->url(), {}, 1);

  for (const Instant give_up = now() + 60s; worker.errors() == 0 && now() < give_up;)
    std::this_thread::sleep_for(5ms);
  EXPECT_GT(worker.errors(), 0U);
  EXPECT_FALSE(worker.joined());
}

}  // namespace
}  // namespace weft::coordinator
