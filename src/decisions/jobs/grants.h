// Grants: credits that an invited client is given once.
//
// Threading: one thread. Bounds: CoreSettings::grants limits the grants that invitations bring.
#pragma once

#include <unordered_set>

#include "decisions/jobs/core_tables.h"
#include "decisions/jobs/grant_bounds.h"

namespace weft::jobs {

class Grants {
 public:
  explicit Grants(CoreTables& tables) : tables_(tables) {}
  Grants(const Grants&) = delete;

  // Sets the number of grants that earlier processes made today.
  void restore(std::size_t made_today, UnixMillis now) { bounds_.restore(made_today, now); }

  // Gives the owner CoreSettings::grant, once. Fails with already_exists if the owner has had it,
  // and with permission_denied over the limits or if the grant is 0.
  void give(const GrantWanted& wanted, Moment now, Answer<OwnerView> answer);

  // The grant of a new owner at its first job: 0, unless grants need no invitation.
  [[nodiscard]] MicroCredits of_stranger(const OwnerId& owner) const;
  // Gives the owner the grant of of_stranger().
  [[nodiscard]] Result<> fund(const OwnerId& owner, Moment now);
  // The error that says why the owner cannot pay for a job of this budget.
  [[nodiscard]] Error cannot_spend(const OwnerId& owner, MicroCredits budget) const;

 private:
  // Fails with already_exists if the owner has had its grant.
  [[nodiscard]] Result<> grant(const OwnerId& owner, Moment now);

  CoreTables& tables_;
  // Owners whose grant was checked since the start; the ledger knows all owners with a grant.
  std::unordered_set<OwnerId> granted_;
  GrantBounds bounds_{tables_.settings.grants};
};

}  // namespace weft::jobs
