// The consequences of a conviction: the worker loses its owner's stake, its held pay and its
// results, and the workers that helped to convict it are paid.
//
// Threading: one thread.
#pragma once

#include <cstdint>
#include <vector>

#include "decisions/jobs/checker_pay.h"
#include "decisions/jobs/core_tables.h"
#include "decisions/jobs/corrections.h"
#include "decisions/jobs/forfeits.h"
#include "decisions/jobs/worker_sessions.h"

namespace weft::jobs {

// The workers that decided a dispute, without those that the job pays.
struct Jury {
  struct Member {
    PublicKey worker;
    std::uint32_t attempt = 0;
    MicroCredits pay = 0;
  };
  TaskId task;
  std::vector<Member> members;
};

class Convictions {
 public:
  Convictions(CoreTables& tables, CheckerPay& pay, Corrections& corrections, Forfeits& forfeits,
              WorkerSessions& sessions)
      : tables_(tables),
        pay_(pay),
        corrections_(corrections),
        forfeits_(forfeits),
        sessions_(sessions) {}
  Convictions(const Convictions&) = delete;

  void convict(const trust::Convicted& convicted, Moment now);
  // Adds a jury. It is paid once the stakes that the dispute took from its losers have arrived.
  void add_jury(Jury jury);
  // Pays each juror as much as a replica, until the slashed stakes and the verification account are
  // used up.
  void pay_juries(Moment now);

 private:
  CoreTables& tables_;
  CheckerPay& pay_;
  Corrections& corrections_;
  Forfeits& forfeits_;
  WorkerSessions& sessions_;
  std::vector<Jury> juries_;
};

}  // namespace weft::jobs
