// `weft chain status`: prints the amounts of a network, its epochs, and the accounts of one owner.
#include <cstdio>

#include "apps/cli/exit_code.h"
#include "apps/cli/settlement/line.h"
#include "apps/cli/wallet_choice.h"

namespace weft::cli {
namespace {

using solana::EpochState;

std::string_view state_word(EpochState state) {
  switch (state) {
    case EpochState::none:
      return "none";
    case EpochState::pending:
      return "pending";
    case EpochState::final:
      return "final";
    case EpochState::voided:
      return "void";
  }
  return "";
}

constexpr std::string_view shown_totals[] = {
    "last_epoch",       "last_amount",  "emitted",        "charged",
    "spends_posted",    "final_spends", "final_emission", "claimed_spends",
    "claimed_emission", "deposits",     "withdrawals",    "fees",
    "burned",           "staked",       "proposals",      "genesis_time",
    "epoch_seconds",    "cap",          "initial"};

std::string epochs_json(const SettlementLine& line) {
  std::string out;
  for (std::uint64_t slot = 0; slot < solana::epochs_remembered; ++slot) {
    if (line.epoch_state(slot) == EpochState::none) continue;
    out += weft::format(
        R"({}{{"epoch":{},"state":"{}","root":"{}","amount":{},"units":{},"emission":{},"spends":{},"bond":{},"demands":{},"posted_at":{}}})",
        out.empty() ? "" : ",", line.epoch_number(slot, "epoch"),
        state_word(line.epoch_state(slot)), to_hex(line.epoch_root(slot).span()),
        line.epoch_number(slot, "amount"), line.epoch_number(slot, "units"),
        line.epoch_number(slot, "emission"), line.epoch_number(slot, "spends"),
        line.epoch_number(slot, "bond"), line.epoch_number(slot, "demands"),
        line.epoch_number(slot, "posted_at"));
  }
  return out;
}

struct Holding {
  PublicKey owner;
  std::uint64_t tokens = 0, lamports = 0;
  std::optional<solana::ProgramState> escrow, stake;
};
Result<std::optional<Holding>> holding_of(const SettlementOptions& options,
                                          const SettlementLine& line) {
  Holding out;
  if (!options.owner.empty()) {
    WEFT_ASSIGN(out.owner, parse_key(options.owner, "an owner"));
  } else if (!options.wallet.empty()) {
    WEFT_ASSIGN(const crypto::KeyPair wallet, wallet_there(options.wallet));
    out.owner = wallet.public_key();
  } else {
    return std::nullopt;
  }
  WEFT_ASSIGN(out.tokens, tokens_in(*line.rpc, line.tokens_of(out.owner)));
  WEFT_ASSIGN(out.lamports, line.rpc->balance(out.owner));
  WEFT_ASSIGN(out.escrow, line.state("escrow", line.network.escrow(out.owner)));
  WEFT_ASSIGN(out.stake, line.state("stake", line.network.stake(out.owner)));
  return out;
}

std::string members_json(const std::optional<solana::ProgramState>& state,
                         std::initializer_list<std::string_view> fields) {
  if (!state) return "null";
  std::string out;
  for (const std::string_view field : fields)
    out += weft::format("{}\"{}\":{}", out.empty() ? "" : ",", field, state->number(field));
  return "{" + out + "}";
}

std::string holding_json(const Holding& holding) {
  return weft::format(R"(,"owner":{{"key":"{}","tokens":{},"lamports":{},"escrow":{},"stake":{}}})",
                      holding.owner.text(), holding.tokens, holding.lamports,
                      members_json(holding.escrow, {"deposited", "withdrawn", "charged",
                                                    "requested", "requested_at"}),
                      members_json(holding.stake, {"amount", "unbonding", "unbond_at", "staked_at",
                                                   "locked_until", "rewards"}));
}

std::string holding_text(const Holding& holding) {
  std::string out = weft::format("\n{}\n  tokens    {}\n  SOL       {}\n", holding.owner.text(),
                                 credits_text(holding.tokens), sol_text(holding.lamports));
  if (holding.escrow) {
    const auto& e = *holding.escrow;
    out += weft::format(
        "  deposit   {} of {} unspent\n",
        credits_text(e.number("deposited") - e.number("withdrawn") - e.number("charged")),
        credits_text(e.number("deposited") - e.number("withdrawn")));
  }
  if (holding.stake)
    out += weft::format("  stake     {}, {} unbonding\n",
                        credits_text(holding.stake->number("amount")),
                        credits_text(holding.stake->number("unbonding")));
  return out;
}

Result<> status(const SettlementOptions& options) {
  WEFT_ASSIGN(const SettlementLine line, settlement_line(options));
  WEFT_ASSIGN(const std::uint64_t time, chain_time(*line.rpc));
  WEFT_ASSIGN(const std::uint64_t vault, tokens_in(*line.rpc, line.config.key("vault")));
  WEFT_ASSIGN(const std::optional<Holding> holding, holding_of(options, line));
  const auto& config = line.config;
  const bool frozen = config.number("frozen") != 0;
  if (options.json) {
    std::string totals, parameters;
    for (const std::string_view name : shown_totals)
      totals += weft::format(",\"{}\":{}", name, config.number(name));
    for (const auto& parameter : solana::parameter_bounds())
      parameters += weft::format("{}\"{}\":{}", parameters.empty() ? "" : ",", parameter.name,
                                 config.number(parameter.name));
    std::printf(
        "%s\n",
        weft::format(R"({{"program":"{}","mint":"{}","time":{},"frozen":{},"vault":{}{},)"
                     R"("parameters":{{{}}},"epochs":[{}]{}}})",
                     line.network.program.text(), line.network.mint.text(), time, frozen, vault,
                     totals, parameters, epochs_json(line), holding ? holding_json(*holding) : "")
            .c_str());
    return {};
  }
  std::string out = weft::format(
      "vault       {}\nstaked      {}\ncharged     {}, {} of it claimed\nemission    {} posted, {} "
      "claimed\nlast epoch  {}{}\n",
      credits_text(vault), credits_text(config.number("staked")),
      credits_text(config.number("charged")), credits_text(config.number("claimed_spends")),
      credits_text(config.number("emitted")), credits_text(config.number("claimed_emission")),
      config.number("last_epoch"), frozen ? "; posts are frozen by a guardian" : "");
  for (std::uint64_t slot = 0; slot < solana::epochs_remembered; ++slot)
    if (line.epoch_state(slot) != EpochState::none)
      out += weft::format("  epoch {:>6}  {:<8} {} in all\n", line.epoch_number(slot, "epoch"),
                          state_word(line.epoch_state(slot)),
                          credits_text(line.epoch_number(slot, "amount")));
  for (const auto& parameter : solana::parameter_bounds())
    out += weft::format("  {:<18} {}\n", parameter.name, config.number(parameter.name));
  if (holding) out += holding_text(*holding);
  std::fputs(out.c_str(), stdout);
  return {};
}

}  // namespace

int chain_status_command(const SettlementOptions& options) {
  const auto done = status(options);
  return done ? 0 : report("chain status", done.error());
}

}  // namespace weft::cli
