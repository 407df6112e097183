// /v1/stakes: the stakes of wallets. A move is signed, and its nonce makes sure that a repeated
// request moves nothing.

#include <algorithm>

#include "apps/coordinator/http/operator.h"
#include "common/base/format.h"
#include "common/json/json.h"
#include "decisions/jobs/owner_requests.h"
#include "decisions/jobs/stakes.h"

namespace weft::coordinator {

namespace {

using In = const net::IncomingRequest&;
using Out = const net::Respond&;

std::string stake_json(const jobs::StakeView& view) {
  return weft::format(
      R"({{"wallet":"{}","staked":{},"on_chain":{},"at_risk":{},"free":{},"balance":{},"granted":{},"reputation":{:.6f},"established":{},"suspended_until":{}}})",
      view.wallet.text(), view.staked, view.on_chain, view.at_risk,
      std::max<MicroCredits>(view.staked - view.at_risk, 0), view.spendable.free,
      view.spendable.granted, view.reputation, view.established, view.suspended_until);
}

jobs::Answer<jobs::StakeView> told(Out respond) {
  return [respond](const Result<jobs::StakeView>& view) {
    respond(view ? net::json_reply(200, stake_json(*view)) : net::problem(view.error()));
  };
}

// Reads { "action": "deposit" | "withdraw", "amount": micro-credits }.
Result<jobs::StakeMove> read_move(const Signed& who, std::string_view body) {
  WEFT_ASSIGN(const json::Value root, json::parse(body, {.bytes_max = 4096}));
  WEFT_ASSIGN(const json::Object object, root.object({"action", "amount"}));
  jobs::StakeMove move{.wallet = who.client};
  const auto word = [&](std::string_view key, std::string_view yes,
                        std::string_view no) -> Result<bool> {
    WEFT_ASSIGN(const json::Value value, object.get(key));
    WEFT_ASSIGN(const std::string text, value.string());
    if (text != yes && text != no) return value.error("must be \"{}\" or \"{}\"", yes, no);
    return text == yes;
  };
  WEFT_ASSIGN(move.deposit, word("action", "deposit", "withdraw"));
  WEFT_ASSIGN(const json::Value amount, object.get("amount"));
  WEFT_ASSIGN(move.amount, amount.integer({.min = 1, .max = std::int64_t{1} << 60}));
  for (std::size_t i = 0; i < sizeof move.number; ++i)
    move.number |= std::uint64_t{who.nonce[i]} << (8 * i);
  return move;
}

void move_stake(const HttpParts& parts, In request, const Signed& who, Out respond) {
  const auto move = read_move(who, request.body);
  if (!move) return respond(net::problem(move.error()));
  post_or_refuse(parts.loop, respond,
                 [respond, move = *move](jobs::Core& core, jobs::Moment moment) {
                   core.stakes().move(move, moment, told(respond));
                 });
}

// Shows a stake to the devices of the wallet's owner and to the operator.
void show_stake(const HttpParts& parts, In request, Out respond) {
  const auto who = parts.signatures.signer(request);
  if (!who) return respond(parts.signatures.refusal(who.error()));
  const auto wallet = PublicKey::parse(request.parameters.at(0));
  if (!wallet) return respond(net::problem(wallet.error()));
  const bool by_operator = is_operator(parts, who->client);
  post_or_refuse(
      parts.loop, respond,
      [respond, wallet = *wallet, by = who->client, by_operator](jobs::Core& core,
                                                                 jobs::Moment moment) {
        if (by_operator) return core.stakes().show(wallet, moment, told(respond));
        core.owners().show(by, [&core, respond, wallet, by,
                                moment](const Result<jobs::OwnerView>& view) {
          if (!view) return respond(net::problem(view.error()));
          if (by != wallet && !std::ranges::contains(view->devices, wallet, &store::Device::key))
            return respond(
                net::problem({ErrorCode::permission_denied,
                              "Only the wallet's owner and the operator see its stake."}));
          core.stakes().show(wallet, moment, told(respond));
        });
      });
}

}  // namespace

void add_stake_routes(const HttpParts& parts) {
  parts.server.route(
      {.method = "POST",
       .pattern = "/v1/stakes",
       .handle = [parts](In request, Out respond) { once(move_stake)(parts, request, respond); },
       .cost = 1});
  parts.server.route(
      {.method = "GET", .pattern = "/v1/stakes/{}", .handle = [parts](In request, Out respond) {
         show_stake(parts, request, respond);
       }});
}

}  // namespace weft::coordinator
