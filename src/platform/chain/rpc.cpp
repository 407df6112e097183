#include "platform/chain/rpc.h"

#include <algorithm>

#include "common/json/quote.h"
#include "platform/chain/rpc_answers.h"

namespace weft::chain {
namespace {

std::string encoded(ByteSpan transaction, std::string_view more) {
  return weft::format(R"(["{}",{{"encoding":"base64"{}}}])", to_base64(transaction), more);
}

std::string quoted_keys(std::span<const PublicKey> keys) {
  std::string out;
  for (const PublicKey& one : keys) out += (out.empty() ? "\"" : ",\"") + one.text() + "\"";
  return out;
}

}  // namespace

Result<std::unique_ptr<Rpc>> Rpc::create(const Options& options) {
  WEFT_ASSIGN(auto client, net::Client::create({.url = options.url, .tls = options.tls}));
  return std::unique_ptr<Rpc>(new Rpc(std::move(client), options.timeout));
}

Result<std::string> Rpc::call(std::string_view method, std::string_view parameters) {
  net::Request request =
      net::post("/", weft::format(R"({{"jsonrpc":"2.0","id":1,"method":{},"params":{}}})",
                                  json::quote(method), parameters));
  request.timeout = timeout_;
  auto answer = client_->send_now(std::move(request));
  if (!answer) return pass(std::move(answer), "while asking the node for {}", method);
  if (!answer->ok())
    return fail(answer->status == 429 || answer->status >= 500 ? ErrorCode::unavailable
                                                               : ErrorCode::invalid_argument,
                "The node answers with status {} to {}.", answer->status, method);
  return result_of(method, answer->body);
}

Result<Hash> Rpc::genesis_hash() {
  WEFT_ASSIGN(const std::string text, call("getGenesisHash", "[]"));
  return read_genesis_hash(text);
}

Result<std::uint64_t> Rpc::block_height() {
  WEFT_ASSIGN(const std::string text, call("getBlockHeight", "[]"));
  return read_number(text);
}

Result<RecentBlockhash> Rpc::latest_blockhash() {
  WEFT_ASSIGN(const std::string text, call("getLatestBlockhash", "[]"));
  return read_blockhash(text);
}

Result<Lamports> Rpc::rent_of(std::size_t bytes) {
  WEFT_ASSIGN(const std::string text,
              call("getMinimumBalanceForRentExemption", weft::format("[{}]", bytes)));
  return read_number(text);
}

Result<Lamports> Rpc::balance(const PublicKey& key) {
  WEFT_ASSIGN(const std::string text, call("getBalance", weft::format(R"(["{}"])", key.text())));
  return read_value(text);
}

Result<std::optional<AccountData>> Rpc::account(const PublicKey& key) {
  WEFT_ASSIGN(
      const std::string text,
      call("getAccountInfo", weft::format(R"(["{}",{{"encoding":"base64"}}])", key.text())));
  return read_account(text);
}

Result<std::vector<std::optional<AccountData>>> Rpc::accounts(std::span<const PublicKey> keys) {
  WEFT_ASSIGN(const std::string text,
              call("getMultipleAccounts",
                   weft::format(R"([[{}],{{"encoding":"base64"}}])", quoted_keys(keys))));
  return read_accounts(text, keys.size());
}

Result<Rpc::FoundAccounts> Rpc::accounts_of(const PublicKey& program, const AccountFilter& filter,
                                            Confirmation level) {
  WEFT_ASSIGN(
      const std::string text,
      call("getProgramAccounts",
           weft::format(R"(["{}",{{"encoding":"base64","commitment":"{}","withContext":true,)"
                        R"("filters":[{{"dataSize":{}}},{{"memcmp":{{"offset":{},)"
                        R"("bytes":"{}","encoding":"base64"}}}}]}}])",
                        program.text(), to_string(level), filter.bytes, filter.at,
                        to_base64(filter.equal))));
  return read_found_accounts(text);
}

Result<std::uint64_t> Rpc::priority_fee(std::span<const PublicKey> accounts) {
  const auto asked = accounts.first(std::min<std::size_t>(accounts.size(), 100));
  WEFT_ASSIGN(const std::string text,
              call("getRecentPrioritizationFees", weft::format("[[{}]]", quoted_keys(asked))));
  return read_priority_fee(text);
}

Result<Simulation> Rpc::simulate(ByteSpan transaction) {
  WEFT_ASSIGN(const std::string text, call("simulateTransaction", encoded(transaction, "")));
  return read_simulation(text);
}

Result<> Rpc::send(ByteSpan transaction) {
  // The node's preflight simulation is skipped: this client has simulated the transaction, and a
  // node that lags behind refuses transactions that others accept.
  WEFT_OK(call("sendTransaction", encoded(transaction, R"(,"skipPreflight":true,"maxRetries":0)")));
  return {};
}

Result<std::optional<SignatureStatus>> Rpc::status(const Signature& signature) {
  WEFT_ASSIGN(
      const std::string text,
      call("getSignatureStatuses",
           weft::format(R"([["{}"],{{"searchTransactionHistory":true}}])", signature.text())));
  return read_status(text);
}

Result<Lamports> Rpc::fee_of(const Signature& signature) {
  WEFT_ASSIGN(
      const std::string text,
      call("getTransaction", weft::format(R"(["{}",{{"encoding":"base64","commitment":"finalized",)"
                                          R"("maxSupportedTransactionVersion":0}}])",
                                          signature.text())));
  return read_fee(text, signature);
}

}  // namespace weft::chain
