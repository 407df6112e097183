// A result that a root has found wrong, with the stake that its worker may lose. It is kept until
// it is known whether the worker or its device was the cause (device_fault.h).
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
  Finding finding = {};  // Why the result is wrong; `finding.part` is a wrong part.
  bool counted = false;  // True if it counts towards Defences::clients_to_convict.
  // True if devices of two vendors or drivers find the result wrong.
  bool seen_twice = false;
  // The number of polled established owners of the vendor whose result of the part agrees with the
  // root's, minus the number of those whose result differs.
  std::int32_t agreed = 0;
  std::set<PublicKey> asked = {};  // Owners that were polled.
  std::uint32_t waiting = 0;       // The number of polled workers that have not answered yet.
  bool missing = false;            // Fewer workers answered than were asked.
  bool polled = false;             // The poll has begun.
};

}  // namespace weft::trust
