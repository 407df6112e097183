#include "common/protocol/receipt_claims.h"

namespace weft::protocol {

std::vector<proof::Claim> claims_of(std::span<const ReceiptItem> items) {
  std::vector<proof::Claim> claims;
  claims.reserve(items.size());
  for (const ReceiptItem& item : items)
    claims.push_back({.task = item.task,
                      .attempt = item.attempt,
                      .root = item.root,
                      .first = item.first,
                      .count = item.count});
  return claims;
}

}  // namespace weft::protocol
