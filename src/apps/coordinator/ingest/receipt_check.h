// What a worker's receipt means to the core: its signature is checked for this session, its items
// are told apart by what the worker holds, and an earlier receipt in which the device has signed
// another result comes before it.
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
  // `earlier`: null if nothing was stored before. Both outlive this.
  ReceiptCheck(const HeldLeases& leases, const EarlierReceipts* earlier)
      : leases_(leases), earlier_(earlier) {}

  // For the core, in this order. invalid_argument: an item is not well formed; unauthenticated: the
  // signature does not fit. `place`: what the session's receipts are signed for.
  [[nodiscard]] Result<std::vector<jobs::CoveringReceipt>> check(
      jobs::SessionId id, const PublicKey& worker, const proof::ReceiptPlace& place,
      const protocol::Receipt& receipt) const;

 private:
  const HeldLeases& leases_;
  const EarlierReceipts* const earlier_;
};

}  // namespace weft::coordinator
