// Checks a worker's receipt for the core: verifies its signature for this session, and separates
// its items by the leases that the worker holds. If the device signed a different result of an item
// in an earlier receipt, the earlier receipt is put before the new one.
//
// Threading: one thread at a time for one session.
#pragma once

#include <vector>

#include "apps/coordinator/ingest/held_leases.h"
#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/proof/receipt.h"
#include "common/protocol/results.h"
#include "decisions/jobs/events.h"

namespace weft::coordinator {

class EarlierReceipts;

class ReceiptCheck {
 public:
  // `earlier` is null if no receipts were stored before. Both arguments must outlive this object.
  ReceiptCheck(const HeldLeases& leases, const EarlierReceipts* earlier)
      : leases_(leases), earlier_(earlier) {}

  // The receipts for the core, in the order in which it must take them. `place` is the session for
  // which the receipt is signed. Fails with invalid_argument if an item is malformed and with
  // unauthenticated if the signature does not fit.
  [[nodiscard]] Result<std::vector<jobs::CoveringReceipt>> check(
      jobs::SessionId id, const PublicKey& worker, const proof::ReceiptPlace& place,
      const protocol::Receipt& receipt) const;

 private:
  const HeldLeases& leases_;
  const EarlierReceipts* const earlier_;
};

}  // namespace weft::coordinator
