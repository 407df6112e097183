// What owners ask for themselves: their devices, and what they pay each other or settle on the
// chain. A device that is revoked, or is a recovery device and does not manage devices, is
// permission_denied everywhere.
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

  // For any device of the owner.
  void show(const PublicKey& device, Answer<OwnerView> answer);
  // insufficient_funds if the balance does not hold it (granted and held credits do not count),
  // invalid_argument for nothing and for the owner itself.
  void pay(const Payment& payment, Moment now, Answer<OwnerView> answer);
  // invalid_argument below Settings::settle_min: each owner that settles has a row in every epoch.
  void settle(const Settling& settling, Moment now, Answer<OwnerView> answer);
  // `device.key` has agreed to belong to `to`, which must be the owner of `by`. As
  // ledger::Owners::add() says; invalid_argument if the key holds credits of its own,
  // insufficient_funds if the owner holds none at all.
  void add_device(const PublicKey& by, const OwnerId& to, store::Device device, Moment now,
                  Answer<OwnerView> answer);
  // As ledger::Owners::revoke() says; a worker with the key is disconnected.
  void revoke_device(const PublicKey& by, const PublicKey& key, Moment now,
                     Answer<OwnerView> answer);

 private:
  // Whether nothing of the key's own is left, so that it may become another owner's device.
  [[nodiscard]] Result<> is_unused(const PublicKey& key) const;

  CoreTables& tables_;
  const ClientKeys& keys_;
  WorkerSessions& sessions_;
};

}  // namespace weft::jobs
