// Receipts of one device that contradict each other. They are evidence, which is stored even if
// neither result counts. The coordinator itself verifies both signatures of the key, so that they
// are exact proof: they convict, as the evidence of a root does.
//
// Threading: one thread. Bounds: those of SignedClaims and EvidenceRows.
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

  // Notes a receipt, and returns the first task of which the worker has signed two results.
  // `is_earlier`: the receipt was stored before, so that the items that it signs without a lease
  // are remembered too.
  [[nodiscard]] std::optional<TaskId> note(const PublicKey& worker, const CoveringReceipt& receipt,
                                           bool is_earlier, Moment now);

 private:
  CoreTables& tables_;
  const Stakes& stakes_;
  SignedClaims claims_;
  EvidenceRows rows_;
};

}  // namespace weft::jobs
