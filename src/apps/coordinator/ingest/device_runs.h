// The verifier's devices: parts of jobs are run on a first one, and on a second one with another
// driver where this machine has one. A run that takes longer than part_max is ended; what is known
// of a job's runs (RunLimit) says how much is begun at once, and that nothing is begun which took
// too long a moment ago.
//
// A task of several steps that cannot be cut is run a few steps at a time (StepPlan), and may take
// task_max in all. One that takes longer is left alone for as much longer as it took the devices
// more than one run: it has no larger share of them than a part that takes too long.
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
  static constexpr auto part_max = std::chrono::seconds(5);   // For one run.
  static constexpr auto task_max = std::chrono::seconds(30);  // For a task, as workers have.

  // `late_for`: VerifierBounds::late_for.
  DeviceRuns(PartRunnerFactory make, Duration late_for)
      : make_(std::move(make)), late_for_(late_for) {}
  DeviceRuns(const DeviceRuns&) = delete;

  // deadline_exceeded: it took too long, now or a moment ago; unavailable: there is no such device;
  // other errors are the runner's.
  [[nodiscard]] Result<PartRunner::Ran> run(VerifiedJobs::Known& job, manifest::Range range,
                                            VerifierDevice device = first_device);
  // As many workgroups as the device is expected to compute in part_max; 0: that is not known.
  [[nodiscard]] static std::uint32_t workgroups_in_time(const VerifiedJobs::Known& job,
                                                        VerifierDevice device);
  // The first device's; empty before its first run.
  [[nodiscard]] std::string vendor() const;
  // As far as is known: true until a run on the second device was tried and there is none.
  [[nodiscard]] bool has_second() const { return has_second_; }

  // Lets go of the runners' processes; the next run starts them again.
  void rest();
  // Ends the runners, on the thread that ran them.
  void end();

 private:
  [[nodiscard]] Result<PartRunner*> runner_on(VerifierDevice device);
  [[nodiscard]] Result<PartRunner::Ran> run_at_once(PartRunner& runner, VerifiedJobs::Known& job,
                                                    manifest::Range range, VerifierDevice device);
  [[nodiscard]] Result<PartRunner::Ran> run_in_steps(PartRunner& runner, VerifiedJobs::Known& job,
                                                     manifest::Range range, VerifierDevice device);

  const PartRunnerFactory make_;
  const Duration late_for_;
  std::array<std::unique_ptr<PartRunner>, 2> runners_;  // By device.
  bool has_second_ = true;
};

}  // namespace weft::coordinator
