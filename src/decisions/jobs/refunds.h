// Refunds for clients of wrong results, given once all paid tasks of a convicted worker are known:
// from the amount that its conviction took, then from the rest of its owner's stake. Beyond that
// the verification account gives no more than the part of the prices that it received. Without that
// limit a client whose own worker is wrong, and which keeps that worker's pay, would take the money
// of other clients.
//
// Threading: one thread. Invariant: a client gets no more than it paid.
#pragma once

#include "decisions/jobs/core_tables.h"
#include "decisions/jobs/paid_tables.h"

namespace weft::jobs {

// True if the worker is convicted. A suspect is not, but may be convicted later.
[[nodiscard]] bool is_convicted(const CoreTables& tables, const PublicKey& worker);

class Refunds {
 public:
  Refunds(CoreTables& tables, PaidTables& paid) : tables_(tables), paid_(paid) {}
  Refunds(const Refunds&) = delete;

  // Refunds the clients of a worker. `row` is the row of a worker whose paid tasks are all computed
  // again.
  void refund(const store::Recheck& row, Moment now);

 private:
  CoreTables& tables_;
  PaidTables& paid_;
};

}  // namespace weft::jobs
