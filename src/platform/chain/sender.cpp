#include "platform/chain/sender.h"

#include <algorithm>
#include <set>
#include <thread>

#include "common/base/log.h"
#include "common/solana/address.h"
#include "common/solana/program.h"

namespace weft::chain {
namespace {

constexpr std::uint32_t first_check = 0x1000;  // First error number of the program's checks.

solana::Instruction budget(std::uint8_t kind, std::uint64_t value, std::size_t bytes) {
  solana::Instruction out{
      .program = solana::compute_budget_program(), .accounts = {}, .data = {kind}};
  for (std::size_t i = 0; i < bytes; ++i)
    out.data.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
  return out;
}
std::vector<solana::Instruction> with_budget(const Plan& plan, std::uint64_t limit,
                                             std::uint64_t price) {
  std::vector<solana::Instruction> out = {budget(2, limit, 4)};
  if (price > 0) out.push_back(budget(3, price, 8));
  out.insert(out.end(), plan.instructions.begin(), plan.instructions.end());
  return out;
}

Result<ByteVector> sign_message(const solana::Message& message, const Plan& plan) {
  solana::Transaction out{.signatures = {}, .message = message};
  const ByteVector bytes = solana::encode(message);
  for (std::size_t i = 0; i < message.signers; ++i) {
    const crypto::KeyPair* with = plan.payer;
    for (const crypto::KeyPair* one : plan.signers)
      if (one->public_key() == message.keys[i]) with = one;
    if (with->public_key() != message.keys[i])
      return fail(ErrorCode::invalid_argument, "The transaction needs the signature of {}.",
                  message.keys[i].text());
    out.signatures.push_back(with->sign_now(bytes));
  }
  ByteVector encoded = solana::encode(out);
  if (encoded.size() > solana::transaction_bytes_max)
    return fail(ErrorCode::invalid_argument,
                "The transaction has {} bytes; at most {} are allowed.", encoded.size(),
                solana::transaction_bytes_max);
  return encoded;
}

}  // namespace

Lamports signature_fee(const Plan& plan) {
  std::set<PublicKey> signers = {plan.payer->public_key()};
  for (const crypto::KeyPair* one : plan.signers) signers.insert(one->public_key());
  std::size_t checked = 0;
  for (const auto& one : plan.instructions)
    if (one.program == solana::ed25519_program() && !one.data.empty()) checked += one.data[0];
  return lamports_a_signature * (signers.size() + checked);
}

std::string failure_text(const TransactionFailure& failure) {
  if (failure.custom && *failure.custom >= first_check)
    return weft::format("the program refuses it: {}", solana::refusal_text(*failure.custom));
  return failure.text;
}

Result<Quote> Sender::quote(const Plan& plan) {
  WEFT_ASSIGN(const RecentBlockhash recent, rpc_.latest_blockhash());
  const auto instructions = with_budget(plan, units_max, 0);
  WEFT_ASSIGN(const solana::Message message, solana::compile({.payer = plan.payer->public_key(),
                                                              .instructions = instructions,
                                                              .blockhash = recent.hash}));
  // The simulated transaction is not signed, because a dishonest node could send a signed one in
  // addition to the real transaction.
  const ByteVector bytes = solana::encode(solana::Transaction{
      .signatures = std::vector<Signature>(message.signers), .message = message});
  WEFT_ASSIGN(const Simulation trial, rpc_.simulate(bytes));
  if (trial.failure)
    return fail(ErrorCode::permission_denied, "The transaction would fail: {}.",
                failure_text(*trial.failure));
  Quote out{.units = trial.units};
  out.unit_limit = std::min(units_max, trial.units + trial.units / 10 + 1000);
  if (options_.micro_lamports) {
    out.micro_lamports = *options_.micro_lamports;
  } else {
    std::vector<PublicKey> writable;
    for (const auto& one : plan.instructions)
      for (const auto& account : one.accounts)
        if (account.writable) writable.push_back(account.key);
    WEFT_ASSIGN(const std::uint64_t fee, rpc_.priority_fee(writable));
    out.micro_lamports = std::min(fee, options_.micro_lamports_max);
  }
  out.signature_fee = signature_fee(plan);
  out.priority_fee = (out.unit_limit * out.micro_lamports + 999'999) / 1'000'000;
  return out;
}

Result<SignedTransaction> Sender::sign(const Plan& plan, const Quote& quote) {
  WEFT_ASSIGN(const RecentBlockhash recent, rpc_.latest_blockhash());
  const auto instructions = with_budget(plan, quote.unit_limit, quote.micro_lamports);
  WEFT_ASSIGN(const solana::Message message, solana::compile({.payer = plan.payer->public_key(),
                                                              .instructions = instructions,
                                                              .blockhash = recent.hash}));
  SignedTransaction out;
  WEFT_ASSIGN(out.bytes, sign_message(message, plan));
  std::copy_n(out.bytes.begin() + 1, Signature::size, out.signature.bytes.begin());
  out.last_valid_height = recent.last_valid_height;
  return out;
}

Result<Landed> Sender::follow(const SignedTransaction& transaction) {
  Instant heard = now();
  for (Duration wait = options_.poll / 8;; wait = std::min(2 * wait, options_.poll)) {
    if (options_.stop.stop_requested())
      return fail(ErrorCode::cancelled, "Stopped while {} was on its way; it may still land.",
                  transaction.signature.text());
    // The height is asked before the status: a transaction that is unknown after its last height
    // has passed stays unknown.
    const auto height = rpc_.block_height();
    const auto status =
        height ? rpc_.status(transaction.signature)
               : Result<std::optional<SignatureStatus>>(std::unexpected(height.error()));
    if (height || status) heard = now();
    if (status) {
      if (*status && (*status)->level >= options_.level) {
        if ((*status)->failure)
          return fail(ErrorCode::permission_denied, "The transaction {} landed and failed: {}.",
                      transaction.signature.text(), failure_text(*(*status)->failure));
        return Landed{transaction.signature, (*status)->slot, (*status)->level};
      }
      if (!*status && *height > transaction.last_valid_height)
        return fail(ErrorCode::deadline_exceeded,
                    "The transaction {} has not landed up to height {}, its last.",
                    transaction.signature.text(), transaction.last_valid_height);
    } else if (now() - heard > options_.silence_max) {
      return fail(
          ErrorCode::unavailable,
          "The node does not answer ({}); the transaction {} may still land up to height {}.",
          status.error().message, transaction.signature.text(), transaction.last_valid_height);
    }
    // The node's acceptance of the bytes decides nothing; only the status does.
    if (!status || !*status) {
      if (const auto sent = rpc_.send(transaction.bytes); !sent)
        log_debug("{}", sent.error().message);
      else
        heard = now();
    }
    std::this_thread::sleep_for(wait);
  }
}

Result<SignedTransaction> Sender::launch(const Plan& plan, const Quote& quote) {
  WEFT_ASSIGN(SignedTransaction transaction, sign(plan, quote));
  if (options_.keep) WEFT_OK(options_.keep(transaction));
  WEFT_OK(rpc_.send(transaction.bytes));
  return transaction;
}

Result<Landed> Sender::send(const Plan& plan, const Quote& quote) {
  for (int signing = 1;; ++signing) {
    WEFT_ASSIGN(const SignedTransaction transaction, sign(plan, quote));
    if (options_.keep) WEFT_OK(options_.keep(transaction));
    auto landed = follow(transaction);
    if (landed || landed.error().code != ErrorCode::deadline_exceeded ||
        signing == options_.signings_max)
      return landed;
  }
}

}  // namespace weft::chain
