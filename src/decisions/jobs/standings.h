// How far workers are trusted outlives the process; and the operator's word that a conviction was
// without cause.
//
// Threading: one thread.
#pragma once

#include "decisions/jobs/core_tables.h"
#include "decisions/jobs/stakes.h"
#include "decisions/jobs/worker_sessions.h"

namespace weft::jobs {

class Standings {
 public:
  Standings(CoreTables& tables, const Stakes& stakes, WorkerSessions& sessions)
      : tables_(tables), stakes_(stakes), sessions_(sessions) {}
  Standings(const Standings&) = delete;

  void restore(const store::Loaded& loaded);
  // What moved since the last call.
  void store(Moment now);
  // By the operator: the suspension ends, at once. not_found for a worker that is not suspended,
  // already_exists for a pardon from before its conviction, invalid_argument if its time is far
  // ahead.
  void pardon(const Pardon& wanted, Moment now, Answer<StakeView> answer);

 private:
  CoreTables& tables_;
  const Stakes& stakes_;
  WorkerSessions& sessions_;
};

}  // namespace weft::jobs
