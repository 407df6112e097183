// The receipts of results that counted before this process began. New receipts are compared with
// them, because the core remembers only the receipts of its own process
// (decisions/jobs/signed_claims.h). Signed results that never counted are not stored, and are
// forgotten with the process.
//
// Threading: any. Bounds: claims_max results. The results of open tasks of running jobs are kept
// first, then those of the newest jobs_max jobs of the last `window`; a job that does not fit is
// left out.
#pragma once

#include <cstddef>
#include <optional>
#include <unordered_map>

#include "common/base/clock.h"
#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/protocol/messages_fwd.h"
#include "decisions/jobs/events.h"
#include "platform/store/blobs.h"
#include "platform/store/store.h"

namespace weft::coordinator {

class EarlierReceipts {
 public:
  static constexpr std::size_t claims_max = 65536;
  static constexpr std::size_t jobs_max = 1000;
  static constexpr UnixMillis window = 30LL * 24 * 3600 * 1000;

  // Reads the receipts of `rows`, which were loaded from `store`. `store` and `blobs` must outlive
  // this object.
  [[nodiscard]] static Result<EarlierReceipts> read(const store::Loaded& rows, store::Store& store,
                                                    const store::Blobs& blobs, UnixMillis now);

  // The earlier receipt in which the device signed a different result of this whole task and
  // attempt, in the form that the core takes; empty if there is none, or if it was deleted with its
  // job's data. Reads the store only if there is such a receipt.
  [[nodiscard]] std::optional<jobs::CoveringReceipt> contradicted(
      const PublicKey& device, const protocol::ReceiptItem& item) const;

  [[nodiscard]] std::size_t size() const { return claims_.size(); }

 private:
  struct Place {
    PublicKey device;
    TaskId task;
    std::uint32_t attempt = 0;
    friend bool operator==(const Place&, const Place&) = default;
  };
  struct HashOfPlace {
    std::size_t operator()(const Place& place) const;
  };
  struct Claim {
    Hash root;
    Hash receipt;
  };
  EarlierReceipts(store::Store& store, const store::Blobs& blobs) : store_(store), blobs_(blobs) {}
  void add(const store::Replica& replica);
  [[nodiscard]] Result<jobs::CoveringReceipt> receipt_of(const Place& place,
                                                         const Claim& claim) const;

  store::Store& store_;
  const store::Blobs& blobs_;
  std::unordered_map<Place, Claim, HashOfPlace> claims_;
};

}  // namespace weft::coordinator
