// Tests of the money for answers in the core. Reserved credits return to the client or are paid
// once to the workers that answered, whichever worker lies and whatever crashes. A worker loses the
// pay, its reputation and its stake by a wrong answer.
#include "decisions/billing/answers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "apps/coordinator/test_network.h"
#include "common/base/format.h"
#include "common/proof/fingerprint.h"
#include "decisions/jobs/client_keys.h"
#include "decisions/jobs/completions.h"
#include "decisions/jobs/stakes.h"

namespace weft::coordinator {
namespace {

using testing::HasSubstr;

// The price of 1,000 tokens is one credit, so that one token costs 1,000 micro-credits.
constexpr MicroCredits price = 1'000'000;

inference::Prints prints_of(std::uint32_t tokens, float seed = 1) {
  inference::Prints out;
  std::vector<float> hidden(64);
  const auto put = [&](std::uint32_t at) {
    for (std::size_t i = 0; i < hidden.size(); ++i)
      hidden[i] = seed * std::sin(static_cast<float>(i * 7 + at) + seed);
    out[at] = proof::fingerprint(hidden).value();
  };
  for (std::uint32_t at = 0; at < tokens; at += 32) put(at);
  put(tokens);
  return out;
}

class AnswersNetwork : public TestNetwork {
 public:
  using TestNetwork::TestNetwork;
  std::vector<billing::AnswerAuditOrder> audits;
  std::vector<billing::AnswerId> settled;
  std::vector<billing::AnswerFate> fates;
  std::vector<PublicKey> barred;
  void audit_answer(const billing::AnswerAuditOrder& order) override { audits.push_back(order); }
  void answer_settled(const billing::AnswerId& id, billing::AnswerFate fate) override {
    settled.push_back(id);
    fates.push_back(fate);
  }
  void bar_server(const PublicKey& worker) override { barred.push_back(worker); }
};

jobs::CoreSettings settings() {
  jobs::CoreSettings out = TestNetwork::by_heads();
  out.stakes_open = true;
  return out;
}

class AnswersTest : public testing::Test {
 protected:
  billing::ApiKey add_key(billing::ApiKey key = {},
                          billing::KeyMaker maker = billing::KeyMaker::client,
                          MicroCredits give = 0) {
    key.id = weft::format("{:016x}", ++keys_);
    if (key.name.empty()) key.name = "test";
    key.owner = client.public_key();
    key.hash = billing::api_key_hash("weft-" + key.id);
    std::optional<Result<billing::ApiKey>> out;
    network.post([&](jobs::Core& core, jobs::Moment now) {
      core.keys().add(key, maker, give, now,
                      [&](Result<billing::ApiKey> made) { out = std::move(made); });
    });
    network.run();
    EXPECT_TRUE(out && out->has_value()) << (out ? out->error().message : "no answer");
    return out && *out ? **out : key;
  }
  billing::AnswerAdmission admit(const billing::ApiKey& key, std::uint64_t tokens,
                                 std::uint32_t count = 1) {
    std::optional<billing::AnswerAdmission> out;
    const billing::AnswerOrder order{.key = key.hash,
                                     .model = "tiny",
                                     .ids = network.new_ids(count),
                                     .tokens_likely = tokens,
                                     .tokens_worst = tokens,
                                     .tokens_least = 12,
                                     .price = price};
    network.post([&](jobs::Core& core, jobs::Moment now) {
      core.completions().admit(
          order, now, [&](const Result<billing::AnswerAdmission>& admitted) { out = *admitted; });
    });
    network.run();
    EXPECT_TRUE(out.has_value());
    return out.value_or(billing::AnswerAdmission{});
  }
  static inference::AnswerEnd end_by(const std::vector<PublicKey>& workers,
                                     std::uint32_t tokens = 40, std::string reason = "eos") {
    inference::AnswerEnd end{.reason = std::move(reason), .prompt_tokens = 10};
    end.answered.assign(tokens, 5);
    end.answer_tokens = tokens;
    end.prints = prints_of(tokens);
    for (const PublicKey& worker : workers) end.work.push_back({.worker = worker, .work = tokens});
    return end;
  }
  void end(const billing::AnswerId& id, inference::AnswerEnd with) {
    network.post([id, with = std::move(with)](jobs::Core& core, jobs::Moment now) {
      core.completions().answered({.id = id, .end = with}, now);
    });
    network.run();
  }
  void audited(const billing::AnswerId& id, billing::AnswerVerdict verdict,
               const std::vector<PublicKey>& auditors) {
    network.post([=](jobs::Core& core, jobs::Moment now) {
      core.completions().audited(
          {.id = id, .verdict = verdict, .auditors = auditors, .reason = "They differ."}, now);
    });
    network.run();
  }
  MicroCredits worker(const PublicKey& key) {
    return network.balance(ledger::Account::owner(OwnerId::of_first(key)));
  }
  // The client's free and granted credits together.
  MicroCredits money() {
    const OwnerId owner = OwnerId::of_first(client.public_key());
    return network.balance(ledger::Account::owner(owner)) +
           network.balance(ledger::Account::granted(owner));
  }
  jobs::StakeView stake(const PublicKey& key) {
    jobs::StakeView out;
    network.post([&](jobs::Core& core, jobs::Moment now) {
      core.stakes().show(key, now, [&](const Result<jobs::StakeView>& view) { out = *view; });
    });
    network.run();
    return out;
  }
  Result<jobs::StakeView> move(jobs::StakeMove move) {
    std::optional<Result<jobs::StakeView>> out;
    network.post([&](jobs::Core& core, jobs::Moment now) {
      core.stakes().move(move, now, [&](Result<jobs::StakeView> view) { out = std::move(view); });
    });
    network.run();
    return out.value_or(fail(ErrorCode::unavailable, "No answer."));
  }
  // Lets a worker give answers until it is believed; `by` confirms all audits.
  void believe(const billing::ApiKey& key, const PublicKey& who, const PublicKey& by,
               int answers = 200) {
    for (int i = 0; i < answers; ++i) {
      const auto asked = admit(key, 100);
      ASSERT_FALSE(asked.refused);
      const auto before = network.audits.size();
      end(asked.answers[0], end_by({who}));
      if (network.audits.size() > before)
        audited(asked.answers[0], billing::AnswerVerdict::agrees, {by});
    }
  }

  static PublicKey key_of(std::uint8_t number) {
    PublicKey key;
    key.bytes[0] = number;
    key.bytes[1] = 77;
    return key;
  }
  AnswersNetwork network{settings()};
  crypto::KeyPair client = crypto::KeyPair::generate().value();
  const PublicKey a = key_of(1), b = key_of(2), c = key_of(3), d = key_of(4);
  std::uint64_t keys_ = 0;
};

TEST_F(AnswersTest, AnAnswerIsPaidByItsTokensWhenAnotherWorkerHasVerifiedIt) {
  const billing::ApiKey key = add_key();
  const auto asked = admit(key, 200);
  ASSERT_FALSE(asked.refused);
  const billing::AnswerId id = asked.answers.at(0);
  EXPECT_EQ(network.balance(ledger::Account::escrow(id)), 200'000);
  EXPECT_EQ(money(), TestNetwork::grant - 200'000);

  inference::AnswerEnd answer = end_by({a, b});
  answer.work[0].work = 3;
  answer.work[1].work = 1;
  end(id, answer);
  EXPECT_EQ(worker(a), 0) << "not before it is verified";
  ASSERT_EQ(network.audits.size(), 1U) << "of unknown workers everything is audited";
  EXPECT_THAT(network.audits[0].except, testing::UnorderedElementsAre(a, b));
  audited(id, billing::AnswerVerdict::agrees, {c});

  EXPECT_EQ(worker(a), 33'750) << "50 tokens, less what the auditor gets";
  EXPECT_EQ(worker(b), 11'250);
  EXPECT_EQ(worker(c), 5'000) << "a tenth is for the worker that confirmed it";
  EXPECT_EQ(money(), TestNetwork::grant - 50'000);
  EXPECT_EQ(network.balance(ledger::Account::escrow(id)), 0);
  EXPECT_EQ(network.settled, std::vector{id});
  const auto history = network.store().history(ledger::Account::escrow(id), {}).value();
  ASSERT_EQ(history.transactions.size(), 2U);
  EXPECT_EQ(history.transactions[0].key, "answer-end:" + id.text());
  EXPECT_THAT(history.transactions[0].what, HasSubstr("50 tokens, verified"));
  EXPECT_TRUE(network.store().audit().has_value());
}

TEST_F(AnswersTest, AVectorIsPaidForItsTextWhenAnotherWorkerHasMadeItToo) {
  const billing::ApiKey key = add_key();
  const auto asked = admit(key, 12);
  inference::AnswerEnd made{.reason = "eos", .prompt_tokens = 10};
  made.vector = {0.6f, 0.8f};
  made.prints = {{0, proof::fingerprint(made.vector).value()}};
  made.work.push_back({.worker = a, .work = 60});
  inference::AnswerEnd bare = made;
  bare.prints.clear();
  const auto second = admit(key, 12);

  end(asked.answers.at(0), made);
  end(second.answers.at(0), bare);

  ASSERT_EQ(network.audits.size(), 1U) << "without its fingerprint there is nothing to verify";
  audited(asked.answers[0], billing::AnswerVerdict::agrees, {c});
  EXPECT_EQ(worker(a), 9'000) << "10 tokens, less what the auditor gets";
  EXPECT_EQ(money(), TestNetwork::grant - 10'000);
}

TEST_F(AnswersTest, ALostUnverifiedOrUnverifiableAnswerPaysNothing) {
  const billing::ApiKey key = add_key();
  inference::AnswerEnd failed = end_by({a}, 40, "failed");
  inference::AnswerEnd bare = end_by({a});
  bare.prints.erase(32);
  inference::AnswerEnd alone = end_by({a});
  for (const inference::AnswerEnd& answer : {failed, bare, alone}) {
    const auto asked = admit(key, 200);
    end(asked.answers.at(0), answer);
    audited(asked.answers[0], billing::AnswerVerdict::undecided, {});
  }
  EXPECT_EQ(worker(a), 0);
  EXPECT_EQ(money(), TestNetwork::grant);
  EXPECT_EQ(network.settled.size(), 3U);
}

TEST_F(AnswersTest, ACancelledAnswerPaysForWhatWasStreamed) {
  const billing::ApiKey key = add_key();
  const auto asked = admit(key, 200);
  inference::AnswerEnd broken = end_by({a}, 40, "cancelled");
  broken.prints.erase(40);  // The print after the last token is missing, so the answer did not end.
  end(asked.answers.at(0), broken);
  audited(asked.answers[0], billing::AnswerVerdict::agrees, {b});

  EXPECT_EQ(worker(a), 45'000);
}

TEST_F(AnswersTest, AWrongAnswerCostsPayReputationAndStakeOnceThreeOthersSaySo) {
  const billing::ApiKey key = add_key();
  believe(key, a, b);
  ASSERT_TRUE(stake(a).established);
  ASSERT_TRUE(move({.wallet = a, .amount = worker(a), .number = 1}).has_value());
  const MicroCredits staked = stake(a).staked;
  ASSERT_GT(staked, 0);
  const MicroCredits money_before = money();

  // Asks until an answer is drawn for an audit.
  billing::AnswerId id;
  MicroCredits paid = 0;
  for (const auto before = network.audits.size(); network.audits.size() == before;) {
    paid = money();
    id = admit(key, 100).answers.at(0);
    end(id, end_by({a}));
  }
  EXPECT_GT(stake(a).at_risk, 0);
  EXPECT_EQ(move({.wallet = a, .deposit = false, .amount = staked, .number = 2}).error().code,
            ErrorCode::insufficient_funds)
      << "not while at risk";
  audited(id, billing::AnswerVerdict::differs, {b});
  EXPECT_TRUE(network.barred.empty()) << "one word against another";
  audited(id, billing::AnswerVerdict::differs, {c});
  EXPECT_TRUE(network.barred.empty()) << "a lead of one";
  audited(id, billing::AnswerVerdict::differs, {d});

  EXPECT_EQ(network.barred, std::vector{a});
  EXPECT_EQ(money(), paid) << "the client has it all back";
  EXPECT_LT(stake(a).staked, staked);
  EXPECT_EQ(stake(a).at_risk, 0);
  EXPECT_EQ(stake(a).reputation, 0);
  EXPECT_GT(stake(a).suspended_until, 0);
  EXPECT_LE(money(), money_before);
  EXPECT_TRUE(network.store().audit().has_value());
}

TEST_F(AnswersTest, ALyingAuditorIsRefuted) {
  const billing::ApiKey key = add_key();
  const auto asked = admit(key, 100);
  end(asked.answers.at(0), end_by({a}));
  audited(asked.answers[0], billing::AnswerVerdict::differs, {b});
  audited(asked.answers[0], billing::AnswerVerdict::agrees, {c});
  EXPECT_EQ(worker(a), 0);
  audited(asked.answers[0], billing::AnswerVerdict::agrees, {d});

  EXPECT_EQ(worker(a), 45'000);
  EXPECT_EQ(worker(b), 0) << "a refuted audit is not paid";
  EXPECT_EQ(worker(c), 2'500);
  EXPECT_EQ(worker(d), 2'500);
  EXPECT_EQ(network.barred, std::vector{b});
  EXPECT_EQ(network.audits.back().except.size(), 3U) << "no worker is asked twice";
}

TEST_F(AnswersTest, APromptCostsNoMoreTokensThanItCanHaveHad) {
  const billing::ApiKey key = add_key();
  const auto asked = admit(key, 200);
  inference::AnswerEnd answer = end_by({a});
  answer.prompt_tokens = 4096;
  end(asked.answers.at(0), answer);
  audited(asked.answers[0], billing::AnswerVerdict::agrees, {b});

  EXPECT_EQ(worker(a) + worker(b), 52'000) << "12 tokens and 40";
}

TEST_F(AnswersTest, AnAuditorThatSaysNothingIsReplacedAndCostsNoWorkerItsPay) {
  const billing::ApiKey key = add_key();
  const auto asked = admit(key, 100);
  end(asked.answers.at(0), end_by({a}));
  audited(asked.answers[0], billing::AnswerVerdict::unheard, {b});
  ASSERT_EQ(network.audits.size(), 2U);
  EXPECT_THAT(network.audits.back().except, testing::UnorderedElementsAre(a, b));
  audited(asked.answers[0], billing::AnswerVerdict::agrees, {c});

  EXPECT_EQ(worker(a), 45'000);

  const auto silent = admit(key, 100);
  end(silent.answers.at(0), end_by({a}));
  const std::size_t before = network.audits.size();
  for (std::uint8_t i = 10; i < 14; ++i)
    audited(silent.answers[0], billing::AnswerVerdict::unheard, {key_of(i)});
  EXPECT_EQ(network.audits.size(), before + 3) << "a bounded number of times";
  EXPECT_EQ(network.settled.size(), 2U);
}

TEST_F(AnswersTest, WithoutAnotherAuditorAMismatchPaysNothingAndConvictsNoWorker) {
  const billing::ApiKey key = add_key();
  const auto asked = admit(key, 100);
  end(asked.answers.at(0), end_by({a}));
  audited(asked.answers[0], billing::AnswerVerdict::differs, {b});
  audited(asked.answers[0], billing::AnswerVerdict::undecided, {});

  EXPECT_EQ(worker(a), 0);
  EXPECT_EQ(money(), TestNetwork::grant);
  EXPECT_TRUE(network.barred.empty());
}

TEST_F(AnswersTest, WhoIsBelievedAndHasAStakeIsAuditedSeldomAndWithoutAStakeAlways) {
  const billing::ApiKey key = add_key();
  believe(key, a, b);
  auto before = network.audits.size();
  for (int i = 0; i < 20; ++i) {
    const auto id = admit(key, 100).answers.at(0);
    end(id, end_by({a}));
    audited(id, billing::AnswerVerdict::agrees, {b});
  }
  EXPECT_EQ(network.audits.size(), before + 20) << "it has nothing to lose";

  believe(key, a, b, 400);  // The worker earns credits for a stake, and reputation.
  ASSERT_TRUE(move({.wallet = a, .amount = worker(a), .number = 1}).has_value());
  before = network.audits.size();
  const int answers = 200;
  const MicroCredits paid_to_auditor = worker(b);
  for (int i = 0; i < answers; ++i) {
    const auto id = admit(key, 100).answers.at(0);
    end(id, end_by({a}));
    audited(id, billing::AnswerVerdict::agrees, {b});
  }
  EXPECT_LT(network.audits.size() - before, answers * 7U / 20) << "a fifth is";
  EXPECT_GT(network.audits.size() - before, answers / 10U);
  EXPECT_EQ(worker(a) + worker(b) - paid_to_auditor, answers * 50'000) << "and is paid anyway";
}

// Credits at risk for an answer cannot be at risk for a task as well, because they can be lost only
// once.
TEST_F(AnswersTest, WhatIsAtRiskForAnAnswerDoesNotVouchForATask) {
  const billing::ApiKey key = add_key();
  const crypto::KeyPair trusted = crypto::KeyPair::generate().value();
  const crypto::KeyPair other = crypto::KeyPair::generate().value();
  const PublicKey who = trusted.public_key();
  believe(key, who, b);
  auto& worker = network.join(trusted);
  network.join(other);
  const auto replicas = [&](std::uint8_t nonce) {
    const auto submitted = network.submit(client, jobs::count_manifest(20, 2), {nonce});
    EXPECT_TRUE(submitted.has_value());
    const auto job = network.finish(JobId::parse(submitted->id).value());
    EXPECT_EQ(job.state, store::JobState::done) << job.reason;
    return network.store().replicas(job.id)->size();
  };
  ASSERT_TRUE(move({.wallet = who, .amount = 5'000'000, .number = 1}).has_value());
  EXPECT_LT(replicas(1), 40U) << "it works alone";

  // Puts the worker's whole stake at risk for answers that are being audited. Each answer puts the
  // credits at risk that the worker would lose at the answer's price.
  std::vector<billing::AnswerId> ids;
  while (stake(who).at_risk < stake(who).staked) {
    ASSERT_LT(ids.size(), 200U);
    ids.push_back(admit(key, 100).answers.at(0));
    end(ids.back(), end_by({who}));
  }
  EXPECT_GT(ids.size(), 1U);
  EXPECT_EQ(replicas(2), 40U);

  // The stake is at risk only for answers that wait for their audit.
  for (const billing::AnswerId& id : ids) audited(id, billing::AnswerVerdict::agrees, {b});
  EXPECT_EQ(stake(who).at_risk, 0);
  EXPECT_LT(replicas(3), 40U);
  EXPECT_FALSE(worker.closed);
}

TEST_F(AnswersTest, BudgetsOfKeysAndAccountsHoldAndWhatWasUsedSurvivesARestart) {
  billing::ApiKey limited;
  limited.tokens_max = 250;
  const billing::ApiKey key = add_key(limited);
  const auto first = admit(key, 100, 2);
  ASSERT_FALSE(first.refused);
  EXPECT_EQ(first.answers.size(), 2U);
  ASSERT_TRUE(admit(key, 100).refused);
  for (const billing::AnswerId& id : first.answers) {
    end(id, end_by({a}));
    audited(id, billing::AnswerVerdict::agrees, {b});
  }
  EXPECT_FALSE(admit(key, 100).refused) << "100 of 250 are used";
  const MicroCredits escrowed = money();

  network.restart();

  EXPECT_EQ(money(), escrowed + 100'000) << "what a crash broke off goes back";
  std::vector<billing::ApiKey> keys;
  network.post([&](jobs::Core& core, jobs::Moment) {
    core.keys().list(client.public_key(),
                     [&](const Result<std::vector<billing::ApiKey>>& list) { keys = *list; });
  });
  network.run();
  ASSERT_EQ(keys.size(), 1U);
  EXPECT_EQ(keys[0].tokens, 100U);
  EXPECT_EQ(keys[0].requests, 1U);
  EXPECT_EQ(keys[0].credits, 100'000);
  const auto refused = admit(keys[0], 151).refused;
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->error.code, ErrorCode::insufficient_funds);
  EXPECT_FALSE(admit(keys[0], 150).refused);

  const auto costly = admit(add_key(), 10'000'000).refused;
  ASSERT_TRUE(costly);
  EXPECT_THAT(costly->error.message, HasSubstr("account of the API key"));
  EXPECT_TRUE(network.store().audit().has_value());
}

TEST_F(AnswersTest, ARevokedKeyIsRefusedAlsoAfterARestart) {
  const billing::ApiKey key = add_key();
  network.post([&](jobs::Core& core, jobs::Moment now) {
    core.keys().revoke(key.id, client.public_key(), now, [](const Result<billing::ApiKey>&) {});
  });
  network.run();
  EXPECT_EQ(admit(key, 10).refused->error.code, ErrorCode::unauthenticated);
  network.restart();
  EXPECT_EQ(admit(key, 10).refused->error.code, ErrorCode::unauthenticated);
}

TEST_F(AnswersTest, OnlyTheOperatorGivesCredits) {
  billing::ApiKey key;
  add_key(key, billing::KeyMaker::the_operator, 5'000'000);
  EXPECT_EQ(money(), TestNetwork::grant + 5'000'000);
  std::optional<Result<billing::ApiKey>> out;
  key.id = "x";
  key.owner = client.public_key();
  network.post([&](jobs::Core& core, jobs::Moment now) {
    core.keys().add(key, billing::KeyMaker::client, 1, now,
                    [&](Result<billing::ApiKey> made) { out = std::move(made); });
  });
  network.run();
  EXPECT_EQ(out->error().code, ErrorCode::permission_denied);
}

TEST_F(AnswersTest, AStakeMovesOnceForEachRequestAndBackAsFarAsItIsFree) {
  const billing::ApiKey key = add_key();
  believe(key, a, b, 10);
  const MicroCredits earned = worker(a);
  EXPECT_EQ(move({.wallet = a, .amount = earned + 1, .number = 1}).error().code,
            ErrorCode::insufficient_funds);
  EXPECT_EQ(move({.wallet = a, .amount = 1000, .number = 2})->staked, 1000);
  EXPECT_EQ(move({.wallet = a, .amount = 1000, .number = 2})->staked, 1000) << "sent again";
  EXPECT_EQ(move({.wallet = a, .deposit = false, .amount = 400, .number = 3})->staked, 600);
  network.restart();
  EXPECT_EQ(move({.wallet = a, .deposit = false, .amount = 400, .number = 3})->staked, 600)
      << "sent again after a restart";
  EXPECT_EQ(worker(a), earned - 600);
  EXPECT_EQ(move({.wallet = a, .deposit = false, .amount = 601, .number = 4}).error().code,
            ErrorCode::insufficient_funds);
}

}  // namespace
}  // namespace weft::coordinator
