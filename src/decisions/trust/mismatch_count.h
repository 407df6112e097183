// Counts the mismatches that are shown to be the fault of the worker, not of its device. They are
// counted by client, and enough of them convict. All mismatches that one event shows are taken
// together, so that each worker is convicted at most once for all its mismatches.
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
    bool conclusive = false;  // True if this mismatch alone convicts.
  };
  // Counts all mismatches that one event has shown in one job.
  void add(const JobId& job, std::span<const Shown> shown, RefereePass& pass);

 private:
  [[nodiscard]] Evidence::Mismatches record(const JobId& job, const Mismatch& mismatch,
                                            UnixMillis now);

  RefereeTables& tables_;
  Convictions& convictions_;
};

}  // namespace weft::trust
