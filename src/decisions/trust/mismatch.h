// A result that a root has found wrong, with what its worker may lose: until it is known whether
// the worker or its device was the cause (device_fault.h).
#pragma once

#include <cstdint>
#include <set>

#include "common/base/ids.h"
#include "decisions/trust/rulings.h"

namespace weft::trust {

struct Mismatch {
  PublicKey worker;
  MicroCredits penalty = 0;
  TaskId task = {};
  Hash root = {};
  Finding finding = {};  // Its part is this result's.
  bool counted = false;  // As one of those of several clients that convict.
  // Whether devices of two vendors or drivers say that it is wrong.
  bool seen_twice = false;
  // Established owners of the vendor that computed the part and agree with the root, less those
  // that do not.
  std::int32_t agreed = 0;
  std::set<PublicKey> asked = {};  // Owners.
  std::uint32_t waiting = 0;       // So many have not answered yet.
  bool missing = false;            // There were not as many workers as were wanted.
  bool polled = false;             // It has begun.
};

}  // namespace weft::trust
