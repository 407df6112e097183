// Checks drawn groups of steps of a result: each group is computed from the state before it, and
// the root of the outputs is compared with the root to which the worker is committed. A state whose
// root is not the one to which the worker is committed counts as not sent.
//
// Threading: the thread of DeviceRuns.
#pragma once

#include <memory>
#include <vector>

#include "apps/coordinator/ingest/device_runs.h"
#include "apps/coordinator/ingest/second_look.h"
#include "platform/store/blobs.h"

namespace weft::coordinator {

class GroupCheck {
 public:
  GroupCheck(const store::Blobs& blobs, VerifiedJobs& jobs, DeviceRuns& runs, SecondLook& look)
      : blobs_(blobs), jobs_(jobs), runs_(runs), look_(look) {}

  // `job` is the job that VerifiedJobs returned last. Fails with deadline_exceeded if a state is no
  // longer stored, because the worker may send it again, and with other errors if a group could not
  // be computed.
  [[nodiscard]] Result<jobs::Checked> check(const jobs::VerifyOrder& order,
                                            VerifiedJobs::Known& job);

 private:
  using State = std::shared_ptr<const std::vector<ByteVector>>;
  // Reads the state before a group; null if it is not the one to which the worker is committed.
  [[nodiscard]] Result<State> state_before(const jobs::VerifyOrder& order,
                                           const jobs::VerifyOrder::Group& group) const;

  const store::Blobs& blobs_;
  VerifiedJobs& jobs_;
  DeviceRuns& runs_;
  SecondLook& look_;
};

}  // namespace weft::coordinator
