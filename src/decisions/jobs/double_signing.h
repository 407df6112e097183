// Receipts of one device that contradict each other: evidence, which is stored whatever becomes of
// the results. Two signatures by one key are checked by the coordinator itself, exactly: they
// convict, as a root's evidence does.
//
// Threading: one thread. Bounds: SignedClaims' and EvidenceRows'.
#pragma once

#include <optional>

#include "decisions/jobs/core_tables.h"
#include "decisions/jobs/evidence_rows.h"
#include "decisions/jobs/signed_claims.h"
#include "decisions/jobs/stakes.h"

namespace weft::jobs {

class DoubleSigning {
 public:
  DoubleSigning(CoreTables& tables, const Stakes& stakes) : tables_(tables), stakes_(stakes) {}
  DoubleSigning(const DoubleSigning&) = delete;

  // The task of which the worker has signed two results, the first that is found. `is_earlier`: the
  // receipt is stored, and what it signs without a lease is remembered as well.
  [[nodiscard]] std::optional<TaskId> note(const PublicKey& worker, const CoveringReceipt& receipt,
                                           bool is_earlier, Moment now);

 private:
  CoreTables& tables_;
  const Stakes& stakes_;
  SignedClaims claims_;
  EvidenceRows rows_;
};

}  // namespace weft::jobs
