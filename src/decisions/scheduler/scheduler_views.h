// What others may ask of the queue: for leases that they grant besides, for quotes, for pages and
// for tests. Nothing that is asked changes a decision.
//
// Pure; not safe to share between threads. O(1) or O(log entries), unless a
// function says otherwise.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "common/base/clock.h"
#include "common/base/ids.h"
#include "decisions/scheduler/quote.h"
#include "decisions/scheduler/types.h"
#include "decisions/scheduler/views.h"
#include "decisions/scheduler/waiting.h"

namespace weft::scheduler {

class MakingWay;
class MarketView;
class Presence;
class Prospects;
class SampleChecks;
class TaskCopies;
class WaitExplainer;
struct SchedulerTables;

class SchedulerViews {
 public:
  struct Parts {
    const Prospects& prospects;
    const SampleChecks& samples;
    const TaskCopies& copies;
    const MakingWay& making_way;
    const WaitExplainer& explainer;
    MarketView& market;
  };
  SchedulerViews(const SchedulerTables& tables, const Parts& parts)
      : tables_(tables), parts_(parts) {}

  // What a job like this would meet: feed it to quote(). O(jobs) once a second, and O(workers)
  // where no running job requires the same.
  [[nodiscard]] Market market(const Job& job, Instant now) const;
  // The share of connected trusted workers that hold a task; no value if none is connected.
  // O(workers).
  [[nodiscard]] std::optional<double> busy() const;

  // --- For leases that others grant besides (audits).
  // Connected workers that could run the job and take tasks, in the order of arrival. O(workers).
  [[nodiscard]] std::vector<PublicKey> able(const JobId& job) const;
  // How many of them there are.
  [[nodiscard]] std::size_t able_count(const JobId& job) const;
  [[nodiscard]] LeaseTerms terms(const JobId& job, const PublicKey& worker) const;

  // --- Jobs and clients.
  [[nodiscard]] std::optional<JobProgress> progress(const JobId& job) const;
  // Why no worker runs the job's next task. Nothing for an unknown job, or if none waits.
  // O(workers).
  [[nodiscard]] std::optional<Waiting> waiting(const JobId& job, Instant now) const;
  // Those with jobs, and what one has had.
  [[nodiscard]] std::vector<PublicKey> clients() const;
  [[nodiscard]] ClientShare share(const PublicKey& client, Instant now) const;

  // --- Workers.
  [[nodiscard]] std::optional<WorkerLoad> load(const PublicKey& worker) const;
  [[nodiscard]] std::vector<ReservationView> reservations() const;
  // The chance that a connected worker stays for so long, and nothing for any other.
  [[nodiscard]] std::optional<double> stays(const PublicKey& worker, double seconds,
                                            Instant now) const;
  // A known worker's history, until now if it is here. Null for an unknown one.
  [[nodiscard]] const Presence* presence(const PublicKey& worker) const;

  // --- Counts.
  [[nodiscard]] std::size_t workers() const;
  [[nodiscard]] std::size_t jobs() const;
  // Copies of late tasks under way, and how many there were.
  [[nodiscard]] std::size_t copies() const;
  [[nodiscard]] std::uint64_t copies_made() const;
  // Tasks that were stopped for more urgent ones.
  [[nodiscard]] std::uint64_t preemptions() const;

  // --- Checks of newcomers' results.
  // Seconds until the sample of one more newcomer would be decided.
  [[nodiscard]] double sample_wait(Instant now) const;
  // Newcomers get no tasks now, since that is too long.
  [[nodiscard]] bool samples_are_late(Instant now) const;

 private:
  const SchedulerTables& tables_;
  Parts parts_;
};

}  // namespace weft::scheduler
