// Tests checks that are leased: another worker or the verifier is asked, a worker that does not
// answer is replaced, and each check ends once with a report to the referee.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "decisions/jobs/audit_choices.h"
#include "decisions/jobs/check_rows.h"
#include "decisions/jobs/extra_leases.h"
#include "decisions/jobs/test_check_parts.h"

namespace weft::jobs {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;

struct CheckLeasesTest : testing::Test, TestCheckParts {
  static TaskId task() { return {.job = TestTables::job_id(1), .index = 0}; }
  static protocol::TaskResult result(std::uint8_t root) {
    protocol::TaskResult made;
    made.task = task();
    made.attempt = extra_attempt;
    made.root = TestTables::hash(root);
    return made;
  }
  static protocol::ReceiptItem item(std::uint8_t root) {
    return {.task = task(), .attempt = extra_attempt, .root = TestTables::hash(root)};
  }
  // Worker 5 has handed in root 1 for task 0.
  RunningJob& begin() {
    RunningJob& job = test.schedule(1, 9, count_manifest(1, 1));
    test.tables.trust.add_job(job.row.id, {.replicas = 1, .agree = {}}, 1);
    Delivered delivered;
    delivered.result = result(1);
    delivered.result.attempt = 1;
    job.delivered[0][TestTables::key(5)] = delivered;
    test.connect(5);
    return job;
  }
  static trust::AuditWanted wanted() {
    return {
        .task = task(), .suspect = TestTables::key(5), .attempt = 1, .root = TestTables::hash(1)};
  }
  std::vector<protocol::Lease> leased(std::uint8_t number) {
    test.land();
    return test.world.told<protocol::Lease>(SessionId(number));
  }
};

TEST_F(CheckLeasesTest, AnAuditAsksAnotherWorkerAndTheSuspectToOpen) {
  begin();
  test.connect(6);

  audits.start(wanted(), test.now);

  ASSERT_THAT(leased(6), SizeIs(1));
  EXPECT_EQ(leased(6)[0].tasks[0].attempt, extra_attempt);
  EXPECT_THAT(test.world.told<protocol::OpenChunks>(SessionId(5)), SizeIs(1));
  EXPECT_TRUE(checks.deadline());
}

TEST_F(CheckLeasesTest, BothSidesAreComparedWhenAllOfThemIsThere) {
  begin();
  test.connect(6);
  audits.start(wanted(), test.now);

  EXPECT_TRUE(checks.result(TestTables::key(6), result(1), test.now));
  EXPECT_FALSE(checks.result(TestTables::key(7), result(1), test.now)) << "it was not asked";
  checks.claim(TestTables::key(6), item(1), test.now);
  test.land();
  EXPECT_THAT(test.world.inspections, IsEmpty()) << "the suspect has opened nothing";
  protocol::Opening opening;
  opening.task = task();
  opening.attempt = 1;
  opening.roots = {TestTables::hash(1)};
  checks.opened(SessionId(5), opening, test.now);
  test.land();
  ASSERT_THAT(test.world.inspections, SizeIs(1));

  checks.inspected(task(), TestTables::key(6), trust::AuditOutcome::agrees, test.now);

  EXPECT_EQ(checks.deadline(), std::nullopt) << "it is over";
  EXPECT_THAT(test.tables.jobs.at(TestTables::job_id(1)).auditors[0], SizeIs(1));
  EXPECT_THAT(test.tables.outbox.batch().checks, SizeIs(1));
}

TEST_F(CheckLeasesTest, ASilentAuditorIsReplacedAndTold) {
  begin();
  test.connect(6);
  test.connect(7);
  auto quiet = wanted();
  quiet.trusted_only = true;
  for (std::uint8_t number = 6; number <= 7; ++number)
    test.tables.trust.standing().admissions().invite(TestTables::key(number),
                                                     trust::Invitation::worker);
  audits.start(quiet, test.now);
  const std::uint8_t first = leased(6).empty() ? 7 : 6;
  const std::uint8_t second = first == 6 ? 7 : 6;
  ASSERT_THAT(leased(second), IsEmpty());

  test.pass(std::chrono::minutes(2));
  checks.expire(test.now);

  EXPECT_THAT(leased(second), SizeIs(1));
  EXPECT_THAT(test.world.told<protocol::Cancel>(SessionId(first)), SizeIs(1));
  EXPECT_EQ(test.tables.counters.audits_unanswered, 1U);
}

TEST_F(CheckLeasesTest, TwoWalletsOfOneOwnerDoNotCheckEachOther) {
  RunningJob& job = begin();
  test.connect(6);
  test.connect(7);
  for (std::uint8_t number = 6; number <= 7; ++number)
    test.tables.trust.standing().admissions().invite(TestTables::key(number),
                                                     trust::Invitation::worker);
  test.issue(5, 1);
  ASSERT_TRUE(test.tables.accounts.add_device(
      TestTables::key(5), {.key = TestTables::key(6), .owner = {}, .name = "other"},
      test.now.unix));
  Audit audit;
  audit.wanted = wanted();
  audit.wanted.trusted_only = true;

  EXPECT_THAT(possible_auditors(test.tables, audit, job, test.now),
              ElementsAre(TestTables::key(7)));
}

TEST_F(CheckLeasesTest, TheVerifierIsGivenTheResultOfANewcomerAndItsWordEndsTheSample) {
  test.world.has_verifier = true;
  RunningJob& job = begin();
  auto sample = wanted();
  sample.trusted_only = true;
  audits.start(sample, test.now);
  test.land();
  ASSERT_THAT(test.world.verifications, SizeIs(1));
  EXPECT_EQ(test.world.verifications[0].root, TestTables::hash(1));
  EXPECT_TRUE(test.world.verifications[0].first);
  EXPECT_EQ(samples.samples().waiting, 1U);

  checks.verified(task(), TestTables::hash(2), {.outcome = trust::AuditOutcome::agrees}, test.now);
  EXPECT_EQ(samples.samples().waiting, 1U) << "that is another result";
  checks.verified(task(), TestTables::hash(1), {.outcome = trust::AuditOutcome::agrees}, test.now);

  EXPECT_EQ(samples.samples().waiting, 0U);
  EXPECT_TRUE(job.verified.contains(0));
}

// The verifier's answer names the rival results by their position.
TEST_F(CheckLeasesTest, ACheckThatIsTriedAgainNamesTheOtherResultsThatAreThereThen) {
  RunningJob& job = begin();
  for (const std::uint8_t number : {std::uint8_t{6}, std::uint8_t{7}}) {
    Delivered delivered;
    delivered.result = result(number);
    job.delivered[0][TestTables::key(number)] = delivered;
  }
  Audit audit;
  audit.wanted = wanted();
  audit.wanted.rivals = {TestTables::hash(6), TestTables::hash(7)};
  const protocol::TaskResult mine = job.delivered[0][TestTables::key(5)].result;
  EXPECT_THAT(verify_order(test.tables, audit, job, mine).rivals, SizeIs(2));
  job.delivered[0].erase(TestTables::key(6));

  const VerifyOrder again = verify_order(test.tables, audit, job, mine);

  EXPECT_THAT(again.rivals, SizeIs(1));
  EXPECT_THAT(audit.rivals, ElementsAre(TestTables::hash(7)));
}

TEST_F(CheckLeasesTest, AnUnsteadyPartEndsTheJob) {
  test.world.has_verifier = true;
  begin();
  auto sample = wanted();
  sample.trusted_only = true;
  audits.start(sample, test.now);

  checks.verified(task(), TestTables::hash(1),
                  {.outcome = trust::AuditOutcome::failed, .unsteady = true}, test.now);

  EXPECT_THAT(rulings.irreproducible, ElementsAre(TestTables::job_id(1)));
}

TEST_F(CheckLeasesTest, ASampleThatWasNotFinishedIsAskedForAgainAndSaysWhyItWaits) {
  test.world.has_verifier = true;
  begin();
  auto sample = wanted();
  sample.trusted_only = true;
  audits.start(sample, test.now);
  const Checked late{.reason = "It takes too long.", .late = true};
  for (std::uint32_t tries = 1; tries <= trust::LateCheck::tries_max; ++tries) {
    test.land();
    ASSERT_THAT(test.world.verifications, SizeIs(tries));
    EXPECT_EQ(test.world.verifications.back().waits_for_second, tries < trust::LateCheck::tries_max)
        << "the last try of the first minute decides by one device";
    EXPECT_EQ(verifier.why_late(TestTables::job_id(1), test.now.at).sentence, "");
    checks.verified(task(), TestTables::hash(1), late, test.now);
    ASSERT_TRUE(checks.deadline());
    if (tries == trust::LateCheck::tries_max) break;
    test.pass(std::chrono::ceil<std::chrono::milliseconds>(*checks.deadline() - test.now.at));
    checks.expire(test.now);
  }

  EXPECT_NE(verifier.why_late(TestTables::job_id(1), test.now.at).sentence.find("after 4 tries"),
            std::string::npos);
}

TEST_F(CheckLeasesTest, ACanaryIsMeasuredAgainLaterUntilItsJobEnds) {
  test.world.has_verifier = true;
  begin();
  canaries.order(TestTables::job_id(1));
  checks.measured(TestTables::job_id(1), fail(ErrorCode::deadline_exceeded, "It takes too long."),
                  test.now);
  test.land();
  EXPECT_THAT(test.world.measurements, SizeIs(1));
  test.pass(std::chrono::seconds(10));
  checks.expire(test.now);
  test.land();
  EXPECT_THAT(test.world.measurements, SizeIs(2));

  checks.measured(TestTables::job_id(1), fail(ErrorCode::deadline_exceeded, "It takes too long."),
                  test.now);
  checks.job_ends(TestTables::job_id(1));

  EXPECT_EQ(canaries.deadline(), std::nullopt);
}

TEST_F(CheckLeasesTest, ATrapTellsARightAnswerFromAWrongOne) {
  begin();
  for (std::uint8_t number = 6; number <= 7; ++number) test.connect(number);
  const trust::Trap trap{.task = task(), .root = TestTables::hash(3), .value = 0};
  traps.lease(TestTables::key(6), trap, test.now);
  traps.lease(TestTables::key(7), trap, test.now);
  EXPECT_THAT(leased(6), SizeIs(1));

  for (const auto& [number, root] : {std::pair<std::uint8_t, std::uint8_t>(6, 3), {7, 4}}) {
    EXPECT_TRUE(checks.result(TestTables::key(number), result(root), test.now));
    checks.claim(TestTables::key(number), item(root), test.now);
  }
  test.land();

  EXPECT_TRUE(test.world.told<protocol::Verdict>(SessionId(6)).at(0).accepted);
  EXPECT_FALSE(test.world.told<protocol::Verdict>(SessionId(7)).at(0).accepted);
  EXPECT_FALSE(traps.failed(TestTables::key(6), task())) << "it is over";
}

TEST_F(CheckLeasesTest, APollEndsForEachWorkerThatWasWanted) {
  begin();
  test.connect(6);
  polls.start({.task = task(),
               .suspect = TestTables::key(5),
               .root = TestTables::hash(1),
               .part = {.first = 0, .count = 1},
               .vendor = "none",
               .count = 2},
              test.now);

  EXPECT_EQ(polls.deadline(), std::nullopt) << "no worker has that vendor";
  EXPECT_THAT(leased(6), IsEmpty());
}

TEST_F(CheckLeasesTest, ChecksEndWithTheirJobAndTheirWorkersAreTold) {
  begin();
  test.connect(6);
  audits.start(wanted(), test.now);
  traps.lease(TestTables::key(6), {.task = task(), .root = TestTables::hash(3)}, test.now);

  checks.job_ends(TestTables::job_id(1));
  test.land();

  EXPECT_EQ(checks.deadline(), std::nullopt);
  EXPECT_THAT(test.world.told<protocol::Cancel>(SessionId(6)), SizeIs(1)) << "the audit's";
}

TEST_F(CheckLeasesTest, AWorkerThatLeavesIsReplacedAsAuditor) {
  begin();
  test.connect(6);
  audits.start(wanted(), test.now);
  ASSERT_THAT(leased(6), SizeIs(1));
  test.connect(7);
  test.tables.scheduler.remove_worker(TestTables::key(6), scheduler::Departure::left, test.now.at);
  test.tables.workers.remove(TestTables::key(6), {});

  checks.worker_left(TestTables::key(6), test.now);

  EXPECT_THAT(leased(7), SizeIs(1));
}

TEST_F(CheckLeasesTest, OldRowsOfChecksAreSweptOnceAMinuteWithWhatIsWrittenAnyway) {
  CheckSweep sweep;
  sweep.sweep(test.tables, test.now.unix);
  EXPECT_THAT(test.tables.outbox.batch().checks_kept_since, IsEmpty()) << "nothing is written";
  test.tables.outbox.batch().clients_forgotten.push_back(TestTables::key(1));

  sweep.sweep(test.tables, test.now.unix);
  sweep.sweep(test.tables, test.now.unix + 1);

  EXPECT_THAT(test.tables.outbox.batch().checks_kept_since, SizeIs(1));
}

}  // namespace
}  // namespace weft::jobs
