// Migrates files before schema version 5, which have the credits that a wallet earned as a worker
// apart from its credits as a client (today both are its owner's balance), and do not separate
// granted credits from others.
#pragma once

#include "common/base/result.h"
#include "platform/store/sqlite/connection.h"

namespace weft::store::sqlite {

// Gives each owner one balance and divides every balance exactly into granted and free credits, by
// one pass through the whole history. Each transaction takes the granted credits of an account
// first. The accounts that receive share the granted credits in proportion, as ledger::divide()
// does. Credits from the mint with the keys "grant:" and "grant-key:" are granted. The sum of an
// owner's balances does not change, and no stored transaction does: credits are moved by a new
// transaction "carry:ACCOUNT" for each account.
//
// Granted credits that were staked return to the owner's granted balance, because as a stake they
// would vouch for the owner's work.
[[nodiscard]] Result<> carry_balances(Connection& connection);

}  // namespace weft::store::sqlite
