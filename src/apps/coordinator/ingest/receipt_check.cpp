#include "apps/coordinator/ingest/receipt_check.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "apps/coordinator/ingest/earlier_receipts.h"
#include "common/crypto/keys.h"
#include "common/crypto/sha256.h"
#include "common/protocol/receipt_claims.h"

namespace weft::coordinator {

Result<std::vector<jobs::CoveringReceipt>> ReceiptCheck::check(
    jobs::SessionId id, const PublicKey& worker, const proof::ReceiptPlace& place,
    const protocol::Receipt& receipt) const {
  if (std::ranges::any_of(receipt.items,
                          [](const auto& item) { return item.count == 0 && item.first != 0; }))
    return fail(ErrorCode::invalid_argument,
                "The receipt names a first workgroup for a whole task.");
  const std::vector<proof::Claim> claims = protocol::claims_of(receipt.items);
  ByteVector statement = proof::receipt_statement(place, claims);
  const Hash digest = crypto::sha256(statement);
  if (!crypto::verify_now(worker, digest.span(), receipt.signature))
    return fail(ErrorCode::unauthenticated,
                "The receipt's signature is not valid for the worker's key.");
  std::vector<jobs::CoveringReceipt> coverings;
  for (const auto& item : receipt.items) {
    auto before = earlier_ ? earlier_->contradicted(worker, item) : std::nullopt;
    if (!before) continue;
    before->session = id;
    coverings.push_back(std::move(*before));
    break;  // One contradiction is enough to convict.
  }
  ByteVector text = proof::claims_text(claims);
  jobs::CoveringReceipt covering{.session = id,
                                 .receipt = {.digest = digest,
                                             .worker = worker,
                                             .session_nonce = place.session,
                                             .signature = receipt.signature,
                                             .claims = crypto::sha256(text)},
                                 .items = {},
                                 .unleased = {},
                                 .statement = std::move(statement),
                                 .claims = std::move(text)};
  for (const auto& item : receipt.items)
    (leases_.covers(item) ? covering.items : covering.unleased).push_back(item);
  coverings.push_back(std::move(covering));
  return coverings;
}

}  // namespace weft::coordinator
