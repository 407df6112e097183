// Mismatches of which it is shown that the worker was wrong, not its device: they count by clients,
// and enough of them convict. What one event shows is taken together: each worker is convicted once
// at most, for all of its.
//
// Not safe to share between threads.
#pragma once

#include <span>

#include "common/base/clock.h"
#include "common/base/ids.h"
#include "decisions/trust/convictions.h"
#include "decisions/trust/evidence.h"
#include "decisions/trust/mismatch.h"
#include "decisions/trust/referee_pass.h"
#include "decisions/trust/referee_tables.h"

namespace weft::trust {

class MismatchCount {
 public:
  MismatchCount(RefereeTables& tables, Convictions& convictions)
      : tables_(tables), convictions_(convictions) {}

  struct Shown {
    Mismatch mismatch;
    bool conclusive = false;  // This one is enough.
  };
  // All that one event has shown, in one job.
  void add(const JobId& job, std::span<const Shown> shown, RefereePass& pass);

 private:
  [[nodiscard]] Evidence::Mismatches record(const JobId& job, const Mismatch& mismatch,
                                            UnixMillis now);

  RefereeTables& tables_;
  Convictions& convictions_;
};

}  // namespace weft::trust
