// The state that the parts of the core share: tables, each of which is a class that keeps its own
// invariant, and the two deciding classes, the scheduler and trust. State that only one part needs
// (quotes that were used, answers that are audited) is private to that part.
#pragma once

#include <cstdint>

#include "decisions/dashboard/watch_board.h"
#include "decisions/jobs/accounts.h"
#include "decisions/jobs/connected_workers.h"
#include "decisions/jobs/core_requests.h"
#include "decisions/jobs/core_settings.h"
#include "decisions/jobs/outbox.h"
#include "decisions/jobs/running_jobs.h"
#include "decisions/scheduler/scheduler.h"
#include "decisions/trust/referee.h"

namespace weft::jobs {

// Counts since the process started.
struct Counters {
  std::uint64_t jobs_submitted = 0;
  std::uint64_t jobs_done = 0;
  std::uint64_t jobs_failed = 0;
  std::uint64_t jobs_cancelled = 0;
  std::uint64_t tasks_accepted = 0;
  std::uint64_t replicas_counted = 0;
  std::uint64_t results_refused = 0;
  std::uint64_t leases_granted = 0;
  std::uint64_t leases_lost = 0;
  std::uint64_t workers_arrived = 0;
  std::uint64_t audits = 0;
  std::uint64_t audits_differ = 0;
  std::uint64_t audits_unanswered = 0;
  std::uint64_t states_unanswered = 0;
  std::uint64_t traps = 0;
  std::uint64_t convictions = 0;
  std::uint64_t lags = 0;
  std::uint64_t checkpoints = 0;
  std::uint64_t resumed = 0;
  std::uint64_t tasks_corrected = 0;
  std::uint64_t tasks_unchecked = 0;
  std::uint64_t jobs_corrected = 0;
};

struct CoreTables {
  CoreTables(World& the_world, Book& the_book, CoreSettings chosen);
  CoreTables(const CoreTables&) = delete;

  // The worker's level. All workers have an equal level if levels do not count.
  [[nodiscard]] trust::Level counted_level(const PublicKey& worker, UnixMillis now) const;
  // Stops a convicted worker from serving models while it is suspended.
  void bar_server(const PublicKey& worker);
  // Tells the worker the verdict on its result. `paid` has a value if the result was accepted: the
  // worker's pay.
  void send_verdict(const TaskId& task, std::uint32_t attempt, const PublicKey& worker,
                    std::optional<MicroCredits> paid, std::string reason);

  World& world;
  Book& book;
  const CoreSettings settings;
  Outbox outbox{world, settings.commits_in_flight_max};
  scheduler::Scheduler scheduler{settings.scheduler};
  trust::Referee trust{settings.referee, settings.secret};
  Accounts accounts{outbox, book};
  RunningJobs jobs{settings, book};
  ConnectedWorkers workers{world, outbox, book, settings};
  Counters counters;
  dashboard::WatchBoard board;
  Moment latest{};  // The time of the last Core::flush(), for code that is given no time.
};

}  // namespace weft::jobs
