// Brings instructions onto the chain, each exactly once. A signed transaction has a blockhash, so
// it can land only up to a known height, and its bytes land at most once. The Sender therefore
// sends the same bytes until the cluster agrees on them, or until their height has passed and no
// node knows them; only then is the instruction signed again. A signed transaction is handed to
// `keep` before it is first sent: a caller whose `keep` stores it and that calls follow() after a
// crash pays once, however often it crashes.
//
// Blocking; one thread at a time for each Sender.
#pragma once

#include <functional>
#include <stop_token>
#include <vector>

#include "common/crypto/keys.h"
#include "platform/chain/rpc.h"

namespace weft::chain {

inline constexpr Lamports lamports_a_signature = 5000;
inline constexpr std::uint64_t units_max = 1'400'000;

struct Plan {
  std::vector<solana::Instruction> instructions;
  const crypto::KeyPair* payer = nullptr;
  std::vector<const crypto::KeyPair*> signers = {};  // The signers other than the payer.
};
// The cost of a plan for the payer, without the rent of accounts that it creates.
struct Quote {
  std::uint64_t units = 0;           // The compute units used in the simulation.
  std::uint64_t unit_limit = 0;      // The requested units: a tenth more than `units`.
  std::uint64_t micro_lamports = 0;  // The priority fee for a compute unit.
  Lamports signature_fee = 0;
  Lamports priority_fee = 0;

  [[nodiscard]] Lamports total() const { return signature_fee + priority_fee; }
};
// The fee for the signatures of a plan, and for signatures that its instructions have checked.
[[nodiscard]] Lamports signature_fee(const Plan& plan);
struct SignedTransaction {
  ByteVector bytes;
  Signature signature;
  std::uint64_t last_valid_height = 0;
};
struct Landed {
  Signature signature;
  std::uint64_t slot = 0;
  Confirmation level = Confirmation::processed;
};

class Sender {
 public:
  struct Options {
    Confirmation level = Confirmation::confirmed;
    std::optional<std::uint64_t> micro_lamports =
        std::nullopt;  // nullopt takes the median of recent fees.
    std::uint64_t micro_lamports_max = 1'000'000;
    // The longest time between two requests. The first wait is an eighth of it, and each further
    // wait doubles.
    Duration poll = std::chrono::milliseconds(500);
    Duration silence_max =
        std::chrono::seconds(60);  // The node is unavailable after this time without an answer.
    int signings_max = 3;
    std::function<Result<>(const SignedTransaction&)> keep = {};
    std::stop_token stop = {};
  };
  Sender(Rpc& rpc, Options options) : rpc_(rpc), options_(std::move(options)) {}

  // Simulates the plan. Fails with permission_denied, and the program's own message, if the plan
  // would fail.
  [[nodiscard]] Result<Quote> quote(const Plan& plan);
  // Signs, keeps, sends and follows a transaction; signs again after its last height has passed.
  // Fails with permission_denied if the transaction landed and failed.
  [[nodiscard]] Result<Landed> send(const Plan& plan, const Quote& quote);
  // Signs, keeps and sends once, for transactions that may land twice; the caller checks if it
  // lands.
  [[nodiscard]] Result<SignedTransaction> launch(const Plan& plan, const Quote& quote);
  // Sends the same bytes until they land (Landed), can no longer land (deadline_exceeded), or the
  // node is silent for too long (unavailable: they may still land up to their last height).
  [[nodiscard]] Result<Landed> follow(const SignedTransaction& transaction);

 private:
  [[nodiscard]] Result<SignedTransaction> sign(const Plan& plan, const Quote& quote);
  Rpc& rpc_;
  Options options_;
};

// The text of a failure: the program's own message if the failure is one of the program's checks.
[[nodiscard]] std::string failure_text(const TransactionFailure& failure);

}  // namespace weft::chain
