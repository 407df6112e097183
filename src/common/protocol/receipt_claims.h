// The claims that a receipt's items stand for, in their order: what a worker signs and what the
// coordinator checks the signature against. Pure.
#pragma once

#include <span>
#include <vector>

#include "common/proof/receipt.h"
#include "common/protocol/messages.h"

namespace weft::protocol {

[[nodiscard]] std::vector<proof::Claim> claims_of(std::span<const ReceiptItem> items);

}  // namespace weft::protocol
