// Checks a whole task that was accepted and paid for. If its result is wrong, the correct outputs
// are stored.
//
// Threading: the thread of DeviceRuns.
#pragma once

#include <vector>

#include "apps/coordinator/ingest/device_runs.h"
#include "apps/coordinator/ingest/result_bytes.h"
#include "apps/coordinator/ingest/second_look.h"

namespace weft::coordinator {

class PaidCheck {
 public:
  PaidCheck(store::Blobs& blobs, DeviceRuns& runs, const ResultBytes& bytes, SecondLook& look)
      : blobs_(blobs), runs_(runs), bytes_(bytes), look_(look) {}

  // Fails if the task could not be checked.
  [[nodiscard]] Result<jobs::Checked> check(const jobs::VerifyOrder& order,
                                            VerifiedJobs::Known& job);

 private:
  [[nodiscard]] Result<jobs::Recomputed> stored(const std::vector<ByteVector>& right);

  store::Blobs& blobs_;
  DeviceRuns& runs_;
  const ResultBytes& bytes_;
  SecondLook& look_;
};

}  // namespace weft::coordinator
