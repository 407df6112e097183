// The settings of the referee, and the terms of a job that it is told.
#pragma once

#include <cstdint>
#include <functional>

#include "common/base/ids.h"
#include "decisions/trust/levels.h"
#include "decisions/trust/replication_policy.h"
#include "decisions/trust/reputation.h"
#include "decisions/trust/vote_types.h"

namespace weft::trust {

struct RefereeSettings {
  ReputationSettings reputation;
  CheckSettings checks;
  std::size_t hold_max = 100;  // Limit of results held back of each worker.
  // The lead that decides if no further worker can be asked; a smaller lead convicts no worker.
  std::uint32_t lead_min = 2;
  Defences defences;
  // The price from which a confirmed task counts as one confirmation. A cheaper task counts in
  // proportion.
  MicroCredits value_full = 1000;
  // The most leases that a newcomer holds at a time. Its limit grows to this as samples pass: 1, 2,
  // 4.
  std::uint32_t newcomer_leases_max = 64;
  // The number of a worker's next results that are checked whole after a root found a result wrong.
  std::uint32_t whole_checks = 32;
  // The cost of a wrong result that a root finds, in prices of its task divided by the chance that
  // a root finds a single wrong part. Three prices leave the attacker a loss of two, because it
  // saved the price of one.
  double risk = 3;
};

// States if a lease asks its worker for a root after each group of steps.
enum class StepRoots : std::uint8_t { not_asked, asked };

struct JobTerms {
  std::uint32_t replicas = 1;
  double audit = 0;  // Least share of results that is audited.
  // The number of parts that a task's run can be cut into, at most the workgroups of the smallest
  // task; 1 if it cannot be cut.
  std::uint32_t parts = 1;
  // The number of groups of steps of a task that is not cut, for each of which a worker may commit
  // to a root; 1: the job has none.
  std::uint32_t groups = 1;
  // The most groups that a check computes apart; a check of more computes the whole task.
  std::uint32_t groups_apart_max = 8;
  Agree agree = {};
  PublicKey client = {};
  // True if the job's client asked for agreement alone ("trust": "anyone"): newcomers decide, and
  // no result of the job counts for or against a wallet.
  bool anyone = false;
  bool checked = false;  // The coordinator checks each result itself before it counts.
  bool evidence = true;  // The job's results may count towards standing.
  // Returns the number of workers that could be given the job's tasks. Empty: enough workers.
  std::function<std::uint32_t()> eligible = {};

  // True if results need to agree and nothing more, whatever the level of their workers.
  [[nodiscard]] bool by_heads() const { return anyone || checked; }
  // Returns the groups of steps to whose roots the worker of such a lease commits.
  [[nodiscard]] std::uint32_t groups_if(StepRoots roots) const {
    return roots == StepRoots::asked ? groups : 1;
  }
};

}  // namespace weft::trust
