// Requests to a Solana node over JSON-RPC, as functions: those that settlement needs.
//
// Blocking; any thread. Fails with unavailable or deadline_exceeded if the node does not answer (it
// may have carried out the request), invalid_argument if the node refuses with a reason, and
// data_loss if the answer does not have the documented form.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/base/bytes.h"
#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/json/json.h"
#include "common/solana/transaction.h"
#include "platform/net/client.h"

namespace weft::chain {

// The level to which a cluster has agreed on a transaction. A finalized transaction is not taken
// back.
enum class Confirmation : std::uint8_t { processed, confirmed, finalized };
[[nodiscard]] std::string_view to_string(Confirmation level);
[[nodiscard]] Result<Confirmation> confirmation_from(std::string_view word);

using Lamports = std::uint64_t;

struct RecentBlockhash {
  Hash hash;
  std::uint64_t last_valid_height =
      0;  // The last block height at which a transaction with this hash can land.
};
struct AccountData {
  Lamports lamports = 0;
  PublicKey owner;
  ByteVector data;
};
// The reason for which a transaction failed: the instruction, and the program's own error number if
// it has one.
struct TransactionFailure {
  std::string text;  // The failure in the node's own words.
  std::optional<std::uint32_t> custom;
  std::optional<std::uint32_t> instruction;
};
struct SignatureStatus {
  std::uint64_t slot = 0;
  Confirmation level = Confirmation::processed;
  std::optional<TransactionFailure> failure;
};
struct Simulation {
  std::uint64_t units = 0;
  std::optional<TransactionFailure> failure;
  std::vector<std::string> logs;
};

class Rpc {
 public:
  struct Options {
    std::string url;
    net::TlsOptions tls = {};
    Duration timeout = std::chrono::seconds(20);
  };
  [[nodiscard]] static Result<std::unique_ptr<Rpc>> create(const Options& options);

  [[nodiscard]] Result<Hash> genesis_hash();
  [[nodiscard]] Result<std::uint64_t> block_height();
  [[nodiscard]] Result<RecentBlockhash> latest_blockhash();
  [[nodiscard]] Result<Lamports> rent_of(std::size_t bytes);
  [[nodiscard]] Result<Lamports> balance(const PublicKey& key);
  // Returns nullopt if the account does not exist.
  [[nodiscard]] Result<std::optional<AccountData>> account(const PublicKey& key);
  // Reads up to 100 accounts; the answers are in the order of the keys.
  [[nodiscard]] Result<std::vector<std::optional<AccountData>>> accounts(
      std::span<const PublicKey> keys);
  // Finds all accounts of a program that have a given size and given bytes at a given offset, in
  // the state of the given confirmation level.
  struct AccountFilter {
    std::size_t bytes = 0;
    std::size_t at = 0;
    ByteSpan equal;
  };
  struct FoundAccounts {
    std::uint64_t slot = 0;  // The slot at which the accounts had this state.
    std::vector<AccountData> accounts;
  };
  [[nodiscard]] Result<FoundAccounts> accounts_of(const PublicKey& program,
                                                  const AccountFilter& filter, Confirmation level);
  // The median of the prices for a compute unit, in micro-lamports, that recent transactions on
  // these accounts paid; 0 if there is none.
  [[nodiscard]] Result<std::uint64_t> priority_fee(std::span<const PublicKey> accounts);
  [[nodiscard]] Result<Simulation> simulate(ByteSpan transaction);
  // Hands the bytes to the node. Its acceptance does not say if the transaction lands. The same
  // bytes land at most once.
  [[nodiscard]] Result<> send(ByteSpan transaction);
  // Returns nullopt if the node does not know the signature, which does not mean that the
  // transaction failed.
  [[nodiscard]] Result<std::optional<SignatureStatus>> status(const Signature& signature);

  // The fees that a finalized transaction paid. Fails with unavailable if the node does not know
  // the transaction.
  [[nodiscard]] Result<Lamports> fee_of(const Signature& signature);

  // Calls any method. `parameters` is a JSON array. Returns the text of the answer's `result`.
  [[nodiscard]] Result<std::string> call(std::string_view method, std::string_view parameters);

 private:
  Rpc(std::unique_ptr<net::Client> client, Duration timeout)
      : client_(std::move(client)), timeout_(timeout) {}
  std::unique_ptr<net::Client> client_;
  Duration timeout_;
};

}  // namespace weft::chain
