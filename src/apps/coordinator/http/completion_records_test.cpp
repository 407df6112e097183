// Tests of the records of answers until they are settled: each answer is reported once, an audit
// reads the recorded answer and compares with it, and a shadow request asks newcomers the question
// again, although no client reads their answer.
#include "apps/coordinator/http/completion_records.h"

#include <gtest/gtest.h>

#include "decisions/inference/test_desk.h"

namespace weft::coordinator {
namespace {

billing::AnswerId answer_id(std::uint8_t number) { return billing::AnswerId{{{{number}}}}; }

struct CompletionRecordsTest : testing::Test {
  CompletionRecordsTest() {
    records.listen({.ended = [this](auto report) { reports.push_back(std::move(report)); },
                    .audited = [this](auto audit) { audits.push_back(std::move(audit)); }});
    network.desk.put_model(inference::card("m"), network.time);
  }
  // Runs all posted events and ends the thread.
  void run() {
    thread.start(network.desk,
                 {.clients_wait = [] { return false; }, .look = [](Instant) {}, .end = [] {}});
    thread.stop();
  }
  inference::RequestId add(std::uint8_t number, bool must_audit = false) {
    CompletionRecords::Asked asked{.answer = answer_id(number),
                                   .model = "m",
                                   .embedding = 64,
                                   .ask = {},
                                   .must_audit = must_audit};
    asked.ask.prompt = {7, 8};
    return records.add(std::move(asked));
  }
  static inference::AnswerEnd said(std::vector<std::int32_t> tokens) {
    return {.reason = "eos", .answered = std::move(tokens)};
  }

  inference::Network network;
  InferenceThread thread;
  CompletionRecords records{thread, network.desk};
  std::vector<billing::AnswerReport> reports;
  std::vector<billing::AnswerAudited> audits;
};

TEST_F(CompletionRecordsTest, ReportEachAnswerOnce) {
  const auto request = add(1, true);
  ASSERT_NE(records.find(request), nullptr);

  records.report(request, said({1, 2}));
  records.report(request, said({1, 2}));
  const auto second = add(2);
  EXPECT_NE(second, request);
  records.fail_all();

  ASSERT_EQ(reports.size(), 2U);
  EXPECT_EQ(reports[0].id, answer_id(1));
  EXPECT_TRUE(reports[0].must_audit);
  EXPECT_EQ(reports[1].id, answer_id(2));
  EXPECT_EQ(reports[1].end.reason, "failed");
  EXPECT_EQ(records.find(request), nullptr);
}

TEST_F(CompletionRecordsTest, AskAnAuditorForWhatWasSaidAndNotForWhatWasClaimed) {
  network.join(1);
  records.report(add(1), said({0, 1, 2}));

  records.audit({.id = answer_id(1), .except = {}, .draw = 0}, network.desk, network.time);
  network.settle();

  ASSERT_EQ(network.asked[1].size(), 1U);
  const protocol::serving::Ask& ask = network.asked[1].begin()->second;
  EXPECT_EQ(ask.prompt, (std::vector{7, 8}));
  EXPECT_EQ(ask.answered, (std::vector{0, 1, 2}));
  EXPECT_GT(ask.redraw, 0);
}

TEST_F(CompletionRecordsTest, AnswerAnAuditOrderWithoutAVerdictIfTheAnswerIsNotKnown) {
  records.report(add(1), said({1}));
  records.settled(answer_id(1));

  records.audit({.id = answer_id(1), .except = {}, .draw = 0}, network.desk, network.time);

  ASSERT_EQ(audits.size(), 1U);
  EXPECT_EQ(audits[0].id, answer_id(1));
  EXPECT_EQ(audits[0].verdict, billing::AnswerVerdict::undecided);
}

TEST_F(CompletionRecordsTest, AuditsThatNoWorkerCouldDoHaveNoVerdict) {
  records.report(add(1), said({1}));
  records.audit({.id = answer_id(1), .except = {}, .draw = 0}, network.desk, network.time);
  network.pass(std::chrono::minutes(5));
  ASSERT_EQ(network.audits.size(), 1U);
  const auto& [request, end] = *network.audits.begin();
  ASSERT_TRUE(end.error);

  records.audited(request, end);
  records.audited(request, end);

  ASSERT_EQ(audits.size(), 1U) << "an audit is told once";
  EXPECT_EQ(audits[0].verdict, billing::AnswerVerdict::undecided);
}

TEST_F(CompletionRecordsTest, FindNoStageOfAnAnswerWithoutAChain) {
  std::vector<billing::AnswerTraced> traced;
  records.listen(
      {.ended = [](const auto&) {}, .traced = [&](auto one) { traced.push_back(std::move(one)); }});
  records.report(add(1), said({1}));

  records.trace({.id = answer_id(1), .except = {}, .draw = 0}, network.desk, network.time);
  records.trace({.id = answer_id(2), .except = {}, .draw = 0}, network.desk, network.time);

  ASSERT_EQ(traced.size(), 2U);
  EXPECT_EQ(traced[0].id, answer_id(1));
  EXPECT_TRUE(traced[0].findings.empty());
}

TEST_F(CompletionRecordsTest, ReportWhatWasNotAskedAtAll) {
  records.report_unasked(answer_id(9), "told");

  ASSERT_EQ(reports.size(), 1U);
  EXPECT_EQ(reports[0].end.reason, "told");
}

TEST_F(CompletionRecordsTest, AskANewcomerWhatATrustedWorkerAnsweredAndReportItUnderAnotherName) {
  inference::Network strangers({.newcomers_answer = false, .shadow_chains_max = 4});
  strangers.time = now();
  strangers.newcomers = {1};
  strangers.join(1);
  strangers.join(2);
  strangers.desk.put_model(inference::card("m"), strangers.time);
  strangers.settle();
  strangers.pass(std::chrono::seconds(3));
  ASSERT_TRUE(strangers.desk.has_room_for_shadow("m"));
  InferenceThread own_thread;
  CompletionRecords own(own_thread, strangers.desk);
  own.listen(
      {.ended = [this](auto report) { reports.push_back(std::move(report)); }, .audited = {}});
  CompletionRecords::Asked asked{.answer = answer_id(1), .model = "m", .embedding = 64, .ask = {}};
  asked.ask.prompt = {7, 8};
  asked.ask.tokens_max = 4;

  own.report(own.add(asked), said({1, 2}));
  own_thread.start(strangers.desk,
                   {.clients_wait = [] { return false; }, .look = [](Instant) {}, .end = [] {}});
  own_thread.stop();
  strangers.settle();

  ASSERT_EQ(strangers.asked[1].size(), 1U);
  EXPECT_EQ(strangers.asked[1].begin()->second.prompt, (std::vector{7, 8}));
  EXPECT_TRUE(strangers.asked[1].begin()->second.answered.empty()) << "it answers by itself";
  own.report(strangers.asked[1].begin()->first, said({1, 2}));
  ASSERT_EQ(reports.size(), 2U) << "and is not followed by another one";
  EXPECT_NE(reports[1].id, answer_id(1));
}

TEST_F(CompletionRecordsTest, AskNoNewcomerWhereNoneHasRoom) {
  records.report(add(1), said({1}));
  run();

  records.fail_all();
  EXPECT_EQ(reports.size(), 1U) << "there is no shadow request";
}

}  // namespace
}  // namespace weft::coordinator
