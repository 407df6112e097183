#include "common/proof/receipt.h"

#include "common/crypto/sha256.h"

namespace weft::proof {

ByteVector receipt_statement(const PublicKey& coordinator, const Hash& session_nonce,
                             std::span<const Claim> claims) {
  ByteVector message;
  append(message, as_bytes(std::string_view("weft-receipt-1")));
  append(message, coordinator.span());
  append(message, session_nonce.span());
  append_le(message, static_cast<std::uint32_t>(claims.size()));
  for (const Claim& claim : claims) {
    append(message, claim.task.job.span());
    append_le(message, claim.task.index);
    append_le(message, claim.attempt);
    append(message, claim.root.span());
  }
  return message;
}

Hash receipt_digest(const PublicKey& coordinator, const Hash& session_nonce,
                    std::span<const Claim> claims) {
  return crypto::sha256(receipt_statement(coordinator, session_nonce, claims));
}

}  // namespace weft::proof
