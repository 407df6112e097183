// Predicts how long a newcomer's result would wait for its check. Wallets are free, so newcomers
// can ask for more checks than the verifiers can do. A newcomer gets no task whose result could not
// be decided in time, so that the queue stays bounded.
//
// A result counts from its lease until it is decided or lost. The time of a check is measured for
// each job as the time between the ends of two checks, which includes all other work of the
// verifiers between them. Up to half of the verifiers' time may go to the results of workers with
// standing. Possibly none of it did while the time was measured, so twice the measured time is
// used. One bound holds for all results together, because verifiers take turns between networks: a
// result of a new network goes before the second result of another network and delays it. One
// network gets a quarter of the bound, or one result.
//
// Pure. Memory: an entry for each newcomer's result that is expected or waits. Cost: O(log
// entries).
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
  // A result of this job that is expected. Its check computes `workgroups` workgroups again.
  struct Sample {
    JobId job;
    std::string group;  // The newcomer's network; empty: unknown.
    double workgroups = 1;
  };
  void add(const TaskId& task, const PublicKey& worker, Sample sample);
  // Removes a result that will not come.
  void remove(const TaskId& task, const PublicKey& worker);
  // Removes a result that was decided, after a check or without one.
  void decide(const TaskId& task, const PublicKey& worker);
  void remove_job(const JobId& job);

  // Call it when a verifier has taken the result into its queue or begun its check. Does nothing
  // for an unknown result.
  void begin(const TaskId& task, const PublicKey& worker, double workgroups, Instant now);
  // Call it when no connected verifier can check the result. Newcomers then get no task of its job
  // until a verifier takes the result.
  void stall(const TaskId& task, const PublicKey& worker);
  // Call it when the check of the result has ended. The time of a failed check is not used as a
  // measurement.
  enum class Outcome : std::uint8_t { checked, failed };
  void end(const TaskId& task, const PublicKey& worker, Outcome outcome, Instant now);

  // Sets the expected time of a check, from a verifier that has run workgroups of the job before.
  void expect(const JobId& job, double seconds_per_workgroup);

  // The greatest number of seconds from now until a check of one more such sample would have ended.
  [[nodiscard]] double wait(const Sample& sample, Instant now) const;
  // True if the check of one more such sample would end within `seconds_max`. A job whose checks
  // have not been measured may have only a few samples (unmeasured_max), and a network only samples
  // for its share of the time.
  [[nodiscard]] bool admits(const Sample& sample, double seconds_max, Instant now) const;
  // The greatest number of seconds until a check of one more sample of usual length would have
  // ended.
  [[nodiscard]] double wait(Instant now) const;

  // True if a change since the last call may admit more samples.
  [[nodiscard]] bool take_fallen() { return std::exchange(fallen_, false); }
  [[nodiscard]] bool fallen() const { return fallen_; }
  [[nodiscard]] std::size_t size() const { return entries_.size(); }

  // The most samples of one job whose checks are not measured, and the most of all such jobs.
  static constexpr std::uint32_t unmeasured_max = 4;
  static constexpr std::uint32_t unmeasured_all_max = 32;

 private:
  enum class State : std::uint8_t { coming, checking, stalled };
  using Name = std::pair<TaskId, PublicKey>;
  struct Entry {
    Sample sample;
    State state = State::coming;
    double seconds = 0;  // The check's expected time when the entry was counted.
    Instant since;       // Time at which a verifier took the result.
  };
  struct Job {
    std::optional<double> seconds_per_workgroup;  // Measured, for one workgroup.
    double workgroups = 0;                        // Sum over entries that are not stalled.
    std::uint32_t entries = 0;
    std::uint32_t stalled = 0;
  };
  struct Group {
    std::uint32_t entries = 0;
    double seconds = 0;  // The sum of the entries' expected seconds.
  };

  [[nodiscard]] double seconds_of(const Job* job, double workgroups) const;
  void count(Entry& entry);     // Adds the entry to the sums.
  void discount(Entry& entry);  // Subtracts the entry from the sums.
  void measured(const JobId& job, double workgroups, double seconds);
  [[nodiscard]] double overdue(Instant now) const;
  void leave_verifier(const Entry& entry);
  void take_out(Entry& entry);  // From the sums, or from `stalled`.

  std::map<Name, Entry> entries_;
  std::map<JobId, Job> jobs_;
  std::map<std::string, Group> groups_;
  double total_ = 0;              // Seconds of all entries, by present measurements.
  std::uint32_t unmeasured_ = 0;  // Entries of jobs that are not measured.
  std::size_t checking_ = 0;
  Instant busy_since_{};  // When the check that will end next began.
  double usual_ = 40;     // The usual seconds of a check; an assumption until the first check.
  bool one_measured_ = false;
  bool fallen_ = false;
};

}  // namespace weft::scheduler
