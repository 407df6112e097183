// The parts of the scheduler, wired together. An event goes to one part, which decides and informs
// the parts that it refers to. All parts share scheduler_tables.h. A part is declared after the
// parts that it refers to, which do not refer back to it.
#pragma once

#include "decisions/scheduler/blame.h"
#include "decisions/scheduler/canaries.h"
#include "decisions/scheduler/canary_prices.h"
#include "decisions/scheduler/check_reports.h"
#include "decisions/scheduler/class_members.h"
#include "decisions/scheduler/client_charges.h"
#include "decisions/scheduler/expiry.h"
#include "decisions/scheduler/job_events.h"
#include "decisions/scheduler/job_removal.h"
#include "decisions/scheduler/learned_rates.h"
#include "decisions/scheduler/leases.h"
#include "decisions/scheduler/listings.h"
#include "decisions/scheduler/long_runs.h"
#include "decisions/scheduler/making_way.h"
#include "decisions/scheduler/market_view.h"
#include "decisions/scheduler/prospects.h"
#include "decisions/scheduler/room_promises.h"
#include "decisions/scheduler/sample_checks.h"
#include "decisions/scheduler/scheduler_tables.h"
#include "decisions/scheduler/scheduler_views.h"
#include "decisions/scheduler/task_choice.h"
#include "decisions/scheduler/task_copies.h"
#include "decisions/scheduler/task_events.h"
#include "decisions/scheduler/wait_explainer.h"
#include "decisions/scheduler/worker_choice.h"
#include "decisions/scheduler/worker_events.h"
#include "decisions/scheduler/worker_removal.h"

namespace weft::scheduler {

struct SchedulerParts {
  explicit SchedulerParts(const Settings& settings) : tables(settings) {}
  SchedulerParts(const SchedulerParts&) = delete;

  SchedulerTables tables;

  // Predictions for a task on a worker, and the indexes of jobs and workers.
  Prospects prospects{tables};
  Listings listings{tables, prospects};
  ClientCharges charges{tables, listings};
  LongRuns long_runs{tables, prospects, listings};
  SampleChecks samples{tables};
  TaskCopies copies{tables, listings};
  CanaryPrices prices{tables};
  MarketView market;

  // The choice of a task for a worker.
  TaskChoice choice{tables, {.long_runs = long_runs, .samples = samples, .prices = prices}};
  RoomPromises promises{tables, prospects, choice};
  ClassMembers members{tables,
                       {.listings = listings, .long_runs = long_runs, .promises = promises}};

  // Leases, and the ways in which they end.
  BlameRules blame{tables};
  JobRemoval job_removal{
      tables, {.long_runs = long_runs, .samples = samples, .copies = copies, .promises = promises}};
  Leases leases{tables,
                {.prospects = prospects,
                 .blame = blame,
                 .listings = listings,
                 .charges = charges,
                 .long_runs = long_runs,
                 .samples = samples,
                 .copies = copies,
                 .promises = promises,
                 .removal = job_removal}};
  WorkerRemoval worker_removal{tables,
                               {.listings = listings, .members = members, .leases = leases}};
  Canaries canaries{tables,
                    {.prospects = prospects,
                     .prices = prices,
                     .listings = listings,
                     .long_runs = long_runs,
                     .leases = leases}};
  LearnedRates rates{tables, prices, members};

  // The parts that are the steps of decide().
  Expiry expiry{tables,
                {.prospects = prospects,
                 .blame = blame,
                 .listings = listings,
                 .copies = copies,
                 .leases = leases,
                 .removal = worker_removal,
                 .canaries = canaries}};
  WorkerChoice worker_choice{tables,
                             {.prospects = prospects,
                              .choice = choice,
                              .promises = promises,
                              .leases = leases,
                              .canaries = canaries}};
  MakingWay making_way{tables,
                       {.prospects = prospects,
                        .listings = listings,
                        .long_runs = long_runs,
                        .choice = choice,
                        .leases = leases}};

  // The parts that handle events.
  WorkerEvents worker_events{tables,
                             {.choice = choice,
                              .listings = listings,
                              .members = members,
                              .leases = leases,
                              .removal = worker_removal}};
  JobEvents job_events{tables, {.listings = listings, .leases = leases, .removal = job_removal}};
  TaskEvents task_events{tables,
                         {.listings = listings,
                          .long_runs = long_runs,
                          .copies = copies,
                          .members = members,
                          .leases = leases,
                          .canaries = canaries,
                          .rates = rates}};
  CheckReports checks{tables, samples, canaries};

  // The parts that answer questions of callers.
  WaitExplainer explainer{
      tables,
      {.prospects = prospects, .long_runs = long_runs, .samples = samples, .promises = promises}};
  SchedulerViews views{tables,
                       {.prospects = prospects,
                        .samples = samples,
                        .copies = copies,
                        .making_way = making_way,
                        .explainer = explainer,
                        .market = market}};
};

}  // namespace weft::scheduler
