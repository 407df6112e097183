// What clients of wrong results get back once everything that a convicted worker was paid for is
// known: what its conviction took, then what is left of its owner's stake. Beyond that the
// verification account gives no more than it got of their prices: a client whose own worker is
// wrong, and which keeps what it was paid, would take others' money otherwise.
//
// Threading: one thread. Invariant: a client gets no more than it paid.
#pragma once

#include "decisions/jobs/core_tables.h"
#include "decisions/jobs/paid_tables.h"

namespace weft::jobs {

// Whether the worker is convicted. A suspect is not, and may be so later.
[[nodiscard]] bool is_convicted(const CoreTables& tables, const PublicKey& worker);

class Refunds {
 public:
  Refunds(CoreTables& tables, PaidTables& paid) : tables_(tables), paid_(paid) {}
  Refunds(const Refunds&) = delete;

  // `row`: of the worker, whose tasks are all computed again.
  void refund(const store::Recheck& row, Moment now);

 private:
  CoreTables& tables_;
  PaidTables& paid_;
};

}  // namespace weft::jobs
