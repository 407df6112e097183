// Pay for checking: credits for auditors, jurors and other workers that check for the network, out
// of slashed stakes and of the verification account. Never pays more than these hold.
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

  // Pays from slashed stakes, then from the verification account, and returns the amount that could
  // be paid. `what` is the kind of the check: a worker is paid once for each kind of check of a
  // task.
  MicroCredits pay(const TaskId& task, const PublicKey& worker, MicroCredits amount,
                   std::string_view what, Moment now);
  // Pays from the verification account alone, and returns the amount that could be paid.
  MicroCredits from_verification(const TaskId& task, const PublicKey& worker, MicroCredits amount,
                                 Moment now);

 private:
  MicroCredits from_platform(const TaskId& task, const PublicKey& worker, MicroCredits amount,
                             std::string_view what, Moment now);

  CoreTables& tables_;
};

}  // namespace weft::jobs
