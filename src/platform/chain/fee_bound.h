// Upper bounds on the fees of a transaction, computed from its bytes, so that no node is believed
// if it states a higher fee. Pure. Any thread.
#pragma once

#include "platform/chain/sender.h"

namespace weft::chain {

// The price of all signatures, including those that a signature program checks, plus the price of
// the allowed compute units. Fails with invalid_argument if the bytes are no transaction.
[[nodiscard]] Result<Lamports> fee_max(ByteSpan transaction);

// Returns the fee that a node states for the transaction. Fails with data_loss if it is above
// fee_max().
[[nodiscard]] Result<Lamports> possible_fee(const SignedTransaction& transaction, Lamports said);

}  // namespace weft::chain
