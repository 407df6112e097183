// Tests the invariants of the tables that the parts of the scheduler share (scheduler_tables.h).
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "decisions/scheduler/scheduler_tables.h"
#include "decisions/scheduler/test_network.h"

namespace weft::scheduler {
namespace {

JobState& add_job(JobTable& table, std::uint64_t number) {
  auto job = std::make_unique<JobState>();
  job->spec = small_job(number);
  job->rank.sequence = table.next_number();
  job->settled.resize(job->spec.tasks);
  return table.add(std::move(job));
}

WorkerState& add_worker(WorkerTable& table, const Worker& worker) {
  auto made = std::make_unique<WorkerState>();
  made->info = worker;
  return table.add(std::move(made));
}

TEST(JobTable, FindsJobsAndTheTasksThatSomethingHasHappenedTo) {
  JobTable table;
  JobState& one = add_job(table, 1);
  JobState& two = add_job(table, 2);

  EXPECT_LT(one.rank.sequence, two.rank.sequence);
  EXPECT_EQ(table.find(job_id_of(2)), &two);
  EXPECT_EQ(table.find(job_id_of(3)), nullptr);
  EXPECT_EQ(table.find_task({job_id_of(1), 2}), nullptr) << "untouched";
  TaskState& touched = one.touch(2);
  EXPECT_EQ(table.find_task({job_id_of(1), 2}), &touched);

  table.erase(one);
  EXPECT_FALSE(table.contains(job_id_of(1)));
  EXPECT_EQ(table.find_task({job_id_of(1), 2}), nullptr);
  EXPECT_EQ(table.size(), 1U);
}

TEST(WorkerTable, KeepsWorkersInTheOrderOfTheirArrivalAndUsesNoNumberTwice) {
  WorkerTable table;
  WorkerState& first = add_worker(table, native_worker(7));
  add_worker(table, native_worker(3));
  const std::uint64_t gone = table.find(key_of(3))->sequence;
  table.erase(table.at(key_of(3)));
  WorkerState& third = add_worker(table, native_worker(3));

  EXPECT_GT(third.sequence, gone);
  std::vector<WorkerState*> in_order;
  for (const auto& [sequence, worker] : table.in_order()) in_order.push_back(worker);
  EXPECT_EQ(in_order, (std::vector{&first, &third}));
  EXPECT_EQ(&table.at(third.sequence), &third);
  EXPECT_EQ(table.find(key_of(9)), nullptr);
}

TEST(WorkerTable, CountsTheNetworksOfNewcomersAndNoEmptyOne) {
  WorkerTable table;
  table.count_newcomer("10.0", 1);
  table.count_newcomer("10.0", 1);
  table.count_newcomer("10.1", 1);
  table.count_newcomer("", 1);
  EXPECT_EQ(table.newcomer_prefixes(), 2U);
  table.count_newcomer("10.1", -1);
  table.count_newcomer("10.0", -1);
  EXPECT_EQ(table.newcomer_prefixes(), 1U);
}

TEST(RequirementClasses, JobsThatAskForTheSameShareAClassThatKnowsItsWorkers) {
  WorkerTable workers;
  RequirementClasses classes;
  Worker sliced = native_worker(1);
  sliced.sharing = Sharing::sliced;
  WorkerState& early = add_worker(workers, sliced);

  RequirementClass& small = classes.of(small_job(1), workers, at(0));
  Job demanding = small_job(2);
  demanding.requirements.memory_bytes = std::uint64_t{1} << 40;
  RequirementClass& large = classes.of(demanding, workers, at(0));
  WorkerState& late = add_worker(workers, native_worker(2));
  classes.enter(late);

  EXPECT_EQ(&classes.of(small_job(3), workers, at(1)), &small);
  EXPECT_NE(&small, &large);
  EXPECT_EQ(early.classes, std::vector{&small});
  EXPECT_EQ(late.classes, std::vector{&small});
  EXPECT_EQ(small.members[0] + small.members[1], 1U) << "the late one is not counted yet";
  EXPECT_EQ(small.sliced.size(), 1U);
  RequirementClasses::leave(early);
  EXPECT_TRUE(small.sliced.empty());
}

TEST(RequirementClasses, ThoseWithoutJobsAreDroppedOnceThereAreTooMany) {
  WorkerTable workers;
  RequirementClasses classes;
  WorkerState& worker = add_worker(workers, native_worker(1));
  Job job = small_job(1);
  classes.of(job, workers, at(0)).jobs = 1;
  for (std::uint64_t i = 1; i < RequirementClasses::classes_kept_max; ++i) {
    job.requirements.memory_bytes = i;
    classes.of(job, workers, at(0));
  }
  ASSERT_EQ(worker.classes.size(), RequirementClasses::classes_kept_max);

  job.requirements.memory_bytes = 1000;
  classes.of(job, workers, at(0));

  EXPECT_EQ(classes.all().size(), 2U) << "the one with a job, and the new one";
  EXPECT_EQ(worker.classes.size(), 2U) << "no worker knows a class that is gone";
}

TEST(MatchAgenda, APassTakesWhatWasMarkedBeforeItInTheOrderOfRank) {
  JobTable jobs;
  JobState& late = add_job(jobs, 1);
  JobState& early = add_job(jobs, 2);
  late.rank.place = 20;
  early.rank.place = 10;
  WorkerTable workers;
  WorkerState& worker = add_worker(workers, native_worker(1));
  MatchAgenda agenda;
  EXPECT_TRUE(agenda.empty());
  agenda.mark(late);
  agenda.mark(early);
  agenda.mark(worker);

  agenda.begin_pass();
  EXPECT_EQ(agenda.take_workers().size(), 1U);
  EXPECT_TRUE(agenda.empty()) << "for the next pass";
  EXPECT_EQ(agenda.first(), &early);
  EXPECT_EQ(&agenda.take_first(), &early);
  agenda.mark(early);
  EXPECT_EQ(&agenda.take_first(), &late);
  EXPECT_EQ(agenda.first(), nullptr) << "what is marked meanwhile waits";
  EXPECT_FALSE(agenda.empty());
  agenda.forget(early);
  EXPECT_TRUE(agenda.empty());
}

TEST(MatchAgenda, AJobThatMovesInTheQueueMovesInTheHandToo) {
  JobTable jobs;
  JobState& one = add_job(jobs, 1);
  JobState& two = add_job(jobs, 2);
  MatchAgenda agenda;
  agenda.mark(one);
  agenda.mark(two);
  agenda.begin_pass();

  Rank next = one.rank;
  next.place += 100;
  agenda.move(one, next);
  one.rank = next;

  EXPECT_EQ(&agenda.take_first(), &two);
  agenda.put_back(two);
  EXPECT_EQ(&agenda.take_first(), &two);
  EXPECT_EQ(&agenda.take_first(), &one);
}

TEST(Deadlines, TheNextIsTheEarliestOfAllKinds) {
  Deadlines deadlines;
  EXPECT_EQ(deadlines.next(), std::nullopt);
  deadlines.unfit_looks.set(at(9), job_id_of(1));
  deadlines.jobs.set(at(8), job_id_of(1));
  EXPECT_EQ(deadlines.next(), at(8));
  deadlines.workers.set(at(7), 1);
  EXPECT_EQ(deadlines.next(), at(7));
  deadlines.retries.set(at(6), {job_id_of(1), 0});
  EXPECT_EQ(deadlines.next(), at(6));
  deadlines.starving.set(at(5), {job_id_of(1), 0});
  EXPECT_EQ(deadlines.next(), at(5));
  deadlines.patience.set(at(4), job_id_of(1));
  EXPECT_EQ(deadlines.next(), at(4));
}

}  // namespace
}  // namespace weft::scheduler
