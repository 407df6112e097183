// A second opinion on a part in which a result differs from the verifier's first device: the part
// is computed again, also inside a larger range, and both on the second device if this machine has
// one. A shader whose results change from run to run does not convict a worker.
//
// Threading: the thread of DeviceRuns.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "apps/coordinator/ingest/device_runs.h"
#include "apps/coordinator/ingest/result_bytes.h"

namespace weft::coordinator {

// The result of a check that failed because the verifier's own results change.
[[nodiscard]] jobs::Checked unsteady(std::string reason);

// The reason for an unsteady part whose result changes from run to run, or with the range around
// it.
inline constexpr std::string_view changes_by_run =
    "The verifier computes different values for the same part when it runs the part again, or "
    "inside a larger range.";

class SecondLook {
 public:
  SecondLook(DeviceRuns& runs, const ResultBytes& bytes) : runs_(runs), bytes_(bytes) {}

  struct Opinion {
    trust::Devices devices = trust::Devices::one;
    bool unsteady = false;  // The job's results are unsteady; `reason` says why.
    bool late = false;      // The second device must still finish.
    std::string reason;
  };
  struct Question {
    const PartRun& part;
    const std::vector<ByteVector>& computed;  // The first device's outputs of the part.
    // True for outputs that a worker handed in: if the second device computes these, the job's
    // results differ by device.
    std::function<bool(const std::vector<ByteVector>&)> is_handed_in;
    // If the second device does not finish in time, the opinion is late.
    bool waits_for_second = false;
  };
  [[nodiscard]] Opinion at(VerifiedJobs::Known& job, const Question& question);
  // Compares a range of the order's results, `computed` by the first device, with both devices.
  [[nodiscard]] Opinion at(const jobs::VerifyOrder& order, VerifiedJobs::Known& job,
                           manifest::Range part, const std::vector<ByteVector>& computed);

 private:
  // True if the device computes the same outputs again, for the part alone and inside a larger
  // range.
  [[nodiscard]] bool is_steady(VerifiedJobs::Known& job, const PartRun& part,
                               const std::vector<ByteVector>& computed, VerifierDevice device);

  DeviceRuns& runs_;
  const ResultBytes& bytes_;
};

}  // namespace weft::coordinator
