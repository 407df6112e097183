#include "apps/cli/settlement/line.h"

#include "apps/cli/files.h"
#include "common/json/json.h"
#include "common/json/quote.h"
#include "common/solana/address.h"
#include "common/solana/instructions.h"

namespace weft::cli {
namespace {

constexpr std::size_t amount_at = 64;     // Offset of the amount in a token account.
constexpr std::size_t unix_time_at = 32;  // Offset of the time in the clock account.

std::uint64_t number_at(ByteSpan bytes, std::size_t at) {
  std::uint64_t out = 0;
  for (std::size_t i = 8; i-- > 0;) out = out << 8 | bytes[at + i];
  return out;
}

Result<> fill_from_file(std::string_view text, SettlementOptions& options) {
  WEFT_ASSIGN(const json::Value root, json::parse(text, {.bytes_max = 65536, .depth_max = 4}));
  WEFT_ASSIGN(const json::Object members, root.object({"rpc", "program", "mint", "genesis"}));
  const auto fill = [&](std::string_view name, std::string& out) -> Result<> {
    const auto value = members.find(name);
    if (!value || !out.empty()) return {};
    WEFT_ASSIGN(out, value->string());
    return {};
  };
  WEFT_OK(fill("rpc", options.rpc));
  WEFT_OK(fill("program", options.program));
  WEFT_OK(fill("genesis", options.genesis));
  return fill("mint", options.mint);
}

}  // namespace

Result<SettlementOptions> with_network_file(SettlementOptions options) {
  if (options.network.empty()) return options;
  WEFT_ASSIGN(const ByteVector bytes, read_file(options.network));
  if (auto filled = fill_from_file(as_text(bytes), options); !filled)
    return pass(std::move(filled), "while reading {}", options.network.string());
  return options;
}

Result<std::unique_ptr<chain::Rpc>> settlement_node(const SettlementOptions& given) {
  WEFT_ASSIGN(const SettlementOptions options, with_network_file(given));
  if (options.rpc.empty())
    return fail(ErrorCode::invalid_argument,
                "No node of Solana is named: give --rpc URL, or --network with the file of `weft "
                "chain init`. Settlement is off until a node is named.");
  if (!options.rpc.starts_with("http://") && !options.rpc.starts_with("https://"))
    return fail(ErrorCode::invalid_argument,
                "\"{}\" is not the URL of a node of Solana: it begins with neither http:// nor "
                "https://.",
                options.rpc.substr(0, 100));
  return chain::Rpc::create(
      {.url = options.rpc, .tls = options.tls, .timeout = std::chrono::seconds(10)});
}

Result<std::uint64_t> chain_time(chain::Rpc& rpc) {
  WEFT_ASSIGN(const auto clock, rpc.account(solana::clock_sysvar()));
  if (!clock || clock->data.size() < unix_time_at + 8)
    return fail(
        ErrorCode::data_loss,
        "The Solana node did not return a valid clock account ({}); name another node with --rpc.",
        solana::clock_sysvar().text());
  return number_at(clock->data, unix_time_at);
}

Result<std::uint64_t> tokens_in(chain::Rpc& rpc, const PublicKey& account) {
  WEFT_ASSIGN(const auto found, rpc.account(account));
  if (!found || found->data.size() < solana::token_account_bytes) return 0;
  return number_at(found->data, amount_at);
}

solana::ProgramCall SettlementLine::call(std::string_view name) const {
  solana::ProgramCall out = solana::ProgramCall::named(name).value();
  for (const solana::CallAccount& account : out.layout().accounts) {
    if (account.name == "config") {
      out.key("config", config_address);
    } else if (account.name == "mint") {
      out.key("mint", network.mint);
    } else if (account.name == "vault" || account.name == "stake_vault" ||
               account.name == "treasury") {
      out.key(account.name, config.key(account.name));
    }
  }
  return out;
}

PublicKey SettlementLine::tokens_of(const PublicKey& wallet) const {
  return solana::associated_token_account(wallet, network.mint);
}

solana::SigningPlace SettlementLine::signing_place() const {
  solana::SigningPlace place{.genesis = {}, .program = network.program, .config = config_address};
  place.genesis.bytes = config.key("genesis").bytes;
  return place;
}

Result<std::optional<solana::ProgramState>> SettlementLine::state(std::string_view kind,
                                                                  const PublicKey& address) const {
  WEFT_ASSIGN(auto found, rpc->account(address));
  if (!found || found->owner != network.program) return std::nullopt;
  WEFT_ASSIGN(auto state, solana::ProgramState::read(kind, std::move(found->data)));
  return state;
}

Result<SettlementLine::StatesAt> SettlementLine::states(std::string_view kind,
                                                        chain::Confirmation level,
                                                        const std::optional<PublicKey>& of) const {
  // Offset of the config's address in all other accounts of the program.
  constexpr std::size_t config_at = 8;
  constexpr std::size_t named_at = config_at + 32;
  const auto layout = solana::state_layout(kind);
  WEFT_ASSIGN(auto found, rpc->accounts_of(network.program,
                                           {.bytes = layout.bytes,
                                            .at = of ? named_at : config_at,
                                            .equal = of ? of->span() : config_address.span()},
                                           level));
  StatesAt out{.slot = found.slot, .states = {}};
  for (chain::AccountData& account : found.accounts) {
    if (account.owner != network.program || account.data.empty() || account.data[0] != layout.kind)
      continue;
    WEFT_ASSIGN(solana::ProgramState state,
                solana::ProgramState::read(kind, std::move(account.data)));
    if (state.key("config") == config_address) out.states.push_back(std::move(state));
  }
  return out;
}

Result<std::uint64_t> SettlementLine::rent_of_state(std::string_view kind) const {
  return rpc->rent_of(solana::state_layout(kind).bytes);
}

Result<std::uint64_t> SettlementLine::rent_if_missing(const PublicKey& address,
                                                      std::size_t bytes) const {
  WEFT_ASSIGN(const auto found, rpc->account(address));
  if (found && !found->data.empty()) return 0;
  return rpc->rent_of(bytes);
}

std::uint64_t SettlementLine::epoch_number(std::uint64_t slot, std::string_view field) const {
  return config.number(weft::format("epochs.{}.{}", slot, field));
}
PublicKey SettlementLine::epoch_root(std::uint64_t slot) const {
  return config.key(weft::format("epochs.{}.root", slot));
}
solana::EpochState SettlementLine::epoch_state(std::uint64_t slot) const {
  return static_cast<solana::EpochState>(epoch_number(slot, "state"));
}

Result<std::uint64_t> SettlementLine::pending_slot() const {
  const std::uint64_t slot = config.number("last_epoch") % solana::epochs_remembered;
  if (config.number("pending") == 0 || epoch_state(slot) != solana::EpochState::pending)
    return fail(ErrorCode::not_found, "No epoch's root is in its challenge window.");
  return slot;
}

Result<SettlementLine> settlement_line(const SettlementOptions& given) {
  WEFT_ASSIGN(const SettlementOptions options, with_network_file(given));
  WEFT_ASSIGN(auto rpc, settlement_node(options));
  if (options.program.empty() || options.mint.empty())
    return fail(ErrorCode::invalid_argument,
                "No network is named: give --network with the file of `weft chain init`, or "
                "--program and --mint.");
  solana::Network network;
  WEFT_ASSIGN(network.program, parse_key(options.program, "a program"));
  WEFT_ASSIGN(network.mint, parse_key(options.mint, "a mint"));
  const PublicKey address = network.config();
  if (!options.genesis.empty()) {
    // Compares the genesis hash, because keys and programs have the same addresses on every
    // cluster.
    WEFT_ASSIGN(const Hash genesis, rpc->genesis_hash());
    if (genesis.text() != options.genesis)
      return fail(ErrorCode::invalid_argument,
                  "The node at {} belongs to the cluster with the genesis hash {}; the network in "
                  "{} is on the cluster with the genesis hash {}.",
                  options.rpc, genesis.text(), options.network.string(), options.genesis);
  }
  WEFT_ASSIGN(auto found, rpc->account(address));
  if (!found || found->owner != network.program)
    return fail(
        ErrorCode::not_found,
        "The node at {} has no network of the program {} and the mint {}; `weft chain init` "
        "makes one.",
        options.rpc, options.program, options.mint);
  WEFT_ASSIGN(auto config, solana::ProgramState::read("config", std::move(found->data)));
  if (!options.genesis.empty() && to_hex(config.key("genesis").span()) != options.genesis)
    return fail(ErrorCode::invalid_argument,
                "The network on the chain names the genesis hash {}; the file {} names {}. What is "
                "signed for one is not valid at the other.",
                to_hex(config.key("genesis").span()), options.network.string(), options.genesis);
  return SettlementLine{.rpc = std::move(rpc),
                        .network = network,
                        .config_address = address,
                        .config = std::move(config)};
}

Result<> write_network_file(const SettlementOptions& options, chain::Rpc& rpc,
                            const solana::Network& network) {
  WEFT_ASSIGN(const Hash genesis, rpc.genesis_hash());
  const std::string text = weft::format(
      "{{\n  \"rpc\": {},\n  \"program\": \"{}\",\n  \"mint\": \"{}\",\n  \"genesis\": "
      "\"{}\"\n}}\n",
      json::quote(options.rpc), network.program.text(), network.mint.text(), genesis.text());
  return write_file(options.out, as_bytes(std::string_view(text)));
}

}  // namespace weft::cli
