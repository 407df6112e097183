// Deposits, vouchers, withdrawals and stakes: `weft chain deposit`, `voucher`, `charge`,
// `withdraw`, `stake`, `unstake`, `rewards`.
#include <cstdio>

#include "apps/cli/exit_code.h"
#include "apps/cli/files.h"
#include "apps/cli/settlement/act.h"
#include "apps/cli/wallet_choice.h"
#include "common/json/json.h"
#include "common/solana/instructions.h"

namespace weft::cli {
namespace {

Result<> deposit(const SettlementOptions& options) {
  WEFT_ASSIGN(const std::uint64_t amount, parse_credits(options.amount));
  WEFT_ASSIGN(const WalletLine m, wallet_line(options));
  WEFT_OK(has_tokens(m, amount));
  const PublicKey escrow = m.line.network.escrow(m.own());
  WEFT_ASSIGN(const chain::Lamports rent,
              m.line.rent_if_missing(escrow, solana::state_layout("escrow").bytes));
  solana::ProgramCall call = m.line.call("deposit");
  call.key("owner", m.own())
      .key("escrow", escrow)
      .key("from", m.own_tokens())
      .number("amount", amount);
  return call_once(options, m, call,
                   {.what = weft::format("Deposits {}.", credits_text(amount)), .rent = rent});
}

Result<> withdraw(const SettlementOptions& options) {
  if (options.finish == !options.amount.empty())
    return fail(ErrorCode::invalid_argument,
                "Give either an amount, or --finish to pay what was requested before.");
  WEFT_ASSIGN(const WalletLine m, wallet_line(options));
  const PublicKey escrow = m.line.network.escrow(m.own()), to = m.own_tokens();
  WEFT_OK(has_account(m, "escrow", escrow, "deposit"));
  if (options.finish) {
    OneCall more;
    WEFT_OK(make_own_tokens(m, more));
    solana::ProgramCall call = m.line.call("finish_withdrawal");
    call.key("owner", m.own()).key("escrow", escrow).key("to", to);
    more.what = "Pays the requested withdrawal.";
    return call_once(options, m, call, std::move(more));
  }
  WEFT_ASSIGN(const std::uint64_t amount, parse_credits(options.amount));
  if (options.coordinator_wallet.empty()) {
    solana::ProgramCall call = m.line.call("request_withdrawal");
    call.key("owner", m.own()).key("escrow", escrow).number("amount", amount);
    return call_once(
        options, m, call,
        {.what = weft::format("Requests {}, which --finish pays after {} s.", credits_text(amount),
                              m.line.config.number("timeout_seconds"))});
  }
  WEFT_ASSIGN(const crypto::KeyPair coordinator, wallet_there(options.coordinator_wallet));
  OneCall more;
  WEFT_OK(make_own_tokens(m, more));
  solana::ProgramCall call = m.line.call("withdraw");
  call.key("owner", m.own())
      .key("coordinator", coordinator.public_key())
      .key("escrow", escrow)
      .key("to", to)
      .number("amount", amount);
  more.what = weft::format("Withdraws {}.", credits_text(amount));
  more.signers = {&coordinator};
  return call_once(options, m, call, std::move(more));
}

// Prints {"owner": KEY, "cumulative": MICRO_CREDITS, "signature": SIGNATURE}.
Result<> voucher(const SettlementOptions& options) {
  WEFT_ASSIGN(const std::uint64_t amount, parse_credits(options.amount));
  WEFT_ASSIGN(const WalletLine m, wallet_line(options));
  const Hash digest = solana::voucher_digest(m.line.signing_place(), m.own(), amount);
  std::printf("%s\n", weft::format(R"({{"owner":"{}","cumulative":{},"signature":"{}"}})",
                                   m.own().text(), amount, m.wallet.sign_now(digest.span()).text())
                          .c_str());
  return {};
}

struct Voucher {
  PublicKey owner;
  std::uint64_t cumulative = 0;
  Signature signature;
};
Result<Voucher> read_voucher(const std::filesystem::path& path) {
  WEFT_ASSIGN(const ByteVector text, read_file(path));
  WEFT_ASSIGN(const json::Value root,
              json::parse(as_text(text), {.bytes_max = 65536, .depth_max = 4}));
  WEFT_ASSIGN(const json::Object object, root.object({"owner", "cumulative", "signature"}));
  WEFT_ASSIGN(const json::Value owner_value, object.get("owner"));
  WEFT_ASSIGN(const json::Value amount_value, object.get("cumulative"));
  WEFT_ASSIGN(const json::Value signature_value, object.get("signature"));
  Voucher out;
  WEFT_ASSIGN(const std::string owner_text, owner_value.string());
  WEFT_ASSIGN(out.cumulative, amount_value.unsigned_integer(std::uint64_t{1} << 62));
  WEFT_ASSIGN(const std::string signature_text, signature_value.string());
  WEFT_ASSIGN(out.owner, parse_key(owner_text, "an owner"));
  WEFT_ASSIGN(out.signature, Signature::parse(signature_text));
  return out;
}

Result<> charge(const SettlementOptions& options) {
  auto voucher = read_voucher(options.message);
  if (!voucher) return pass(std::move(voucher), "while reading {}", options.message.string());
  const auto& [owner, amount, signature] = *voucher;
  WEFT_ASSIGN(const WalletLine m, wallet_line(options));
  const Hash digest = solana::voucher_digest(m.line.signing_place(), owner, amount);
  if (!crypto::verify_now(owner, digest.span(), signature))
    return fail(ErrorCode::invalid_argument, "The voucher is not signed by {} for this network.",
                owner.text());
  solana::ProgramCall call = m.line.call("charge");
  call.key("escrow", m.line.network.escrow(owner)).number("cumulative", amount);
  const solana::SignedDigest signed_digest{.key = owner, .signature = signature, .digest = digest};
  return call_once(
      options, m, call,
      {.what = weft::format("Charges {} up to {} in all.", owner.text(), credits_text(amount)),
       .before = {solana::check_signatures({&signed_digest, 1})}});
}

Result<> stake(const SettlementOptions& options) {
  WEFT_ASSIGN(const std::uint64_t amount, parse_credits(options.amount));
  WEFT_ASSIGN(const WalletLine m, wallet_line(options));
  WEFT_OK(has_tokens(m, amount));
  const PublicKey address = m.line.network.stake(m.own());
  WEFT_ASSIGN(const chain::Lamports rent,
              m.line.rent_if_missing(address, solana::state_layout("stake").bytes));
  solana::ProgramCall call = m.line.call("stake");
  call.key("owner", m.own())
      .key("stake", address)
      .key("from", m.own_tokens())
      .number("amount", amount);
  return call_once(options, m, call,
                   {.what = weft::format("Stakes {}; leaving takes {} s.", credits_text(amount),
                                         m.line.config.number("unbonding_seconds")),
                    .rent = rent});
}

Result<> unstake(const SettlementOptions& options) {
  if (options.finish == !options.amount.empty())
    return fail(
        ErrorCode::invalid_argument,
        "Give either an amount that begins to unbond, or --finish to pay out what has unbonded.");
  WEFT_ASSIGN(const WalletLine m, wallet_line(options));
  const PublicKey address = m.line.network.stake(m.own());
  WEFT_OK(has_account(m, "stake", address, "stake"));
  if (options.finish) {
    OneCall more;
    WEFT_OK(make_own_tokens(m, more));
    solana::ProgramCall call = m.line.call("withdraw_stake");
    call.key("owner", m.own()).key("stake", address).key("to", m.own_tokens());
    more.what = "Pays out what has unbonded.";
    return call_once(options, m, call, std::move(more));
  }
  WEFT_ASSIGN(const std::uint64_t amount, parse_credits(options.amount));
  solana::ProgramCall call = m.line.call("unstake");
  call.key("owner", m.own()).key("stake", address).number("amount", amount);
  return call_once(
      options, m, call,
      {.what = weft::format("Begins to unbond {}, which stays slashable for {} s.",
                            credits_text(amount), m.line.config.number("unbonding_seconds"))});
}

Result<> rewards(const SettlementOptions& options) {
  WEFT_ASSIGN(const WalletLine m, wallet_line(options));
  WEFT_OK(has_account(m, "stake", m.line.network.stake(m.own()), "stake"));
  OneCall more;
  WEFT_OK(make_own_tokens(m, more));
  solana::ProgramCall call = m.line.call("take_rewards");
  call.key("owner", m.own()).key("stake", m.line.network.stake(m.own())).key("to", m.own_tokens());
  more.what = "Pays the rewards of the stake.";
  return call_once(options, m, call, std::move(more));
}

int money_done(const char* command, const Result<>& done) {
  return done ? 0 : report(command, done.error());
}

}  // namespace

int chain_deposit_command(const SettlementOptions& options) {
  return money_done("chain deposit", deposit(options));
}
int chain_withdraw_command(const SettlementOptions& options) {
  return money_done("chain withdraw", withdraw(options));
}
int chain_voucher_command(const SettlementOptions& options) {
  return money_done("chain voucher", voucher(options));
}
int chain_charge_command(const SettlementOptions& options) {
  return money_done("chain charge", charge(options));
}
int chain_stake_command(const SettlementOptions& options) {
  return money_done("chain stake", stake(options));
}
int chain_unstake_command(const SettlementOptions& options) {
  return money_done("chain unstake", unstake(options));
}
int chain_rewards_command(const SettlementOptions& options) {
  return money_done("chain rewards", rewards(options));
}

}  // namespace weft::cli
