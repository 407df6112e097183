// The scheduler's inside: the tables of jobs, workers and classes, and the parts with rules of
// their own. Methods are in leases.cpp (what a worker holds and how that ends), matching.cpp (which
// worker gets which task) and scheduler.cpp (events).
//
// Invariant between calls of decide(): no worker that has room could take a task of any job, except
// for those that are marked as changed (changed_jobs, changed_workers).
#pragma once

#include <limits>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "decisions/scheduler/blame.h"
#include "decisions/scheduler/canaries.h"
#include "decisions/scheduler/canary_prices.h"
#include "decisions/scheduler/class_members.h"
#include "decisions/scheduler/client_charges.h"
#include "decisions/scheduler/expiry.h"
#include "decisions/scheduler/job_removal.h"
#include "decisions/scheduler/learned_rates.h"
#include "decisions/scheduler/leases.h"
#include "decisions/scheduler/listings.h"
#include "decisions/scheduler/long_runs.h"
#include "decisions/scheduler/making_way.h"
#include "decisions/scheduler/market_view.h"
#include "decisions/scheduler/matcher.h"
#include "decisions/scheduler/prospects.h"
#include "decisions/scheduler/room_promises.h"
#include "decisions/scheduler/sample_checks.h"
#include "decisions/scheduler/scheduler.h"
#include "decisions/scheduler/scheduler_tables.h"
#include "decisions/scheduler/task_choice.h"
#include "decisions/scheduler/task_copies.h"
#include "decisions/scheduler/wait_explainer.h"
#include "decisions/scheduler/worker_choice.h"
#include "decisions/scheduler/worker_removal.h"

namespace weft::scheduler {

struct Scheduler::State {
  explicit State(Settings chosen) : tables_(chosen) {}

  SchedulerTables tables_;
  Prospects prospects_{tables_};
  Listings listings_{tables_, prospects_};
  ClientCharges charges_{tables_, listings_};
  LongRuns long_runs_{tables_, prospects_, listings_};
  SampleChecks samples_{tables_};
  TaskCopies copies_{tables_, listings_};
  CanaryPrices prices_{tables_};
  TaskChoice choice_{tables_, {.long_runs = long_runs_, .samples = samples_, .prices = prices_}};
  RoomPromises promises_{tables_, prospects_, choice_};
  BlameRules blame_{tables_};
  ClassMembers members_{tables_,
                        {.listings = listings_, .long_runs = long_runs_, .promises = promises_}};
  JobRemoval job_removal_{
      tables_,
      {.long_runs = long_runs_, .samples = samples_, .copies = copies_, .promises = promises_}};
  Leases leases_{tables_,
                 {.prospects = prospects_,
                  .blame = blame_,
                  .listings = listings_,
                  .charges = charges_,
                  .long_runs = long_runs_,
                  .samples = samples_,
                  .copies = copies_,
                  .promises = promises_,
                  .removal = job_removal_}};
  WorkerRemoval worker_removal_{tables_,
                                {.listings = listings_, .members = members_, .leases = leases_}};
  Canaries canaries_{tables_,
                     {.prospects = prospects_,
                      .prices = prices_,
                      .listings = listings_,
                      .long_runs = long_runs_,
                      .leases = leases_}};
  LearnedRates rates_{tables_, prices_, members_};
  MakingWay making_way_{tables_,
                        {.prospects = prospects_,
                         .listings = listings_,
                         .long_runs = long_runs_,
                         .choice = choice_,
                         .leases = leases_}};
  WorkerChoice worker_choice_{tables_,
                              {.prospects = prospects_,
                               .choice = choice_,
                               .promises = promises_,
                               .leases = leases_,
                               .canaries = canaries_}};
  Expiry expiry_{tables_,
                 {.prospects = prospects_,
                  .blame = blame_,
                  .listings = listings_,
                  .copies = copies_,
                  .leases = leases_,
                  .removal = worker_removal_,
                  .canaries = canaries_}};
  WaitExplainer explainer_{tables_,
                           {.prospects = prospects_,
                            .long_runs = long_runs_,
                            .samples = samples_,
                            .promises = promises_}};

  MarketView market;
};

}  // namespace weft::scheduler
