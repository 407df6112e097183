// Gets transactions onto the chain, each once. What is signed has a blockhash, so it lands up to a
// known height and never later, and the same bytes land once at most. So the same bytes are sent
// until the cluster agrees on them or their height has passed and no node knows them; only then is
// the instruction signed again. A transaction that is signed is handed to `keep` before it is first
// sent: a caller that stores it there and calls follow() after a crash pays once, however often it
// crashes.
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
  std::vector<const crypto::KeyPair*> signers = {};  // Besides the payer.
};
// What a plan costs the payer besides the rent of accounts that it makes.
struct Quote {
  std::uint64_t units = 0;           // As simulated.
  std::uint64_t unit_limit = 0;      // What is asked for, a tenth more.
  std::uint64_t micro_lamports = 0;  // Price of a unit: the priority fee.
  Lamports signature_fee = 0;
  Lamports priority_fee = 0;

  [[nodiscard]] Lamports total() const { return signature_fee + priority_fee; }
};
// For the signatures of a plan, and for those that it brings along to be checked.
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
        std::nullopt;  // nullopt: the median of recent fees.
    std::uint64_t micro_lamports_max = 1'000'000;
    // The longest time between two questions; the first come after an eighth of it, then twice as
    // long each.
    Duration poll = std::chrono::milliseconds(500);
    Duration silence_max =
        std::chrono::seconds(60);  // A node that answers nothing for so long is unavailable.
    int signings_max = 3;
    std::function<Result<>(const SignedTransaction&)> keep = {};
    std::stop_token stop = {};
  };
  Sender(Rpc& rpc, Options options) : rpc_(rpc), options_(std::move(options)) {}

  // Simulates. permission_denied, with the program's own sentence, where the plan would fail.
  [[nodiscard]] Result<Quote> quote(const Plan& plan);
  // Signs, keeps, sends and follows; signs again after the height has passed. permission_denied
  // if it landed and failed.
  [[nodiscard]] Result<Landed> send(const Plan& plan, const Quote& quote);
  // Signs, keeps and sends once; whether it lands is the caller's to see. For what may land twice.
  [[nodiscard]] Result<SignedTransaction> launch(const Plan& plan, const Quote& quote);
  // Sends the same bytes until they land (Landed), can no longer land (deadline_exceeded), or the
  // node is silent for too long (unavailable: they may still land up to their height).
  [[nodiscard]] Result<Landed> follow(const SignedTransaction& transaction);

 private:
  [[nodiscard]] Result<SignedTransaction> sign(const Plan& plan, const Quote& quote);
  Rpc& rpc_;
  Options options_;
};

// The sentence of a failure: the program's own where `program` failed with a number of its checks.
[[nodiscard]] std::string failure_text(const TransactionFailure& failure);

}  // namespace weft::chain
