// Grants: credits that an invited client is given once.
//
// Threading: one thread. Bounds: CoreSettings::grants of those that invitations bring.
#pragma once

#include <unordered_set>

#include "decisions/jobs/core_tables.h"
#include "decisions/jobs/grant_bounds.h"

namespace weft::jobs {

class Grants {
 public:
  explicit Grants(CoreTables& tables) : tables_(tables) {}
  Grants(const Grants&) = delete;

  // So many were made today before this process.
  void restore(std::size_t made_today, UnixMillis now) { bounds_.restore(made_today, now); }

  // CoreSettings::grant for the owner, once: already_exists after that. permission_denied over the
  // bounds, and if nothing is granted.
  void give(const GrantWanted& wanted, Moment now, Answer<OwnerView> answer);

  // What a new owner is given at its first job: nothing, unless grants need no invitation.
  [[nodiscard]] MicroCredits of_stranger(const OwnerId& owner) const;
  // Gives it that.
  [[nodiscard]] Result<> fund(const OwnerId& owner, Moment now);
  // Why the owner cannot pay for a job of this budget.
  [[nodiscard]] Error cannot_spend(const OwnerId& owner, MicroCredits budget) const;

 private:
  // already_exists if the owner has had it.
  [[nodiscard]] Result<> grant(const OwnerId& owner, Moment now);

  CoreTables& tables_;
  // Owners whose grant was looked at since the start; the ledger knows them all.
  std::unordered_set<OwnerId> granted_;
  GrantBounds bounds_{tables_.settings.grants};
};

}  // namespace weft::jobs
