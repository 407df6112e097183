// `weft chain init`: creates a mint, its vaults and the network's config, in two transactions. The
// mint's key signs both transactions, so no other account can replace the mint between them. An
// interrupted run can be continued.
#include <algorithm>
#include <charconv>
#include <span>

#include "apps/cli/exit_code.h"
#include "apps/cli/settlement/act.h"
#include "apps/cli/wallet_choice.h"
#include "common/crypto/wallet.h"
#include "common/solana/address.h"
#include "common/solana/instructions.h"

namespace weft::cli {
namespace {

constexpr std::uint64_t hour = 3'600, day = 24 * hour;
constexpr std::size_t guardians_most = 5;

struct ParameterDefault {
  std::string_view name;
  std::uint64_t value;
};
// The initial parameters of a network, which --set and later votes change.
constexpr ParameterDefault parameter_defaults[] = {{"fee_bps", 100},
                                                   {"challenge_seconds", 12 * hour},
                                                   {"unbonding_seconds", 14 * day},
                                                   {"evidence_seconds", 7 * day},
                                                   {"timeout_seconds", 3 * day},
                                                   {"voting_seconds", 3 * day},
                                                   {"delay_seconds", 15 * day},
                                                   {"bond_min", 1'000'000},
                                                   {"bounty_bps", 1'000},
                                                   {"post_bps", 500},
                                                   {"quorum_bps", 2'000},
                                                   {"proposal_stake", 10'000'000},
                                                   {"demand_lamports", 10'000'000}};

Result<> set_parameters(const SettlementOptions& options, solana::ProgramCall& call) {
  for (const auto& [name, value] : parameter_defaults) call.number(name, value);
  for (const std::string& text : options.parameters) {
    const std::size_t at = text.find('=');
    const std::string_view name = std::string_view(text).substr(0, at);
    const auto bounds =
        std::ranges::find(solana::parameter_bounds(), name, &solana::ParameterBounds::name);
    std::uint64_t value = 0;
    const char* const end = text.data() + text.size();
    const bool number = at != std::string::npos &&
                        std::from_chars(text.data() + at + 1, end, value).ptr == end &&
                        at + 1 < text.size();
    if (bounds == solana::parameter_bounds().end() || !number)
      return fail(ErrorCode::invalid_argument,
                  "--set takes NAME=NUMBER with a parameter of `weft chain status`, such as "
                  "fee_bps=100, not \"{}\".",
                  text.substr(0, 100));
    if (value < bounds->least || value > bounds->most)
      return fail(ErrorCode::invalid_argument, "The parameter {} must be from {} to {}, not {}.",
                  bounds->name, bounds->least, bounds->most, value);
    call.number(bounds->name, value);
  }
  return {};
}

Result<> set_numbers(const SettlementOptions& options, chain::Rpc& rpc, solana::ProgramCall& call) {
  std::uint64_t genesis_time = 0;
  if (options.genesis_time) {
    genesis_time = *options.genesis_time;
  } else {
    WEFT_ASSIGN(genesis_time, chain_time(rpc));
  }
  call.number("genesis_time", genesis_time);
  call.number("epoch_seconds",
              static_cast<std::uint64_t>(options.epoch_hours * static_cast<double>(hour)));
  call.number("halving_epochs", options.halving_epochs);
  const auto amount = [&](const char* field, const std::string& text) -> Result<> {
    WEFT_ASSIGN(const std::uint64_t value, parse_credits(text));
    call.number(field, value);
    return {};
  };
  WEFT_OK(amount("emission_first", options.emission));
  WEFT_OK(amount("cap", options.cap));
  WEFT_OK(amount("initial", options.initial));
  return amount("founders_amount", options.founders_amount);
}

Result<> set_keys(const SettlementOptions& options, chain::Rpc& rpc, const PublicKey& own,
                  solana::ProgramCall& call) {
  PublicKey poster = own, coordinator = own;
  if (!options.poster.empty()) {
    WEFT_ASSIGN(poster, parse_key(options.poster, "a poster"));
  }
  if (!options.coordinator.empty()) {
    WEFT_ASSIGN(coordinator, parse_key(options.coordinator, "a coordinator"));
  }
  WEFT_ASSIGN(const Hash genesis, rpc.genesis_hash());
  PublicKey cluster;
  cluster.bytes = genesis.bytes;
  call.data_key("poster", poster).data_key("coordinator", coordinator).data_key("genesis", cluster);
  if (options.guardians.empty() || options.guardians.size() > guardians_most ||
      options.guardian_quorum < 1 || options.guardian_quorum > options.guardians.size())
    return fail(ErrorCode::invalid_argument,
                "A network needs 1 to {} guardians (--guardian KEY), and a quorum "
                "(--guardian-quorum) from 1 to their number.",
                guardians_most);
  for (std::size_t i = 0; i < options.guardians.size(); ++i) {
    WEFT_ASSIGN(const PublicKey guardian, parse_key(options.guardians[i], "a guardian"));
    const auto named = std::span(options.guardians);
    if (std::ranges::contains(named.first(i), options.guardians[i]))
      return fail(ErrorCode::invalid_argument, "The guardian {} is named twice.", guardian.text());
    call.data_key("guardians", guardian, i);
  }
  call.number("guardian_count", options.guardians.size());
  call.number("guardian_quorum", options.guardian_quorum);
  return {};
}

// Creates the accounts that the config needs: the mint, and three vaults at addresses that are
// derived from the config.
Result<Act> accounts_act(chain::Rpc& rpc, const crypto::KeyPair& wallet,
                         const crypto::KeyPair& mint, const PublicKey& config) {
  WEFT_ASSIGN(const chain::Lamports mint_rent, rpc.rent_of(solana::mint_bytes));
  WEFT_ASSIGN(const chain::Lamports vault_rent, rpc.rent_of(solana::token_account_bytes));
  const PublicKey payer = wallet.public_key(), key = mint.public_key();
  const PublicKey tokens = solana::token_program();
  Act act{.what = weft::format("Makes the mint {} with its three vaults.", key.text()),
          .plan = {.instructions = {solana::create_account({.payer = payer,
                                                            .address = key,
                                                            .lamports = mint_rent,
                                                            .bytes = solana::mint_bytes,
                                                            .owner = tokens}),
                                    solana::initialize_mint(key, config)},
                   .payer = &wallet,
                   .signers = {&mint}},
          .rent = mint_rent + 3 * vault_rent};
  for (const std::string_view seed : {"vault", "stake_vault", "treasury"}) {
    act.plan.instructions.push_back(
        solana::create_seeded_account({.payer = payer,
                                       .address = {},
                                       .lamports = vault_rent,
                                       .bytes = solana::token_account_bytes,
                                       .owner = tokens},
                                      key, seed));
    act.plan.instructions.push_back(
        solana::initialize_token_account(solana::seeded_address(key, seed, tokens), key, config));
  }
  return act;
}

Result<Act> init_act(const SettlementOptions& options, chain::Rpc& rpc,
                     const solana::Network& network, const crypto::KeyPair& wallet,
                     const crypto::KeyPair& mint) {
  const PublicKey payer = wallet.public_key(), key = mint.public_key();
  PublicKey founders = payer;
  if (!options.founders.empty()) {
    WEFT_ASSIGN(founders, parse_key(options.founders, "the founders"));
  }
  const PublicKey tokens = solana::token_program();
  solana::ProgramCall call = solana::ProgramCall::named("init").value();
  call.key("payer", payer)
      .key("mint", key)
      .key("config", network.config())
      .key("vault", solana::seeded_address(key, "vault", tokens))
      .key("stake_vault", solana::seeded_address(key, "stake_vault", tokens))
      .key("treasury", solana::seeded_address(key, "treasury", tokens))
      .key("founders", solana::associated_token_account(founders, key));
  WEFT_OK(set_keys(options, rpc, payer, call));
  WEFT_OK(set_numbers(options, rpc, call));
  WEFT_OK(set_parameters(options, call));
  WEFT_ASSIGN(const solana::Instruction instruction, call.build(network.program));
  WEFT_ASSIGN(const chain::Lamports config_rent, rpc.rent_of(solana::state_layout("config").bytes));
  WEFT_ASSIGN(const chain::Lamports founders_rent, rpc.rent_of(solana::token_account_bytes));
  return Act{.what = weft::format("Makes the network: {} credits at the start, {} of them to {}.",
                                  options.initial, options.founders_amount, founders.text()),
             .plan = {.instructions = {solana::create_associated_account(payer, founders, key),
                                       instruction},
                      .payer = &wallet,
                      .signers = {&mint}},
             .rent = config_rent + founders_rent};
}

Result<> init(const SettlementOptions& options) {
  WEFT_ASSIGN(const auto rpc, settlement_node(options));
  WEFT_ASSIGN(const crypto::KeyPair wallet, wallet_there(options.wallet));
  solana::Network network;
  WEFT_ASSIGN(network.program, parse_key(options.program, "a program"));
  WEFT_ASSIGN(const crypto::KeyPair mint, crypto::load_or_create_wallet(options.mint_key));
  network.mint = mint.public_key();
  const PublicKey config = network.config();
  WEFT_ASSIGN(const auto there, rpc->account(config));
  if (there && there->owner == network.program) {
    WEFT_OK(write_network_file(options, *rpc, network));
    return fail(ErrorCode::already_exists,
                "The mint {} already has a network, which the file {} describes. Another network "
                "needs another --mint-key file.",
                network.mint.text(), options.out.string());
  }
  std::vector<Act> acts;
  WEFT_ASSIGN(const auto mint_there, rpc->account(network.mint));
  if (!mint_there) {
    WEFT_ASSIGN(acts.emplace_back(), accounts_act(*rpc, wallet, mint, config));
  }
  WEFT_ASSIGN(Act act, init_act(options, *rpc, network, wallet, mint));
  act.after = !acts.empty();
  acts.push_back(std::move(act));
  WEFT_OK(carry_out(options, *rpc, acts,
                    weft::format(R"("program":"{}","mint":"{}","config":"{}")",
                                 network.program.text(), network.mint.text(), config.text()),
                    weft::format("The network of the mint {} is in {}.", network.mint.text(),
                                 options.out.string())));
  return options.dry_run ? Result<>() : write_network_file(options, *rpc, network);
}

}  // namespace

int chain_init_command(const SettlementOptions& options) {
  const auto done = init(options);
  return done ? 0 : report("chain init", done.error());
}

}  // namespace weft::cli
