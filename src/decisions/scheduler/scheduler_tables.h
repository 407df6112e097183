// The tables that the parts of the scheduler share, with the time and the decisions. Each table
// keeps its own invariant. State that only one part needs is private to that part. Pure; not safe
// to share between threads.
#pragma once

#include "decisions/scheduler/client_queue.h"
#include "decisions/scheduler/deadlines.h"
#include "decisions/scheduler/decision_queue.h"
#include "decisions/scheduler/job_table.h"
#include "decisions/scheduler/match_agenda.h"
#include "decisions/scheduler/preemption.h"
#include "decisions/scheduler/preemption_requests.h"
#include "decisions/scheduler/requirement_classes.h"
#include "decisions/scheduler/resume_reservations.h"
#include "decisions/scheduler/sample_queue.h"
#include "decisions/scheduler/worker_histories.h"
#include "decisions/scheduler/worker_table.h"

namespace weft::scheduler {

struct SchedulerTables {
  explicit SchedulerTables(const Settings& chosen)
      : settings(chosen), clients(chosen.fair_shares), preemption(chosen.preemption) {}
  SchedulerTables(const SchedulerTables&) = delete;

  // Notes the time of an event as the latest one.
  void reach(Instant now) { latest = std::max(latest, now); }

  const Settings settings;
  Instant latest{};  // The latest time of an event.
  JobTable jobs;
  WorkerTable workers;
  RequirementClasses classes;
  MatchAgenda agenda;
  Deadlines deadlines;
  ClientQueue clients;
  WorkerHistories histories;
  Preemption preemption;  // The runs of long tasks.
  PreemptionRequests preemption_requests;
  // Replicas that made way. They are in deadlines.retries, too.
  ResumeReservations resume_reservations;
  SampleQueue samples;  // Newcomers' results that wait for a check.
  DecisionQueue out;
};

}  // namespace weft::scheduler
