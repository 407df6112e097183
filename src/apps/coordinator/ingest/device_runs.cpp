#include "apps/coordinator/ingest/device_runs.h"

namespace weft::coordinator {

Result<PartRunner::Ran> DeviceRuns::run(VerifiedJobs::Known& job, manifest::Range range,
                                        VerifierDevice device) {
  RunLimit& limit = job.limits[device];
  if (limit.is_late(range.count, now(), late_for_))
    return fail(ErrorCode::deadline_exceeded,
                "A part of the job took longer than {} s a moment ago.", part_max.count());
  if (!runners_[first_device]) runners_[first_device] = make_();
  if (device == second_device && !runners_[second_device] && has_second_) {
    runners_[second_device] = runners_[first_device]->on_another_device();
    has_second_ = runners_[second_device] != nullptr;
  }
  if (!runners_[device])
    return fail(ErrorCode::unavailable, "This machine has no second device that runs WGSL.");
  const Instant began = now();
  auto ran = runners_[device]->run(job.job, range, part_max);
  if (ran) {
    if (device == first_device) job.costs.ran(range.count, seconds(now() - began));
    limit.ran(range.count, ran->seconds);
  } else if (ran.error().code == ErrorCode::deadline_exceeded) {
    limit.ran_out(range.count, seconds(part_max), now());
  }
  return ran;
}

std::uint32_t DeviceRuns::workgroups_in_time(const VerifiedJobs::Known& job,
                                             VerifierDevice device) {
  return job.limits[device].workgroups_in(seconds(part_max));
}

std::string DeviceRuns::vendor() const {
  return runners_[first_device] ? runners_[first_device]->vendor() : std::string();
}

void DeviceRuns::rest() {
  for (const auto& runner : runners_) {
    if (runner) runner->rest();
  }
}

void DeviceRuns::end() {
  for (auto& runner : runners_) runner.reset();
}

}  // namespace weft::coordinator
