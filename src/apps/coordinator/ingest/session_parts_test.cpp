// Tests of the parts of a worker's session, each alone: its end, its keys, its leases and its
// receipts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "apps/coordinator/ingest/handshake.h"
#include "apps/coordinator/ingest/held_leases.h"
#include "apps/coordinator/ingest/receipt_check.h"
#include "apps/coordinator/ingest/session_life.h"
#include "common/crypto/invitation.h"
#include "common/crypto/keys.h"
#include "common/crypto/sha256.h"
#include "common/protocol/digests.h"
#include "common/protocol/messages.h"
#include "common/protocol/receipt_claims.h"
#include "common/protocol/versions.h"
#include "decisions/jobs/lease_proof.h"
#include "decisions/jobs/test_work.h"

namespace weft::coordinator {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;
using Stage = SessionLife::Stage;

template <class Id>
Id id(std::uint8_t first) {
  Id made;
  made.bytes[0] = first;
  return made;
}

class Connection final : public WorkerConnection {
 public:
  void send_text(std::string text) override { texts.push_back(std::move(text)); }
  void close(std::string reason) override { closed.push_back(std::move(reason)); }

  std::vector<std::string> texts;
  std::vector<std::string> closed;
};

class Life : public testing::Test {
 protected:
  void welcome() {
    EXPECT_TRUE(life_.advance(Stage::hello, Stage::proof));
    EXPECT_TRUE(life_.advance(Stage::proof, Stage::welcome));
  }

  std::shared_ptr<Connection> connection_ = std::make_shared<Connection>();
  int events_ = 0;
  bool full_ = false;
  SessionLife life_{jobs::SessionId(7), connection_, [this](const CoreEvent&) {
                      events_ += full_ ? 0 : 1;
                      return !full_;
                    }};
};

TEST_F(Life, AWorkerIsRefusedOnceAndTheCoreHearsOfItOnlyIfItWasWelcome) {
  life_.refuse(ErrorCode::unauthenticated, "No key.");
  life_.refuse(ErrorCode::internal, "Again.");

  EXPECT_THAT(connection_->closed, ElementsAre("No key."));
  EXPECT_THAT(connection_->texts, ElementsAre(HasSubstr("No key.")));
  EXPECT_EQ(events_, 0);
  EXPECT_EQ(life_.stage(), Stage::ended);
  EXPECT_FALSE(life_.advance(Stage::hello, Stage::proof));
}

TEST_F(Life, AWelcomeWorkerThatIsRefusedHasLeft) {
  welcome();

  life_.refuse(ErrorCode::invalid_argument, "Malformed.");

  EXPECT_EQ(events_, 1);
  EXPECT_FALSE(life_.lost()) << "the core knows";
}

TEST_F(Life, AFullCoreRefusesTheWorker) {
  welcome();
  full_ = true;

  life_.tell([](jobs::Core&, jobs::Moment) {});

  EXPECT_THAT(connection_->closed,
              ElementsAre("The coordinator has too much to do; try again later."));
}

TEST_F(Life, ALostConnectionOfAWelcomeWorkerIsToldLater) {
  EXPECT_TRUE(life_.stage() == Stage::hello);
  welcome();

  EXPECT_TRUE(life_.lost());
  EXPECT_FALSE(life_.lost());
  EXPECT_EQ(events_, 0);
  life_.left();

  EXPECT_EQ(events_, 1);
}

TEST_F(Life, TheCoreEndsASessionWithoutHearingOfIt) {
  welcome();

  life_.end({.code = "unavailable", .message = "Too late."});

  EXPECT_THAT(connection_->closed, ElementsAre("Too late."));
  EXPECT_EQ(events_, 0);
}

class Keys : public testing::Test {
 protected:
  protocol::Hello hello() const {
    return {.versions = {protocol::version}, .key = worker_.public_key()};
  }
  protocol::Prove proof(const std::string& invite = {}) const {
    return {.signature = worker_.sign_now(protocol::hello_digest(
                coordinator_.public_key(), handshake_.nonce(), worker_.public_key())),
            .invite = invite};
  }
  std::string invitation(crypto::InvitationKind kind) const {
    return crypto::write_invitation(coordinator_, {.kind = kind, .until = unix_now() + 3'600'000});
  }

  crypto::KeyPair coordinator_ = crypto::KeyPair::generate().value();
  crypto::KeyPair worker_ = crypto::KeyPair::generate().value();
  Handshake handshake_{{.coordinator = coordinator_.public_key(),
                        .sign = [this](ByteSpan digest) { return coordinator_.sign_now(digest); },
                        .host = "test:7300",
                        .invite_file = "/invite",
                        .prefix = "192.0.2"}};
};

TEST_F(Keys, TheChallengeIsSignedForThisWorkerAndHost) {
  const auto challenge = handshake_.greet(hello());

  ASSERT_TRUE(challenge.has_value());
  EXPECT_EQ(challenge->invite_file, "/invite");
  EXPECT_TRUE(
      crypto::verify_now(coordinator_.public_key(),
                         protocol::challenge_digest({.coordinator = coordinator_.public_key(),
                                                     .worker_nonce = {},
                                                     .worker = worker_.public_key(),
                                                     .nonce = challenge->nonce,
                                                     .host = "test:7300"}),
                         challenge->signature));
}

TEST_F(Keys, ATabIsToldNoFile) {
  protocol::Hello tab = hello();
  tab.kind = protocol::WorkerKind::browser;

  EXPECT_EQ(handshake_.greet(tab)->invite_file, "");
}

TEST_F(Keys, AWorkerWithoutACommonVersionIsToldToUpdate) {
  EXPECT_EQ(handshake_.greet({.versions = {1}, .key = worker_.public_key()}).error().code,
            ErrorCode::unsupported);
}

TEST_F(Keys, AProofMakesTheArrivalAndAnotherSignatureDoesNot) {
  ASSERT_TRUE(handshake_.greet(hello()).has_value());

  const auto arrival = handshake_.prove(jobs::SessionId(7), proof());

  ASSERT_TRUE(arrival.has_value()) << arrival.error().message;
  EXPECT_EQ(arrival->prefix, "192.0.2");
  EXPECT_EQ(arrival->invitation, trust::Invitation::none);
  protocol::Prove other = proof();
  other.signature.bytes[0] ^= 1;
  EXPECT_EQ(handshake_.prove(jobs::SessionId(7), other).error().code, ErrorCode::unauthenticated);
}

TEST_F(Keys, AnInvitationCountsForWorkersAndVerifiersAndNotForClients) {
  ASSERT_TRUE(handshake_.greet(hello()).has_value());
  const auto shown = [&](crypto::InvitationKind kind) {
    return handshake_.prove(jobs::SessionId(7), proof(invitation(kind)));
  };

  EXPECT_EQ(shown(crypto::InvitationKind::worker)->invitation, trust::Invitation::worker);
  EXPECT_EQ(shown(crypto::InvitationKind::verifier)->invitation, trust::Invitation::verifier);
  EXPECT_EQ(shown(crypto::InvitationKind::client).error().code, ErrorCode::permission_denied);
}

class Leases : public testing::Test {
 protected:
  static constexpr std::uint32_t tasks = 8;

  Leases() {
    book_.add_job(job_,
                  std::make_shared<const manifest::Manifest>(
                      manifest::parse(jobs::count_manifest(tasks, 1)).value()),
                  {});
  }
  TaskId task(std::uint32_t index) const { return {.job = job_, .index = index}; }
  protocol::HeldTask shown(std::uint32_t index, bool proven) const {
    return {.task = task(index),
            .attempt = 1,
            .proof = proven ? jobs::lease_proof(secret_, jobs::LeaseKind::task, task(index), 1,
                                                worker_.public_key())
                            : Hash{}};
  }
  void lease(std::uint32_t index, manifest::Range range) {
    leases_.lease(
        worker_.public_key(),
        {.job = job_,
         .tasks = {{.index = index, .attempt = 1, .first = range.first, .count = range.count}}});
  }

  const JobId job_ = id<JobId>(1);
  const trust::Secret secret_{};
  jobs::Book book_;
  crypto::KeyPair worker_ = crypto::KeyPair::generate().value();
  HeldLeases leases_{book_, secret_};
};

TEST_F(Leases, AnAttemptIsHeldFromItsLeaseUntilItIsDropped) {
  lease(2, {8, 4});

  EXPECT_EQ(leases_.range(task(2), 1), (manifest::Range{8, 4}));
  EXPECT_FALSE(leases_.range(task(2), 2).has_value());
  leases_.drop(task(2), 1);
  EXPECT_FALSE(leases_.range(task(2), 1).has_value());
}

TEST_F(Leases, ALeaseLetsItsWorkerStoreTheOutputsOfTheTask) {
  EXPECT_FALSE(book_.worker_blobs().take_upload(worker_.public_key(), 16, job_).has_value());

  lease(2, {8, 4});

  const auto upload = book_.worker_blobs().take_upload(worker_.public_key(), 16, job_);
  ASSERT_TRUE(upload.has_value());
  EXPECT_EQ(upload->output_of, job_);
}

TEST_F(Leases, OnlyWhatWasLeasedIsHeldAgainAfterAReconnect) {
  const auto resumed =
      leases_.resume(worker_.public_key(), {.held = {shown(1, true), shown(2, false)}});

  ASSERT_THAT(resumed.held, SizeIs(1));
  EXPECT_EQ(resumed.held[0].task, task(1));
  ASSERT_THAT(resumed.unproven, SizeIs(1));
  EXPECT_EQ(resumed.unproven[0].task, task(2));
  EXPECT_EQ(leases_.range(task(1), 1), manifest::Range{});
  EXPECT_FALSE(leases_.range(task(2), 1).has_value());
}

TEST_F(Leases, AReceiptCoversWhatWasLeasedAsItWasLeased) {
  lease(2, {8, 4});
  lease(3, {13, 1});

  EXPECT_TRUE(leases_.covers({.task = task(2), .attempt = 1}));
  EXPECT_FALSE(leases_.covers({.task = task(2), .attempt = 2}));
  EXPECT_FALSE(leases_.covers({.task = task(3), .attempt = 1})) << "a part of it was leased";
  EXPECT_TRUE(leases_.covers({.task = task(3), .attempt = 1, .first = 13, .count = 1}));
  EXPECT_FALSE(leases_.covers({.task = task(4), .attempt = 1}));
}

class Receipts : public Leases {
 protected:
  Result<std::vector<jobs::CoveringReceipt>> check(const std::vector<protocol::ReceiptItem>& items,
                                                   const proof::ReceiptPlace& signed_for = {}) {
    const auto statement = proof::receipt_statement(signed_for, protocol::claims_of(items));
    return receipts_.check(
        jobs::SessionId(7), worker_.public_key(), {},
        {.items = items, .signature = worker_.sign_now(crypto::sha256(statement).span())});
  }

  const ReceiptCheck receipts_{leases_, nullptr};
};

TEST_F(Receipts, ItemsAreToldApartByWhatTheWorkerHolds) {
  lease(2, {8, 4});

  const auto coverings = check({{.task = task(2), .attempt = 1}, {.task = task(5), .attempt = 1}});

  ASSERT_TRUE(coverings.has_value()) << coverings.error().message;
  ASSERT_THAT(*coverings, SizeIs(1));
  ASSERT_THAT(coverings->front().items, SizeIs(1));
  EXPECT_EQ(coverings->front().items[0].task, task(2));
  ASSERT_THAT(coverings->front().unleased, SizeIs(1));
  EXPECT_EQ(coverings->front().unleased[0].task, task(5));
}

TEST_F(Receipts, ASignatureForAnotherSessionDoesNotFit) {
  proof::ReceiptPlace other;
  other.session = id<Hash>(9);
  EXPECT_EQ(check({{.task = task(2), .attempt = 1}}, other).error().code,
            ErrorCode::unauthenticated);
}

TEST_F(Receipts, AWholeTaskHasNoFirstWorkgroup) {
  EXPECT_EQ(check({{.task = task(2), .attempt = 1, .first = 4}}).error().code,
            ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace weft::coordinator
