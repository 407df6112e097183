// What the referee is set to, and what it is told of each job.
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
  std::size_t hold_max = 100;  // Results held back for each worker.
  std::uint32_t lead_min =
      2;  // Enough where no further worker is there to ask; less of a lead convicts no worker.
  Defences defences;
  // A task of this price or more is one confirmation, a cheaper one less in proportion.
  MicroCredits value_full = 1000;
  // Leases of a newcomer at a time, at most: 1, 2, 4 ... as its samples pass.
  std::uint32_t newcomer_leases_max = 64;
  // So many results of a worker are checked whole after a root has found one wrong.
  std::uint32_t whole_checks = 32;
  // What one wrong result costs that a root finds, in prices of its task over the chance that a
  // root finds a single wrong part. Three leave two to the attacker's loss after the price that it
  // saved.
  double risk = 3;
};

struct JobTerms {
  std::uint32_t replicas = 1;
  double audit = 0;         // Share of results that is audited at least.
  std::uint32_t parts = 1;  // Into how many a task's run can be cut: the workgroups of the
                            // smallest; 1 where it cannot be.
  Agree agree = {};
  PublicKey client = {};
  // Its client asked for no more than agreement ("trust": "anyone"): newcomers decide, and no
  // result of it counts for or against a wallet.
  bool anyone = false;
  bool checked = false;  // The coordinator has checked each result itself before it is counted.
  bool evidence = true;  // Whether its results may count towards standing.
  // How many workers could be given its tasks; empty: enough.
  std::function<std::uint32_t()> eligible = {};

  // Whose results agree is all that is asked.
  [[nodiscard]] bool by_heads() const { return anyone || checked; }
};

}  // namespace weft::trust
