// Tests that a client pays the price that it was shown: quotes, max_price and the prices that
// workers accept, through submission, canary, restart and refund.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apps/coordinator/test_network.h"
#include "decisions/jobs/job_prices.h"
#include "decisions/scheduler/quote.h"

namespace weft::coordinator {
namespace {

using testing::HasSubstr;

class AgreedPrices : public testing::Test {
 protected:
  // Runs a job to its end; each task takes `each` on the worker.
  store::Job run(const JobId& job, std::chrono::milliseconds each) {
    std::size_t done = 0;
    for (int round = 0; round < 60; ++round) {
      const auto row = network.store().job(job);
      if (row && store::is_terminal(row->state)) break;
      for (auto other = std::chrono::milliseconds(0); other < each;
           other += std::chrono::milliseconds(500)) {
        worker->say(protocol::Beat{});
        network.pass(std::min(std::chrono::milliseconds(500), each - other));
      }
      const auto leases = worker->leases;
      for (; done < leases.size(); ++done) {
        if (leases[done].job != job) continue;
        for (const auto& task : leases[done].tasks) worker->deliver(leases[done], task);
      }
      network.run();
    }
    return network.store().job(job).value();
  }
  void join() { worker = &network.join(key, {.silent = true, .gpu_seconds = 1000}); }
  protocol::api::Quote quote() {
    std::optional<protocol::api::Quote> made;
    auto manifest = manifest::parse(text).value();
    jobs::QuoteWanted wanted{.client = client.public_key(),
                             .manifest = {},
                             .manifest_hash = jobs::stored_hash(manifest),
                             .work = jobs::work_of(manifest)};
    wanted.manifest = std::make_shared<const manifest::Manifest>(std::move(manifest));
    network.post([&](jobs::Core& core, jobs::Moment now) {
      core.prices().quote(wanted, now, [&](const auto& result) { made = *result; });
    });
    network.run();
    return made.value();
  }
  // Submits a job with an optional quote and an optional maximum price.
  Result<protocol::api::Submitted> submit(std::optional<protocol::api::Quote> quoted = {},
                                          std::optional<MicroCredits> max = {}) {
    network.amend = [quoted, max](jobs::Submission& submission) {
      if (quoted)
        submission.quote = {
            .per_unit = quoted->per_unit, .price = quoted->price, .until = quoted->valid_until};
      submission.price_max = max;
    };
    nonce_[0]++;
    auto answer = network.submit(client, text, nonce_);
    network.amend = {};
    return answer;
  }
  JobId submitted(std::optional<protocol::api::Quote> quoted = {},
                  std::optional<MicroCredits> max = {}) {
    const auto answer = submit(std::move(quoted), max);
    EXPECT_TRUE(answer.has_value()) << answer.error().message;
    return answer ? JobId::parse(answer->id).value() : JobId{};
  }
  MicroCredits spendable() {
    return network.balance(ledger::Account::owner(OwnerId::of_first(client.public_key())));
  }

  TestNetwork network;
  crypto::KeyPair client = crypto::KeyPair::generate().value();
  crypto::KeyPair key = crypto::KeyPair::generate().value();
  TestWorker* worker = nullptr;
  std::string text = jobs::count_manifest(4, 1);
  store::SubmitNonce nonce_{};
};

TEST_F(AgreedPrices, WhatWasMeasuredIsQuotedAndWhatIsQuotedIsCharged) {
  join();
  const auto unknown = quote();
  EXPECT_EQ(unknown.price, 0);
  EXPECT_EQ(unknown.per_unit, 1'000'000);
  EXPECT_EQ(unknown.valid_until - unknown.made, jobs::quote_valid_ms);
  const store::Job first = run(submitted(unknown), std::chrono::milliseconds(1000));
  ASSERT_EQ(first.state, store::JobState::done) << first.reason;
  ASSERT_GT(first.price, 4 * 100);

  const auto known = quote();
  EXPECT_EQ(known.price, first.price);
  EXPECT_EQ(known.price_per_task * 4, known.price);
  const MicroCredits before = spendable();
  const store::Job second = run(submitted(known), std::chrono::milliseconds(1200));

  ASSERT_EQ(second.state, store::JobState::done) << second.reason;
  EXPECT_EQ(second.price, known.price) << "although its canary took longer";
  EXPECT_EQ(spendable(), before - known.price);
}

TEST_F(AgreedPrices, AQuoteHoldsOverARestart) {
  join();
  const auto first = run(submitted(), std::chrono::milliseconds(1000));
  ASSERT_EQ(first.state, store::JobState::done) << first.reason;
  network.restart();
  const auto known = quote();
  EXPECT_EQ(known.price, first.price) << "what was measured is stored";
  const JobId job = submitted(known, known.price);

  network.restart();
  join();

  const store::Job done = run(job, std::chrono::milliseconds(1200));
  ASSERT_EQ(done.state, store::JobState::done) << done.reason;
  EXPECT_EQ(done.price, known.price);
  EXPECT_EQ(done.per_unit, known.per_unit);
  EXPECT_EQ(done.price_max, known.price);
}

TEST_F(AgreedPrices, AJobOverItsMaxPriceEndsAtItsCanaryAndAllOfItsEscrowReturns) {
  join();
  const JobId job = submitted({}, 1'000);
  const store::Job ended = run(job, std::chrono::milliseconds(1000));

  EXPECT_EQ(ended.state, store::JobState::failed);
  EXPECT_THAT(ended.reason, HasSubstr("its max_price is 0.001000: allow more with"));
  EXPECT_EQ(spendable(), TestNetwork::grant);
}

TEST_F(AgreedPrices, WithoutOneMaxPriceIsOneAndAHalfTimesWhatTheSameWorkCost) {
  join();
  const auto first = run(submitted(), std::chrono::milliseconds(1000));
  ASSERT_EQ(first.state, store::JobState::done) << first.reason;
  EXPECT_EQ(first.price_max, 0) << "nothing was known";
  const auto cheap = quote();

  const store::Job slower = run(submitted(), std::chrono::milliseconds(2000));

  EXPECT_EQ(slower.price_max, first.price * 3 / 2);
  ASSERT_EQ(slower.state, store::JobState::done) << slower.reason;
  EXPECT_EQ(slower.price, first.price) << "the lower of two canaries: the client pays";

  // The worker has become slower, so that an earlier quote no longer covers the work.
  const MicroCredits before = spendable();
  const store::Job ended = run(submitted(cheap), std::chrono::milliseconds(2000));
  EXPECT_EQ(ended.state, store::JobState::failed);
  EXPECT_THAT(ended.reason, HasSubstr("its quote is"));
  EXPECT_EQ(spendable(), before);
}

// The job's work was measured on a fast worker and on a slow one, and now a busy machine runs the
// canary.
TEST_F(AgreedPrices, ASlowCanaryEndsNoJobWhoseClientNamedNoMaxPrice) {
  join();
  const auto first = run(submitted(), std::chrono::milliseconds(1000));
  ASSERT_EQ(first.state, store::JobState::done) << first.reason;
  network.restart();
  key = crypto::KeyPair::generate().value();
  join();
  ASSERT_EQ(run(submitted(), std::chrono::milliseconds(5000)).price, first.price);

  const MicroCredits before = spendable();
  const MicroCredits most = scheduler::default_max(quote().price);
  const auto shown = submit();
  ASSERT_TRUE(shown.has_value()) << shown.error().message;
  EXPECT_NEAR(static_cast<double>(shown->max_price), static_cast<double>(most), 4)
      << "rounded to whole amounts for each task";
  network.restart();
  key = crypto::KeyPair::generate().value();
  join();
  const store::Job slow = run(JobId::parse(shown->id).value(), std::chrono::milliseconds(9000));

  ASSERT_EQ(slow.state, store::JobState::done) << slow.reason;
  EXPECT_EQ(slow.price, shown->max_price) << "the most that was shown";
  EXPECT_EQ(spendable(), before - slow.price);
}

TEST_F(AgreedPrices, WhatIsKnownToCostMoreIsRefusedAtOnce) {
  EXPECT_EQ(submit({}, 399).error().code, ErrorCode::insufficient_funds) << "100 for each task";
  join();
  const auto first = run(submitted(), std::chrono::milliseconds(1000));
  ASSERT_EQ(first.state, store::JobState::done) << first.reason;

  const auto refused = submit({}, first.price - 1);

  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::insufficient_funds);
  EXPECT_THAT(refused.error().message, HasSubstr("as the same work was measured before"));
  auto quoted = quote();
  quoted.price = 101'000'000;
  EXPECT_THAT(submit(quoted).error().message, HasSubstr("by its quote; its budget is 100.000000"));
}

TEST_F(AgreedPrices, AQuoteThatHasEndedIsRefused) {
  const auto quoted = quote();
  network.pass(std::chrono::milliseconds(jobs::quote_valid_ms + 1));

  const auto refused = submit(quoted);

  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(refused.error().message, HasSubstr("The quote ended 1 s ago"));
}

// The attack: one quote from a quiet time is used for a thousand jobs in a busy time.
TEST(Quotes, CountForOneJob) {
  const auto taken = [](bool once) {
    jobs::CoreSettings settings;
    settings.quotes_count_once = once;
    TestNetwork network(settings);
    const auto client = crypto::KeyPair::generate().value();
    network.amend = [](jobs::Submission& submission) {
      submission.quote = {
          .id = {7}, .per_unit = 1'000'000, .price = 0, .until = INT64_C(9'000'000'000'000)};
    };
    std::size_t jobs = 0;
    for (std::uint8_t nonce = 1; nonce <= 5; ++nonce) {
      const auto answer = network.submit(client, jobs::count_manifest(1, 1, "", 1), {nonce});
      if (answer) {
        ++jobs;
        EXPECT_EQ(network.submit(client, jobs::count_manifest(1, 1, "", 1), {nonce})->id,
                  answer->id)
            << "asked again";
        continue;
      }
      EXPECT_EQ(answer.error(),
                (Error{ErrorCode::already_exists,
                       "The quote was used for another job: ask for one for this job (weft quote, "
                       "POST /v1/jobs/quote)."}));
    }
    return jobs;
  };
  EXPECT_EQ(taken(true), 1U);
  EXPECT_EQ(taken(false), 5U) << "the attack";
}

// A price that rises with demand does not change the price of a valid quote.
TEST_F(AgreedPrices, DemandAfterAQuoteRaisesNotItsPrice) {
  join();
  const auto first = run(submitted(), std::chrono::milliseconds(1000));
  ASSERT_EQ(first.state, store::JobState::done) << first.reason;
  const auto cheap = quote();
  text = jobs::count_manifest(600, 1, "", 700);
  const JobId load = submitted();
  for (int i = 0; i < 60; ++i) {
    worker->say(protocol::Beat{});
    network.pass(std::chrono::milliseconds(500));
    if (i > 2) continue;
    const auto leases = worker->leases;
    for (const auto& lease : leases)
      if (lease.job == load && lease.tasks.size() == 1 && i == 1)
        worker->deliver(lease, lease.tasks[0]);
    network.run();
  }
  text = jobs::count_manifest(4, 1);
  const auto costly = quote();
  ASSERT_GT(costly.demand, 0.1);
  ASSERT_GT(costly.per_unit, cheap.per_unit);

  const auto held = submit(cheap);
  const auto now = submit();

  ASSERT_TRUE(held.has_value() && now.has_value());
  EXPECT_EQ(held->per_unit, cheap.per_unit);
  EXPECT_GE(now->per_unit, costly.per_unit);
}

TEST_F(AgreedPrices, AWorkerIsGivenNoJobBelowWhatItAccepts) {
  network.price_min = 2'000'000;
  join();
  const JobId job = submitted();
  network.pass(std::chrono::milliseconds(500));
  EXPECT_TRUE(worker->leases.empty());
  network.price_min = 1'000'000;
  crypto::KeyPair other = crypto::KeyPair::generate().value();
  TestWorker& second = network.join(other);
  network.pass(std::chrono::milliseconds(500));
  EXPECT_FALSE(second.leases.empty()) << "it accepts the base";
  EXPECT_EQ(network.finish(job).state, store::JobState::done);
}

}  // namespace
}  // namespace weft::coordinator
