// Runs parts of jobs on the verifier's devices: the first one, and a second one with another driver
// if this machine has one. A run that takes longer than part_max is ended. The record of a job's
// earlier runs (RunLimit) limits the size of new ones, and for a while prevents runs of a size that
// took too long.
//
// A task of several steps that cannot be cut is run a few steps at a time (StepPlan), and may take
// task_max in all. After a task took longer, it is not run for a time in proportion to the time
// that its runs took, so that it has no larger share of the devices than a single run that takes
// too long.
//
// Threading: one thread, which owns the runners from the first run on.
#pragma once

#include <array>
#include <chrono>
#include <memory>
#include <string>

#include "apps/coordinator/ingest/part_runner.h"
#include "apps/coordinator/ingest/verified_jobs.h"

namespace weft::coordinator {

enum VerifierDevice : std::uint8_t { first_device, second_device };

class DeviceRuns {
 public:
  static constexpr auto part_max = std::chrono::seconds(5);   // A longer run is ended.
  static constexpr auto task_max = std::chrono::seconds(30);  // The limit of all runs of a task.

  // `late_for` is VerifierBounds::late_for.
  DeviceRuns(PartRunnerFactory make, Duration late_for)
      : make_(std::move(make)), late_for_(late_for) {}
  DeviceRuns(const DeviceRuns&) = delete;

  // Runs `range`. Fails with deadline_exceeded if the run took too long, or if a run of at most
  // this size did so a moment ago, and with unavailable if the device does not exist; other errors
  // come from the runner.
  [[nodiscard]] Result<PartRunner::Ran> run(VerifiedJobs::Known& job, manifest::Range range,
                                            VerifierDevice device = first_device) {
    return run_part(job, {.range = range}, device);
  }
  // Runs a range, or some of the steps of a task that is run by steps. If a number of steps took
  // too long a moment ago, fewer steps are still run, and so are steps that begin with a worker's
  // state.
  [[nodiscard]] Result<PartRunner::Ran> run_part(VerifiedJobs::Known& job, const PartRun& part,
                                                 VerifierDevice device = first_device);
  // The number of workgroups that the device should compute in part_max; 0 before the first run.
  [[nodiscard]] static std::uint32_t workgroups_in_time(const VerifiedJobs::Known& job,
                                                        VerifierDevice device);
  // The first device's vendor; empty before its first run.
  [[nodiscard]] std::string vendor() const;
  // False after a run on the second device has shown that this machine has no second device.
  [[nodiscard]] bool has_second() const { return has_second_; }

  // Ends the runners' processes; the next run starts them again.
  void rest();
  // Destroys the runners. Call on the thread that ran them.
  void end();

 private:
  [[nodiscard]] Result<PartRunner*> runner_on(VerifierDevice device);
  [[nodiscard]] Result<PartRunner::Ran> run_at_once(PartRunner& runner, VerifiedJobs::Known& job,
                                                    manifest::Range range, VerifierDevice device);
  [[nodiscard]] Result<PartRunner::Ran> run_in_steps(PartRunner& runner, VerifiedJobs::Known& job,
                                                     const PartRun& part, VerifierDevice device);

  const PartRunnerFactory make_;
  const Duration late_for_;
  std::array<std::unique_ptr<PartRunner>, 2> runners_;  // Indexed by VerifierDevice.
  bool has_second_ = true;
};

}  // namespace weft::coordinator
