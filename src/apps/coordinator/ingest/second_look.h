// What is known of a part that a result has otherwise than the verifier's first device: it is
// computed again, inside a larger range, and both on the second device where this machine has one.
// A shader whose answer changes convicts no worker.
//
// Threading: that of the DeviceRuns.
#pragma once

#include <string>
#include <vector>

#include "apps/coordinator/ingest/device_runs.h"
#include "apps/coordinator/ingest/result_bytes.h"

namespace weft::coordinator {

// The check failed because what the verifier itself computes changes.
[[nodiscard]] jobs::Checked unsteady(std::string reason);

// Why a part is unsteady whose computation changes from run to run, or with the range around it.
inline constexpr std::string_view changes_by_run =
    "The verifier computes different values for the same part when it runs the part again, or "
    "inside a larger range.";

class SecondLook {
 public:
  SecondLook(DeviceRuns& runs, const ResultBytes& bytes) : runs_(runs), bytes_(bytes) {}

  struct Opinion {
    trust::Devices devices = trust::Devices::one;
    bool unsteady = false;  // It is the job, and why.
    bool late = false;      // The second device has not finished, and is waited for.
    std::string reason;
  };
  // `computed`: what the first device computed of the part.
  [[nodiscard]] Opinion at(const jobs::VerifyOrder& order, VerifiedJobs::Known& job,
                           manifest::Range part, const std::vector<ByteVector>& computed);

 private:
  // Whether the device computes the same of the part again, and inside a larger range.
  [[nodiscard]] bool is_steady(VerifiedJobs::Known& job, manifest::Range part,
                               const std::vector<ByteVector>& computed, VerifierDevice device);

  DeviceRuns& runs_;
  const ResultBytes& bytes_;
};

}  // namespace weft::coordinator
