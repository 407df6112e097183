// Pay for checking: what auditors, jurors and others that answer for the network get, out of what
// was slashed and out of the verification account. Never more than is there.
//
// Threading: one thread.
#pragma once

#include <string_view>

#include "decisions/jobs/core_tables.h"

namespace weft::jobs {

class CheckerPay {
 public:
  explicit CheckerPay(CoreTables& tables) : tables_(tables) {}
  CheckerPay(const CheckerPay&) = delete;

  // Out of what was slashed, then out of the verification account: what could be paid. `what` is
  // the check's kind: a worker is paid once for each of a task.
  MicroCredits pay(const TaskId& task, const PublicKey& worker, MicroCredits amount,
                   std::string_view what, Moment now);
  // What could be paid.
  MicroCredits from_verification(const TaskId& task, const PublicKey& worker, MicroCredits amount,
                                 Moment now);

 private:
  MicroCredits from_platform(const TaskId& task, const PublicKey& worker, MicroCredits amount,
                             std::string_view what, Moment now);

  CoreTables& tables_;
};

}  // namespace weft::jobs
