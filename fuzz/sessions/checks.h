// What holds after every history, and whenever its coordinator has ended: read from the store
// itself.
#pragma once

#include "fuzz/sessions/world.h"

namespace weft::sessions {

// Every movement adds up, all balances sum to zero and none but the mint's is negative; each
// acknowledged job is there once, with its client; no task is accepted or paid twice; what ended
// holds no escrow, and what runs holds what was not paid.
void check_store(World& world);
// The same as far as a running coordinator tells it to its operator.
void check_ledger(World& world);

}  // namespace weft::sessions
