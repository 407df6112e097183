// The requests of owners about themselves: their devices, payments to other owners, and settlements
// on the chain. All requests fail with permission_denied for a device that is revoked, and for a
// recovery device except for managing devices.
//
// Threading: one thread.
#pragma once

#include "decisions/jobs/client_keys.h"
#include "decisions/jobs/core_tables.h"
#include "decisions/jobs/worker_sessions.h"

namespace weft::jobs {

class OwnerRequests {
 public:
  OwnerRequests(CoreTables& tables, const ClientKeys& keys, WorkerSessions& sessions)
      : tables_(tables), keys_(keys), sessions_(sessions) {}
  OwnerRequests(const OwnerRequests&) = delete;

  // Shows the owner to any of its devices.
  void show(const PublicKey& device, Answer<OwnerView> answer);
  // Pays another owner. Fails with insufficient_funds if the balance does not hold the amount
  // (granted and held credits do not count), and with invalid_argument for an amount of 0 or if the
  // recipient is the payer itself.
  void pay(const Payment& payment, Moment now, Answer<OwnerView> answer);
  // Settles credits on the chain. Fails with invalid_argument below Settings::settle_min, because
  // each owner that settles has a row in every epoch.
  void settle(const Settling& settling, Moment now, Answer<OwnerView> answer);
  // Adds a device. `device.key` has agreed to belong to `to`, which must be the owner of `by`.
  // Fails as ledger::Owners::add() does, with invalid_argument if the key holds credits of its own,
  // and with insufficient_funds if the owner holds no credits.
  void add_device(const PublicKey& by, const OwnerId& to, store::Device device, Moment now,
                  Answer<OwnerView> answer);
  // Revokes a device as ledger::Owners::revoke() does; a worker with the key is disconnected.
  void revoke_device(const PublicKey& by, const PublicKey& key, Moment now,
                     Answer<OwnerView> answer);

 private:
  // Succeeds if the key has no credits, API keys or running jobs of its own, so that it may become
  // another owner's device.
  [[nodiscard]] Result<> is_unused(const PublicKey& key) const;

  CoreTables& tables_;
  const ClientKeys& keys_;
  WorkerSessions& sessions_;
};

}  // namespace weft::jobs
