// /v1/stakes: what wallets have staked. Moving it is signed: POST "weft-stake-1 BODY" (as SHA-256, with the nonce, which is also what
// makes a request that is sent again move nothing).
#include <format>

#include "apps/coordinator/http.h"
#include "common/crypto/sha256.h"
#include "common/json/json.h"

namespace weft::coordinator {

namespace {

using In = const net::IncomingRequest&;
using Out = const net::Respond&;

std::string stake_json(const StakeView& view) {
  return std::format(
      R"({{"wallet":"{}","staked":{},"at_risk":{},"free":{},"worker":{},"client":{},"reputation":{:.6f},"established":{},"suspended_until":{}}})",
      view.wallet.text(), view.staked, view.at_risk, std::max<MicroCredits>(view.staked - view.at_risk, 0), view.worker, view.client, view.reputation,
      view.established, view.suspended_until);
}

Answer<StakeView> told(Out respond) {
  return [respond](const Result<StakeView>& view) { respond(view ? net::json_reply(200, stake_json(*view)) : net::problem(view.error())); };
}

// { "action": "deposit" | "withdraw", "amount": micro-credits, "account": "worker" | "client" }
Result<StakeMove> read_move(const Signed& who, std::string_view body) {
  WEFT_ASSIGN(const json::Value root, json::parse(body, {.bytes_max = 4096}));
  WEFT_ASSIGN(const json::Object object, root.object({"action", "amount", "account"}));
  StakeMove move{.wallet = who.client};
  const auto word = [&](std::string_view key, std::string_view yes, std::string_view no) -> Result<bool> {
    WEFT_ASSIGN(const json::Value value, object.get(key));
    WEFT_ASSIGN(const std::string text, value.string());
    if (text != yes && text != no) return value.error("must be \"{}\" or \"{}\"", yes, no);
    return text == yes;
  };
  WEFT_ASSIGN(move.deposit, word("action", "deposit", "withdraw"));
  WEFT_ASSIGN(move.as_worker, word("account", "worker", "client"));
  WEFT_ASSIGN(const json::Value amount, object.get("amount"));
  WEFT_ASSIGN(move.amount, amount.integer({.min = 1, .max = std::int64_t{1} << 60}));
  for (std::size_t i = 0; i < sizeof move.number; ++i) move.number |= std::uint64_t{who.nonce[i]} << (8 * i);
  return move;
}

void move_stake(const HttpParts& parts, In request, Out respond) {
  const auto who = verify_signed(request.header("weft-client"), request.header("weft-nonce"), request.header("weft-signature"),
                                 crypto::sha256(as_bytes("weft-stake-1 " + request.body)));
  if (!who) return respond(net::problem(who.error()));
  const auto move = read_move(*who, request.body);
  if (!move) return respond(net::problem(move.error()));
  post_or_refuse(parts.loop, respond, [respond, move = *move](Core& core, Moment moment) { core.move_stake(move, moment, told(respond)); });
}

void show_stake(const HttpParts& parts, In request, Out respond) {
  const auto wallet = PublicKey::parse(request.parameters.at(0));
  if (!wallet) return respond(net::problem(wallet.error()));
  post_or_refuse(parts.loop, respond, [respond, wallet = *wallet](Core& core, Moment moment) { core.show_stake(wallet, moment, told(respond)); });
}

}  // namespace

void add_stake_routes(const HttpParts& parts) {
  parts.server.route(
      {.method = "POST", .pattern = "/v1/stakes", .handle = [parts](In request, Out respond) { move_stake(parts, request, respond); }, .cost = 1});
  parts.server.route(
      {.method = "GET", .pattern = "/v1/stakes/{}", .handle = [parts](In request, Out respond) { show_stake(parts, request, respond); }});
}

}  // namespace weft::coordinator
