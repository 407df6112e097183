// A check of ranges of a result: samples, newcomers' whole tasks, and disputes, in which each other
// result of the task is refuted by a range in which it differs.
//
// Threading: that of the DeviceRuns.
#pragma once

#include "apps/coordinator/ingest/device_runs.h"
#include "apps/coordinator/ingest/result_bytes.h"
#include "apps/coordinator/ingest/second_look.h"

namespace weft::coordinator {

class RangeCheck {
 public:
  RangeCheck(DeviceRuns& runs, const ResultBytes& bytes, SecondLook& look)
      : runs_(runs), bytes_(bytes), look_(look) {}

  // An error: it could not be checked.
  [[nodiscard]] Result<jobs::Checked> check(const jobs::VerifyOrder& order,
                                            VerifiedJobs::Known& job);

 private:
  // What the first device computes of `run`, or of the part of it that is wrong.
  struct Found {
    manifest::Range part;
    std::vector<ByteVector> computed;
    bool changes = false;  // The part alone is right: the computation changes with the range.
  };
  [[nodiscard]] Result<Found> narrowed(const jobs::VerifyOrder& order, VerifiedJobs::Known& job,
                                       const std::vector<manifest::Range>& ranges,
                                       manifest::Range run, std::vector<ByteVector> computed);

  DeviceRuns& runs_;
  const ResultBytes& bytes_;
  SecondLook& look_;
};

}  // namespace weft::coordinator
