// How long a newcomer's result would wait until it is checked. Wallets are free, so that more of
// them can ask for checks than any verifier can do: a newcomer gets no task whose result could not
// be decided in time, and what is queued stays bounded.
//
// A result counts from its lease on, until it is decided or lost. What a check of a job's results
// takes is measured: the time between the ends of two checks, which includes whatever else the
// verifiers do meanwhile. Half of their time may go to the results of workers with standing, and
// may not have when it was measured, so that twice as long is reckoned with. The bound is one of
// all results together: verifiers take turns between networks, so that a result of a new network
// goes before the second ones of others and delays them. One network has a quarter of it, or one
// result.
//
// Pure. Memory: an entry for each newcomer's result that is to come or waits. Cost: O(log entries).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "common/base/clock.h"
#include "common/base/ids.h"

namespace weft::scheduler {

class SampleQueue {
 public:
  // A result of this job is to come, of which a check computes so many workgroups.
  struct Sample {
    JobId job;
    std::string group;  // The newcomer's network; empty if it is not known.
    double workgroups = 1;
  };
  void add(const TaskId& task, const PublicKey& worker, Sample sample);
  // No result comes: nothing waits for it any more.
  void remove(const TaskId& task, const PublicKey& worker);
  // The result is decided, after a check or without one.
  void decide(const TaskId& task, const PublicKey& worker);
  void remove_job(const JobId& job);

  // A verifier has it, in its queue at least. Results that are not known are nothing.
  void begin(const TaskId& task, const PublicKey& worker, double workgroups, Instant now);
  // No verifier that is here can check it. Until one begins, newcomers get no task of its job.
  void stall(const TaskId& task, const PublicKey& worker);
  // The check of it has ended. One that came to nothing says nothing of what checks take.
  enum class Outcome : std::uint8_t { checked, failed };
  void end(const TaskId& task, const PublicKey& worker, Outcome outcome, Instant now);

  // The verifier has run workgroups of the job before, which took so long each.
  void expect(const JobId& job, double seconds_per_workgroup);

  // Seconds from now, at the most, until a check of one more sample would have ended.
  [[nodiscard]] double wait(const Sample& sample, Instant now) const;
  // Whether that is in time. Of a job whose checks have not been measured a few are, and of a
  // network what its share of the time allows.
  [[nodiscard]] bool admits(const Sample& sample, double seconds_max, Instant now) const;
  // The same for a sample like the others.
  [[nodiscard]] double wait(Instant now) const;

  // Whether something has changed since the last call that may admit more.
  [[nodiscard]] bool take_fallen() { return std::exchange(fallen_, false); }
  [[nodiscard]] bool fallen() const { return fallen_; }
  [[nodiscard]] std::size_t size() const { return entries_.size(); }

  // Results of a job that is not measured, and of all such jobs, at a time.
  static constexpr std::uint32_t unmeasured_max = 4;
  static constexpr std::uint32_t unmeasured_all_max = 32;

 private:
  enum class State : std::uint8_t { coming, checking, stalled };
  using Name = std::pair<TaskId, PublicKey>;
  struct Entry {
    Sample sample;
    State state = State::coming;
    double seconds = 0;  // As was expected when it was counted.
    Instant since;       // A verifier has it from then on.
  };
  struct Job {
    std::optional<double> seconds_per_workgroup;  // As measured.
    double workgroups = 0;                        // The sum of entries that do not stall.
    std::uint32_t entries = 0;
    std::uint32_t stalled = 0;
  };
  struct Group {
    std::uint32_t entries = 0;
    double seconds = 0;  // As was expected of each.
  };

  [[nodiscard]] double seconds_of(const Job* job, double workgroups) const;
  void count(Entry& entry);     // In,
  void discount(Entry& entry);  // and out, of what waits.
  void measured(const JobId& job, double workgroups, double seconds);
  [[nodiscard]] double overdue(Instant now) const;
  void leave_verifier(const Entry& entry);
  void take_out(Entry& entry);  // Out of what waits or stalls.

  std::map<Name, Entry> entries_;
  std::map<JobId, Job> jobs_;
  std::map<std::string, Group> groups_;
  double total_ = 0;              // Seconds that all entries take, as measured now.
  std::uint32_t unmeasured_ = 0;  // Entries of jobs that are not measured.
  std::size_t checking_ = 0;
  Instant busy_since_{};  // When the check that ends next began.
  double usual_ = 40;     // Seconds of a check. Before the first one: assumed.
  bool one_measured_ = false;
  bool fallen_ = false;
};

}  // namespace weft::scheduler
