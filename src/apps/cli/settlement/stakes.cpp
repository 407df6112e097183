// `weft chain stakes`: reports the final stakes of owners on the chain to a coordinator. Run by the
// operator, whose wallet the network's config names.
#include <algorithm>
#include <cstdio>
#include <map>

#include "apps/cli/api_client.h"
#include "apps/cli/exit_code.h"
#include "apps/cli/settlement/line.h"
#include "apps/cli/wallet_choice.h"
#include "common/json/json.h"

namespace weft::cli {
namespace {

constexpr std::size_t owners_max = 10'000;  // The most owners that the coordinator accepts.

struct OwnStake {
  PublicKey owner;
  std::uint64_t amount = 0;
};

// Returns the largest stakes, without unbonding amounts. The amount of a stake is the smaller one
// of its final state and its newest state: it counts once no fork can take it back, and stops
// counting as soon as its owner begins to unbond it or it is slashed.
std::vector<OwnStake> largest_of(const SettlementLine::StatesAt& final,
                                 const SettlementLine::StatesAt& newest) {
  std::map<PublicKey, std::uint64_t> now;
  for (const solana::ProgramState& stake : newest.states)
    now[stake.key("owner")] = stake.number("amount");
  std::vector<OwnStake> out;
  for (const solana::ProgramState& stake : final.states) {
    const auto newer = now.find(stake.key("owner"));
    const std::uint64_t amount =
        newer == now.end() ? 0 : std::min(stake.number("amount"), newer->second);
    if (amount > 0) out.push_back({stake.key("owner"), amount});
  }
  std::ranges::sort(out, [](const OwnStake& a, const OwnStake& b) {
    return std::pair(b.amount, a.owner) < std::pair(a.amount, b.owner);
  });
  if (out.size() > owners_max) out.resize(owners_max);
  return out;
}

Result<> stakes(const SettlementOptions& options) {
  WEFT_ASSIGN(const SettlementLine line, settlement_line(options));
  WEFT_ASSIGN(const crypto::KeyPair wallet, wallet_there(options.data / "coordinator.json"));
  // A stake counts only at the coordinator of its network.
  if (line.config.key("coordinator") != wallet.public_key())
    return fail(ErrorCode::permission_denied,
                "The coordinator of this network is {}, but the wallet in {} is {}: stakes count "
                "only at the network's own coordinator.",
                line.config.key("coordinator").text(), options.data.string(),
                wallet.public_key().text());
  WEFT_ASSIGN(const auto found, line.states("stake", chain::Confirmation::finalized));
  WEFT_ASSIGN(const auto newest, line.states("stake", chain::Confirmation::processed));
  std::string rows;
  for (const OwnStake& one : largest_of(found, newest))
    rows += weft::format(R"({}{{"owner":"{}","amount":{}}})", rows.empty() ? "" : ",",
                         one.owner.text(), one.amount);
  WEFT_ASSIGN(const auto api,
              ApiClient::create({.url = options.coordinator, .tls = options.coordinator_tls}));
  WEFT_ASSIGN(
      const net::Response answer,
      api->requests().post(
          "/v1/settlement/stakes",
          weft::format(R"({{"program":"{}","mint":"{}","slot":{},"stakes":[{}]}})",
                       line.network.program.text(), line.network.mint.text(), found.slot, rows),
          wallet));
  if (options.json) {
    std::printf("%s\n", answer.body.c_str());
    return {};
  }
  WEFT_ASSIGN(const json::Value root, json::parse(answer.body));
  WEFT_ASSIGN(const json::Object taken, root.object({"slot", "owners", "staked"}));
  WEFT_ASSIGN(const json::Value owners, taken.get("owners"));
  WEFT_ASSIGN(const json::Value staked, taken.get("staked"));
  WEFT_ASSIGN(const std::uint64_t amount, staked.unsigned_integer(std::uint64_t{1} << 62));
  std::printf("%s\n", weft::format("{} owners have staked {} as of slot {}.", owners.text(),
                                   credits_text(amount), found.slot)
                          .c_str());
  return {};
}

}  // namespace

int chain_stakes_command(const SettlementOptions& options) {
  const auto done = stakes(options);
  return done ? 0 : report("chain stakes", done.error());
}

}  // namespace weft::cli
