// Read-only views of the queue: for leases that other parts grant, for quotes, for pages and for
// tests. A view never changes a decision.
//
// Pure; not safe to share between threads. O(1) or O(log entries), unless a function says
// otherwise.
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

  // Returns the market that a job like this one would meet, as input of quote(). O(jobs) once a
  // second, and O(workers) if no running job has equal requirements.
  [[nodiscard]] Market market(const Job& job, Instant now) const;
  // The share of connected trusted workers that hold a task; no value if none is connected.
  // O(workers).
  [[nodiscard]] std::optional<double> busy() const;

  // --- For leases that other parts grant (audits). The connected workers that take tasks and could
  // run the job, in the order of arrival. O(workers).
  [[nodiscard]] std::vector<PublicKey> able(const JobId& job) const;
  // The number of connected workers that take tasks and could run the job.
  [[nodiscard]] std::size_t able_count(const JobId& job) const;
  [[nodiscard]] LeaseTerms terms(const JobId& job, const PublicKey& worker) const;

  // --- Views of jobs and clients.
  [[nodiscard]] std::optional<JobProgress> progress(const JobId& job) const;
  // The reason why no worker runs the job's next task. No value if the job is unknown or none of
  // its tasks waits. O(workers).
  [[nodiscard]] std::optional<Waiting> waiting(const JobId& job, Instant now) const;
  // The clients that have jobs; share() gives the usage of one client.
  [[nodiscard]] std::vector<PublicKey> clients() const;
  [[nodiscard]] ClientShare share(const PublicKey& client, Instant now) const;

  // --- Views of workers.
  [[nodiscard]] std::optional<WorkerLoad> load(const PublicKey& worker) const;
  [[nodiscard]] std::vector<ReservationView> reservations() const;
  // Returns the probability that the worker stays connected for `seconds` seconds; no value if it
  // is not connected.
  [[nodiscard]] std::optional<double> stays(const PublicKey& worker, double seconds,
                                            Instant now) const;
  // The history of a known worker; if it is connected, up to now. Null for an unknown worker.
  [[nodiscard]] const Presence* presence(const PublicKey& worker) const;

  // --- Counts.
  [[nodiscard]] std::size_t workers() const;
  [[nodiscard]] std::size_t jobs() const;
  // copies() counts the copies of late tasks that are under way, copies_made() all that were ever
  // made.
  [[nodiscard]] std::size_t copies() const;
  [[nodiscard]] std::uint64_t copies_made() const;
  // The number of tasks that were stopped for more urgent ones.
  [[nodiscard]] std::uint64_t preemptions() const;

  // --- Checks of newcomers' results.
  // Seconds until the sample of one more newcomer would be decided.
  [[nodiscard]] double sample_wait(Instant now) const;
  // True if newcomers get no tasks now, because the sample of one more newcomer would wait too
  // long.
  [[nodiscard]] bool samples_are_late(Instant now) const;

 private:
  const SchedulerTables& tables_;
  Parts parts_;
};

}  // namespace weft::scheduler
