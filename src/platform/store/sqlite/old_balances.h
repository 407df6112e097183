// What files before schema version 5 have: credits of wallets as clients (which is an owner's
// balance now) apart from what they earned as workers, and grants mixed with everything else.
#pragma once

#include "common/base/result.h"
#include "platform/store/sqlite/connection.h"

namespace weft::store::sqlite {

// Gives each owner one balance, and divides every balance into granted and free credits, exactly:
// the whole history is gone through once. Of each transaction, what is taken from an account is its
// granted credits first, and the accounts that get something share them in proportion, as
// ledger::divide() says; what mint gave with the keys "grant:" and "grant-key:" is granted. No
// balance of an owner in all changes, and nothing in the history does: what has to move is moved by
// a transaction "carry:ACCOUNT" for each account, which stands in the history like any other.
//
// Granted credits that were staked go back to the owner's granted balance: they would vouch for
// work.
[[nodiscard]] Result<> carry_balances(Connection& connection);

}  // namespace weft::store::sqlite
