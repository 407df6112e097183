// How the workers of each vendor fare in one running job, and its wrong results of which it is not
// known yet whose fault they are (device_fault.h). Plain data, and the bytes in which it outlives a
// restart.
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

// How the workers of one vendor fare: owners with standing by whether a root has found results of
// theirs right, or wrong.
struct VendorTally {
  std::set<PublicKey> right;
  std::set<PublicKey> wrong;
  std::vector<Mismatch> open;  // That are not shown yet to be the worker's fault.
  bool divided = false;        // More of it agree with a suspect than with the root.
};

struct JobFaults {
  std::map<std::string, VendorTally, std::less<>> vendors;
  bool polling = false;
  std::uint64_t parts_polled = 0;
};

// What is stored of a job.
struct StoredFaults {
  JobFaults faults;
  // Mismatches in tasks that are not accepted yet, each with its worker's vendor.
  std::vector<std::pair<std::string, Mismatch>> undecided;

  // No result was found wrong.
  [[nodiscard]] bool empty() const;
};

// Polls that are under way are not stored: as many workers as are missing are asked again.
[[nodiscard]] ByteVector to_bytes(const StoredFaults& stored);
// data_loss for anything but what to_bytes() gives.
[[nodiscard]] Result<StoredFaults> read_faults(const JobId& job, ByteSpan bytes);

}  // namespace weft::trust
