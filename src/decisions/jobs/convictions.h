// What a conviction costs a worker: its owner's stake, its held pay, its results; and who is paid
// for having helped to find it out.
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

// The workers that decided a dispute besides those that the job pays.
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
  // To be paid when what the dispute took from its losers is there.
  void add_jury(Jury jury);
  // Each like a replica, as far as what was slashed and the verification account reach.
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
