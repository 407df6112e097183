// Tests the small parts of the queue that have their own state.
#include <gtest/gtest.h>

#include "decisions/scheduler/decision_queue.h"
#include "decisions/scheduler/preemption_requests.h"
#include "decisions/scheduler/resume_reservations.h"
#include "decisions/scheduler/timers.h"

namespace weft::scheduler {
namespace {

constexpr Instant start{};

PublicKey key(std::uint8_t number) {
  PublicKey made;
  made.bytes[0] = number;
  return made;
}
JobId job(std::uint8_t number) {
  JobId made;
  made.bytes[0] = number;
  return made;
}
TaskId task(std::uint8_t of, std::uint32_t index) { return {.job = job(of), .index = index}; }
Instant after(int seconds) { return start + std::chrono::seconds(seconds); }

TEST(Timers, TheEarliestComesFirstAndOnlyWhenItIsDue) {
  Timers<int> timers;
  EXPECT_EQ(timers.next(), std::nullopt);
  timers.set(after(3), 30);
  timers.set(after(1), 10);
  timers.set(after(2), 20);
  timers.cancel(after(2), 20);
  EXPECT_EQ(timers.next(), after(1));
  EXPECT_EQ(timers.due(start), std::nullopt);
  EXPECT_EQ(timers.due(after(1)), 10);
  EXPECT_EQ(timers.take_due(after(5)), 10);
  EXPECT_EQ(timers.take_due(after(5)), 30);
  EXPECT_EQ(timers.take_due(after(5)), std::nullopt);
}

TEST(ResumeReservations, AreOfOneWorkerAndTaskUntilTheirTime) {
  ResumeReservations reservations;
  EXPECT_TRUE(reservations.empty());
  reservations.reserve(task(1, 4), key(1), after(10));
  reservations.reserve(task(1, 4), key(2), after(20));
  reservations.reserve(task(1, 2), key(1), after(5));
  reservations.reserve(task(2, 0), key(1), after(5));
  EXPECT_EQ(reservations.count(task(1, 4)), 2U);
  EXPECT_TRUE(reservations.has(task(1, 4), key(2)));
  EXPECT_FALSE(reservations.has(task(1, 2), key(2)));
  EXPECT_EQ(reservations.ends(task(1, 4)), after(20));
  EXPECT_EQ(reservations.ends(task(3, 0)), std::nullopt);
  EXPECT_EQ(reservations.of(job(1), key(1)), (std::vector{task(1, 2), task(1, 4)}));

  reservations.drop_expired(task(1, 4), after(10));
  EXPECT_FALSE(reservations.has(task(1, 4), key(1)));
  EXPECT_TRUE(reservations.has(task(1, 4), key(2)));
  reservations.release(task(1, 4), key(2));
  EXPECT_EQ(reservations.count(task(1, 4)), 0U);
  EXPECT_EQ(reservations.release_all(key(1)), (std::vector{task(1, 2), task(2, 0)}));
  EXPECT_TRUE(reservations.empty());
}

TEST(PreemptionRequests, EndWithTheReplicaTheTaskOrTheUrgentJob) {
  PreemptionRequests requests;
  requests.add(task(1, 0), key(1), job(9));
  requests.add(task(1, 0), key(2), job(9));
  requests.add(task(1, 1), key(1), job(9));
  requests.add(task(2, 0), key(1), job(8));
  EXPECT_EQ(requests.count_for(job(9)), 3U);
  requests.end(task(1, 0), key(2));
  EXPECT_EQ(requests.count_for(job(9)), 2U);
  requests.end(task(1, 0));
  EXPECT_EQ(requests.count_for(job(9)), 1U);
  requests.end_for(job(9));
  EXPECT_EQ(requests.count_for(job(9)), 0U);
  EXPECT_EQ(requests.count_for(job(8)), 1U);
}

TEST(DecisionQueue, TasksOfOneJobForOneWorkerAreOneLeaseUntilTheyAreTaken) {
  DecisionQueue queue;
  int made = 0;
  const auto lease = [&](std::uint64_t worker, std::uint8_t of, std::uint32_t index) {
    queue.lease(worker, job(of),
                [&] {
                  ++made;
                  return Lease{.worker = key(static_cast<std::uint8_t>(worker)),
                               .job = job(of),
                               .tasks = {}};
                },
                {.index = index, .attempt = 1, .first = 0, .count = 1});
  };
  lease(1, 1, 0);
  lease(2, 1, 1);
  queue.push_back(NoWorkerLeft{task(1, 7)});
  lease(1, 1, 2);
  EXPECT_EQ(made, 2);
  auto decisions = queue.take();
  ASSERT_EQ(decisions.size(), 3U);
  EXPECT_EQ(std::get<Lease>(decisions[0]).tasks.size(), 2U);
  EXPECT_EQ(std::get<Lease>(decisions[1]).tasks.size(), 1U);
  EXPECT_TRUE(std::holds_alternative<NoWorkerLeft>(decisions[2]));
  EXPECT_TRUE(queue.take().empty());
  lease(1, 1, 3);
  EXPECT_EQ(made, 3) << "A lease that was handed out takes no more.";
}

}  // namespace
}  // namespace weft::scheduler
