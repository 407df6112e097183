// Checks of the store itself, after every history and after every end of its coordinator.
#pragma once

#include "fuzz/sessions/world.h"

namespace weft::sessions {

// Every transaction adds up, all balances sum to zero, and only the mint's is negative. Each
// acknowledged job exists once, with its client. No task is accepted or paid twice. An ended job
// holds no escrow, and a running job holds the amount that was not paid.
void check_store(World& world);
// Makes the checks of check_store() as far as a running coordinator shows the data to its operator.
void check_ledger(World& world);

}  // namespace weft::sessions
