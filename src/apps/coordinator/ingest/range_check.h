// Checks ranges of a result: samples, whole tasks of newcomers, and disputes. In a dispute, each
// other result of the task is refuted by a range in which it differs.
//
// Threading: the thread of DeviceRuns.
#pragma once

#include "apps/coordinator/ingest/device_runs.h"
#include "apps/coordinator/ingest/result_bytes.h"
#include "apps/coordinator/ingest/second_look.h"

namespace weft::coordinator {

class RangeCheck {
 public:
  RangeCheck(DeviceRuns& runs, const ResultBytes& bytes, SecondLook& look)
      : runs_(runs), bytes_(bytes), look_(look) {}

  // Fails if the ranges could not be checked.
  [[nodiscard]] Result<jobs::Checked> check(const jobs::VerifyOrder& order,
                                            VerifiedJobs::Known& job);

 private:
  // The first device's outputs for the wrong part of a run, or for the whole run if no part could
  // be singled out.
  struct Found {
    manifest::Range part;
    std::vector<ByteVector> computed;
    bool changes = false;  // Unsteady: the part is right if computed alone.
  };
  [[nodiscard]] Result<Found> narrowed(const jobs::VerifyOrder& order, VerifiedJobs::Known& job,
                                       const std::vector<manifest::Range>& ranges,
                                       manifest::Range run, std::vector<ByteVector> computed);

  DeviceRuns& runs_;
  const ResultBytes& bytes_;
  SecondLook& look_;
};

}  // namespace weft::coordinator
