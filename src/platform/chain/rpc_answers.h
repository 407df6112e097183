// Reads a node's answers: the body of JSON-RPC, and the `result` of each method. The texts are not
// trusted: they are bounded, and read or refused. Pure.
//
// Fails with invalid_argument if the node refuses or if a text is no such answer, data_loss if a
// member is missing, and unavailable if the node does not know the thing that was asked for.
#pragma once

#include <string>
#include <string_view>

#include "platform/chain/rpc.h"

namespace weft::chain {

// Returns the text of `result`. `method` is used in error messages only.
[[nodiscard]] Result<std::string> result_of(std::string_view method, std::string_view body);

[[nodiscard]] Result<Hash> read_genesis_hash(std::string_view result);
[[nodiscard]] Result<std::uint64_t> read_number(std::string_view result);
// Reads a result of the form {"value": NUMBER}.
[[nodiscard]] Result<std::uint64_t> read_value(std::string_view result);
[[nodiscard]] Result<RecentBlockhash> read_blockhash(std::string_view result);
[[nodiscard]] Result<std::optional<AccountData>> read_account(std::string_view result);
[[nodiscard]] Result<std::vector<std::optional<AccountData>>> read_accounts(std::string_view result,
                                                                            std::size_t asked);
[[nodiscard]] Result<Rpc::FoundAccounts> read_found_accounts(std::string_view result);
// Returns the median of the fees; 0 if the node lists no fee.
[[nodiscard]] Result<std::uint64_t> read_priority_fee(std::string_view result);
[[nodiscard]] Result<Simulation> read_simulation(std::string_view result);
[[nodiscard]] Result<std::optional<SignatureStatus>> read_status(std::string_view result);
[[nodiscard]] Result<Lamports> read_fee(std::string_view result, const Signature& signature);

}  // namespace weft::chain
