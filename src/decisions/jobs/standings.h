// Stores how far workers are trusted, so that it outlives the process, and carries out the
// operator's pardons of workers that were convicted without cause.
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
  // Stores the standings that changed since the last call.
  void store(Moment now);
  // Ends a worker's suspension at once, for the operator. Fails with not_found if the worker is not
  // suspended, with already_exists for a pardon from before its conviction, and with
  // invalid_argument if the pardon's time is far ahead.
  void pardon(const Pardon& wanted, Moment now, Answer<StakeView> answer);

 private:
  CoreTables& tables_;
  const Stakes& stakes_;
  WorkerSessions& sessions_;
};

}  // namespace weft::jobs
