// The claims of a receipt's items, in their order. The worker signs them, and the coordinator
// checks the signature against them. Pure.
#pragma once

#include <span>
#include <vector>

#include "common/proof/receipt.h"
#include "common/protocol/messages.h"

namespace weft::protocol {

[[nodiscard]] std::vector<proof::Claim> claims_of(std::span<const ReceiptItem> items);

}  // namespace weft::protocol
