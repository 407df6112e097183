// What a transaction can have paid in fees at most, as its own bytes say: so that no node's word
// for it is taken for more. Pure. Any thread.
#pragma once

#include "platform/chain/sender.h"

namespace weft::chain {

// A price for each signature, those that a signature program checks included, and the units that it
// may use at the price that it offers. invalid_argument if the bytes are no transaction.
[[nodiscard]] Result<Lamports> fee_max(ByteSpan transaction);

// What a node says that the transaction paid, where it can have; data_loss if it cannot.
[[nodiscard]] Result<Lamports> possible_fee(const SignedTransaction& transaction, Lamports said);

}  // namespace weft::chain
