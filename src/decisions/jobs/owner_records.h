// The data that the coordinator holds of an owner beside its jobs and its history. An owner may see
// and delete these data. Both requests fail with permission_denied for revoked devices and recovery
// devices.
//
// Threading: one thread.
#pragma once

#include "decisions/jobs/client_keys.h"
#include "decisions/jobs/client_weights.h"
#include "decisions/jobs/core_tables.h"
#include "decisions/jobs/rulings.h"
#include "decisions/jobs/stakes.h"
#include "decisions/jobs/worker_presence.h"

namespace weft::jobs {

class OwnerRecords {
 public:
  OwnerRecords(CoreTables& tables, ClientKeys& keys, const ClientWeights& weights,
               const Stakes& stakes, WorkerPresence& presence, const OpenClaims& claims)
      : tables_(tables),
        keys_(keys),
        weights_(weights),
        stakes_(stakes),
        presence_(presence),
        claims_(claims) {}
  OwnerRecords(const OwnerRecords&) = delete;

  void show(const PublicKey& device, Moment now, Answer<OwnerData> answer);
  // Deletes the records of the owner's ended jobs, its API keys, the names of its devices and the
  // times at which its workers were here. Fails with unavailable while the owner has anything under
  // way: a job, pay for its tasks that is not free yet, an answer, or a connected worker. Money,
  // receipts, the devices' keys and the trust in its workers stay.
  void forget(const PublicKey& device, Moment now, Answer<OwnerView> answer);

 private:
  [[nodiscard]] Result<> nothing_under_way(const OwnerView& owner) const;

  CoreTables& tables_;
  ClientKeys& keys_;
  const ClientWeights& weights_;
  const Stakes& stakes_;
  WorkerPresence& presence_;
  const OpenClaims& claims_;
};

}  // namespace weft::jobs
