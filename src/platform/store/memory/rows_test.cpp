// The rows in memory: a refused batch is undone in the reverse order, and each table keeps its
// rules on its own. sqlite/contract_test.cpp tests the store as a whole.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "platform/store/memory/job_rows.h"
#include "platform/store/memory/money_rows.h"
#include "platform/store/memory/verdict_rows.h"

namespace weft::store::memory {
namespace {

JobId job_of(std::uint8_t number) {
  JobId id;
  id.bytes[0] = number;
  return id;
}
PublicKey worker_of(std::uint8_t number) {
  PublicKey key;
  key.bytes[0] = number;
  return key;
}

Batch batch_with_job(std::uint8_t number) {
  Batch batch;
  Job& job = batch.jobs.emplace_back();
  job.id = job_of(number);
  job.created = number;
  return batch;
}

TEST(UndoLog, StepsRunBackwardsAndOnce) {
  UndoLog undo;
  std::map<std::string, int> rows{{"a", 1}, {"b", 2}};
  undo.put(rows, "a", 10);
  undo.put(rows, "a", 11);
  undo.put(rows, "c", 3);
  undo.remove(rows, "b");
  undo.remove(rows, "unknown");
  ASSERT_EQ(rows, (std::map<std::string, int>{{"a", 11}, {"c", 3}}));

  undo.undo();
  EXPECT_EQ(rows, (std::map<std::string, int>{{"a", 1}, {"b", 2}}));
  rows["a"] = 5;
  undo.undo();
  EXPECT_EQ(rows["a"], 5) << "nothing is left to undo";
}

TEST(UndoLog, WhatWasKeptIsNotUndone) {
  UndoLog undo;
  std::map<std::string, int> rows;
  undo.put(rows, "a", 1);
  undo.clear();
  undo.put(rows, "b", 2);
  undo.undo();
  EXPECT_EQ(rows, (std::map<std::string, int>{{"a", 1}}));
}

TEST(JobRows, ABatchIsUndoneWithAllThatItSaysOfAJob) {
  UndoLog undo;
  JobRows rows(undo);
  ASSERT_TRUE(rows.write(batch_with_job(1)).has_value());
  undo.clear();
  Batch batch = batch_with_job(2);
  batch.tasks.emplace_back().id = {.job = job_of(1), .index = 0};
  Replica& replica = batch.replicas.emplace_back();
  replica.task = {.job = job_of(1), .index = 0};
  replica.worker = worker_of(1);
  ASSERT_TRUE(rows.write(batch).has_value());
  EXPECT_EQ(rows.job(job_of(1))->accepted, 1U);
  EXPECT_EQ(rows.write(batch_with_job(2)).error().code, ErrorCode::already_exists);

  undo.undo();

  EXPECT_EQ(rows.order(), std::vector{job_of(1)});
  EXPECT_EQ(rows.job(job_of(1))->accepted, 0U);
  EXPECT_TRUE(rows.at(job_of(1)).replicas.at(0).empty());
  EXPECT_EQ(rows.row_of(job_of(2)).error().code, ErrorCode::not_found);
}

TEST(MoneyRows, ATransactionSumsToNothingAndOverdrawsNoAccount) {
  UndoLog undo;
  JobRows jobs(undo);
  MoneyRows money(undo, jobs);
  const ledger::Account mint{.kind = ledger::Account::Kind::mint, .id = {}};
  ledger::Account owner = mint;
  owner.kind = ledger::Account::Kind::owner;
  Transaction issue;
  issue.transaction.key = "issue-1";
  issue.transaction.entries = {{.account = mint, .amount = -5}, {.account = owner, .amount = 4}};
  EXPECT_EQ(money.write(issue).error().code, ErrorCode::invalid_argument);
  issue.transaction.entries[1].amount = 5;
  ASSERT_TRUE(money.write(issue).has_value());
  EXPECT_EQ(money.write(issue).error().code, ErrorCode::already_exists);
  undo.clear();

  Transaction takes;
  takes.transaction.key = "takes-1";
  takes.transaction.entries = {{.account = owner, .amount = -6}, {.account = mint, .amount = 6}};
  EXPECT_EQ(money.write(takes).error().code, ErrorCode::insufficient_funds);
  undo.undo();

  EXPECT_TRUE(money.audit().has_value());
  EXPECT_EQ(money.history({.from = 0, .count = 9}).transactions.size(), 1U);
  Loaded loaded;
  money.load(loaded);
  EXPECT_EQ(loaded.balances.size(), 2U);
}

TEST(VerdictRows, AWorkersEvidenceIsBoundedAndTheLatestChecksAreGiven) {
  UndoLog undo;
  JobRows jobs(undo);
  VerdictRows verdicts(undo, jobs);
  ASSERT_TRUE(jobs.write(batch_with_job(1)).has_value());
  Batch batch;
  for (std::uint32_t index = 0; index < evidence_of_worker_max + 2; ++index) {
    Evidence& evidence = batch.evidence.emplace_back();
    evidence.worker = worker_of(1);
    evidence.task = {.job = job_of(1), .index = index};
    Check& check = batch.checks.emplace_back();
    check.task = evidence.task;
    check.worker = worker_of(1);
  }
  ASSERT_TRUE(verdicts.write(batch).has_value());

  EXPECT_EQ(verdicts.evidence(0, 1000).size(), evidence_of_worker_max);
  const auto checks = verdicts.checks(worker_of(1), 2);
  ASSERT_EQ(checks.size(), 2U);
  EXPECT_LT(checks[0].task.index, checks[1].task.index);
  Batch unknown;
  unknown.checks.emplace_back().task = {.job = job_of(9), .index = 0};
  EXPECT_EQ(verdicts.write(unknown).error().code, ErrorCode::not_found);
}

}  // namespace
}  // namespace weft::store::memory
