// The record of each vendor's workers in one running job. It holds the job's wrong results for
// which it is not yet known whether the worker or its device is at fault (device_fault.h). Plain
// data, and its stored bytes for a restart.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "common/base/bytes.h"
#include "common/base/ids.h"
#include "common/base/result.h"
#include "decisions/trust/mismatch.h"

namespace weft::trust {

// The record of one vendor's workers in a job: the owners with standing whose results a root has
// found right, and those whose results it has found wrong.
struct VendorTally {
  std::set<PublicKey> right;
  std::set<PublicKey> wrong;
  std::vector<Mismatch> open;  // Mismatches not shown yet to be the worker's fault.
  bool divided = false;        // More of its workers agree with a suspect than with the root.
};

struct JobFaults {
  std::map<std::string, VendorTally, std::less<>> vendors;
  bool polling = false;
  std::uint64_t parts_polled = 0;
};

// The stored state of a job.
struct StoredFaults {
  JobFaults faults;
  // Mismatches in tasks that are not accepted yet, each with its worker's vendor.
  std::vector<std::pair<std::string, Mismatch>> undecided;

  // True if no result was found wrong.
  [[nodiscard]] bool empty() const;
};

// Encodes the state. A poll that is under way is not stored: after a restart its missing workers
// are asked for again.
[[nodiscard]] ByteVector to_bytes(const StoredFaults& stored);
// Decodes the bytes of to_bytes(). Fails with data_loss for any other bytes.
[[nodiscard]] Result<StoredFaults> read_faults(const JobId& job, ByteSpan bytes);

}  // namespace weft::trust
