// Tests the parts together: the decisions of the scheduler and of trust are carried out in order,
// and the tables are consistent after every event.
#include "decisions/jobs/core_parts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "decisions/jobs/test_tables.h"

namespace weft::jobs {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

struct CorePartsTest : testing::Test {
  static CoreSettings settings() {
    CoreSettings made;
    made.grant = 1'000'000'000;
    made.grants_need_invitation = false;
    made.count_levels(false);
    return made;
  }
  void submit(std::uint8_t id, std::uint32_t tasks, std::uint32_t replicas = 1) {
    Submission made;
    made.client = TestTables::key(9);
    made.nonce[0] = id;
    made.manifest = TestTables::parsed(count_manifest(tasks, replicas));
    made.id = TestTables::job_id(id);
    parts.submissions.submit(std::move(made), now,
                             [](const Result<protocol::api::Submitted>& answer) {
                               EXPECT_TRUE(answer.has_value()) << answer.error().message;
                             });
    run();
  }
  void arrive(std::uint8_t number) {
    Arrival arrival{.session = SessionId(number), .hello = {}, .blob_token = "token"};
    arrival.hello.key = TestTables::key(number);
    arrival.hello.slots = 4;
    arrival.hello.capabilities.memory_bytes = std::uint64_t{1} << 30;
    arrival.hello.capabilities.f32_gflop_per_s = 1000;
    parts.sessions.arrive(std::move(arrival), now);
    run();
  }
  // Delivers the results of the worker's leases, and the receipts.
  void work(std::uint8_t number, std::uint8_t root) {
    const auto leases = world.told<protocol::Lease>(SessionId(number));
    std::erase_if(world.sent, [&](const auto& one) {
      return one.first == SessionId(number) && std::holds_alternative<protocol::Lease>(one.second);
    });
    for (const protocol::Lease& lease : leases) {
      for (const auto& task : lease.tasks) {
        Delivery delivery{
            .session = SessionId(number), .worker = TestTables::key(number), .result = {}};
        delivery.result.task = {.job = lease.job, .index = task.index};
        delivery.result.attempt = task.attempt;
        delivery.result.root = TestTables::hash(root);
        delivery.result.gpu_seconds = 0.001;
        delivery.result.wall_seconds = 0.001;
        parts.results.deliver(delivery, now);
        CoveringReceipt receipt{.session = SessionId(number),
                                .receipt = {},
                                .items = {},
                                .unleased = {},
                                .statement = {number},
                                .claims = {}};
        receipt.receipt.worker = TestTables::key(number);
        receipt.items.push_back(
            {.task = delivery.result.task, .attempt = task.attempt, .root = delivery.result.root});
        parts.results.receipt(receipt, now);
      }
    }
    run();
  }
  void run() {
    do {
      parts.decide(now);
      parts.tables.outbox.flush();
      for (auto done = std::exchange(world.landing, {}); auto& each : done) each({});
    } while (!world.landing.empty());
    now.at += std::chrono::milliseconds(100);
    now.unix += 100;
    agree();
  }
  // Checks that the tables agree with each other.
  void agree() {
    const CoreTables& tables = parts.tables;
    EXPECT_EQ(tables.accounts.ledger().sum(), 0);
    std::size_t open = 0;
    for (const auto& [id, job] : tables.jobs.all()) {
      EXPECT_NE(book.manifest(id), nullptr);
      EXPECT_TRUE(tables.scheduler.views().progress(id).has_value()) << "the scheduler runs it";
      std::uint32_t accepted = 0;
      for (std::uint32_t index = 0; index < job.row.tasks; ++index) {
        if (!job.accepted[index]) continue;
        ++accepted;
        EXPECT_FALSE(job.delivered.contains(index)) << "what was delivered is settled";
        EXPECT_FALSE(job.auditors.contains(index));
      }
      EXPECT_EQ(accepted, job.accepted_count);
      open += job.row.tasks - accepted;
      EXPECT_GE(tables.accounts.ledger().escrow(id).total(), 0);
    }
    EXPECT_EQ(open, tables.jobs.tasks_open());
    for (const auto& [key, worker] : tables.workers.all()) {
      EXPECT_TRUE(tables.scheduler.views().load(key).has_value()) << "the scheduler knows it";
      EXPECT_EQ(worker.waiting, 0U) << "everything has landed";
    }
  }

  Moment now{.at = Instant{} + std::chrono::hours(1), .unix = 1'000'000'000'000};
  RecordingWorld world;
  Book book;
  CoreParts parts{world, book, settings()};
};

TEST_F(CorePartsTest, AJobRunsToItsEndAndLeavesNothing) {
  submit(1, 3);
  arrive(5);
  for (int round = 0; round < 8 && world.joins.empty(); ++round) work(5, 1);
  ASSERT_THAT(world.joins, SizeIs(1));

  parts.life.joined(TestTables::job_id(1), std::vector<store::OutputBlob>{}, now);
  run();

  EXPECT_EQ(parts.tables.jobs.size(), 0U);
  EXPECT_EQ(parts.tables.counters.tasks_accepted, 3U);
  EXPECT_EQ(parts.tables.accounts.ledger().escrow(TestTables::job_id(1)).total(), 0);
  EXPECT_GT(parts.tables.accounts.spendable(TestTables::key(5)), 0);
  EXPECT_THAT(world.stored.tasks, SizeIs(3));
}

TEST_F(CorePartsTest, ResultsThatDifferAreNotAccepted) {
  submit(1, 1, 2);
  arrive(5);
  arrive(6);
  for (int round = 0; round < 3; ++round) {
    work(5, 1);
    work(6, 2);
  }

  EXPECT_EQ(parts.tables.counters.tasks_accepted, 0U);
  EXPECT_EQ(parts.tables.counters.replicas_counted, 2U);
}

TEST_F(CorePartsTest, ALostWorkersTaskGoesToAnother) {
  submit(1, 1);
  arrive(5);
  ASSERT_THAT(world.told<protocol::Lease>(SessionId(5)), SizeIs(1));
  parts.sessions.left(SessionId(5), false, now);
  run();
  EXPECT_EQ(parts.tables.counters.leases_lost, 1U);

  arrive(6);

  EXPECT_THAT(world.told<protocol::Lease>(SessionId(6)), SizeIs(1));
}

TEST_F(CorePartsTest, ASilentWorkerIsDisconnected) {
  submit(1, 1);
  arrive(5);
  now.at += std::chrono::minutes(1);
  now.unix += 60'000;

  run();

  EXPECT_EQ(parts.tables.workers.size(), 0U);
  EXPECT_THAT(world.closed, SizeIs(1));
}

TEST_F(CorePartsTest, MetricsAndViewsSayWhatTheTablesSay) {
  submit(1, 2);
  arrive(5);
  std::string text;
  parts.views.metrics([&](const Result<std::string>& answer) { text = answer.value(); });
  std::vector<protocol::api::Job> seen;
  protocol::api::Job asked;
  asked.id = TestTables::job_id(1).text();
  parts.views.live({asked},
                   [&](const Result<std::vector<protocol::api::Job>>& answer) { seen = *answer; });
  run();

  EXPECT_NE(text.find("\nweft_jobs_running 1\n"), std::string::npos);
  EXPECT_NE(text.find("\nweft_ledger_sum 0\n"), std::string::npos);
  ASSERT_THAT(seen, SizeIs(1));
  EXPECT_EQ(seen[0].leased, 1U) << "its canary";
}

}  // namespace
}  // namespace weft::jobs
