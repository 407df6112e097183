// A node of Solana over JSON-RPC: what settlement asks of one, as functions.
//
// Blocking; any thread. Errors: unavailable and deadline_exceeded where the node does not answer
// (the request may have been carried out), invalid_argument if it refuses with a reason,
// data_loss if its answer is not what the interface says.
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

// How far a cluster has agreed on a transaction. A finalized one is not taken back.
enum class Confirmation : std::uint8_t { processed, confirmed, finalized };
[[nodiscard]] std::string_view to_string(Confirmation level);
[[nodiscard]] Result<Confirmation> confirmation_from(std::string_view word);

using Lamports = std::uint64_t;

struct RecentBlockhash {
  Hash hash;
  std::uint64_t last_valid_height =
      0;  // A transaction with this hash lands up to here, and never later.
};
struct AccountData {
  Lamports lamports = 0;
  PublicKey owner;
  ByteVector data;
};
// Why a transaction failed: the instruction, and the program's own number where it has one.
struct TransactionFailure {
  std::string text;  // As the node writes it.
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
  // nullopt if there is no such account.
  [[nodiscard]] Result<std::optional<AccountData>> account(const PublicKey& key);
  // The same for up to 100 of them, in their order.
  [[nodiscard]] Result<std::vector<std::optional<AccountData>>> accounts(
      std::span<const PublicKey> keys);
  // All accounts of a program that have this size and these bytes at this place, as they are where
  // the cluster has agreed so far.
  struct AccountFilter {
    std::size_t bytes = 0;
    std::size_t at = 0;
    ByteSpan equal;
  };
  struct FoundAccounts {
    std::uint64_t slot = 0;  // Whose state they are.
    std::vector<AccountData> accounts;
  };
  [[nodiscard]] Result<FoundAccounts> accounts_of(const PublicKey& program,
                                                  const AccountFilter& filter, Confirmation level);
  // Micro-lamports for a compute unit that recent transactions on these accounts paid: the median,
  // 0 where none did.
  [[nodiscard]] Result<std::uint64_t> priority_fee(std::span<const PublicKey> accounts);
  [[nodiscard]] Result<Simulation> simulate(ByteSpan transaction);
  // Hands the bytes to the node; that it took them says nothing of whether they land. The same
  // bytes land once at most.
  [[nodiscard]] Result<> send(ByteSpan transaction);
  // nullopt: not known, which is not the same as failed.
  [[nodiscard]] Result<std::optional<SignatureStatus>> status(const Signature& signature);

  // What a transaction on which the cluster has finally agreed paid in fees; unavailable if the
  // node does not know it.
  [[nodiscard]] Result<Lamports> fee_of(const Signature& signature);

  // Any method; `parameters` is a JSON array. The text of the answer's `result`.
  [[nodiscard]] Result<std::string> call(std::string_view method, std::string_view parameters);

 private:
  Rpc(std::unique_ptr<net::Client> client, Duration timeout)
      : client_(std::move(client)), timeout_(timeout) {}
  std::unique_ptr<net::Client> client_;
  Duration timeout_;
};

}  // namespace weft::chain
