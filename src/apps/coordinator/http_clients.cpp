// /v1/clients: who has jobs, and what share of the network each is due. Weights are the operator's to set, whose wallet is the coordinator's
// own. What is signed: POST "weft-client-weight-1 KEY BODY" (as SHA-256, with the nonce). "at" in the body is the operator's clock: what was
// signed earlier does not undo what was signed later, however often somebody sends it again.
#include <format>

#include "apps/coordinator/http.h"
#include "common/crypto/sha256.h"
#include "common/json/json.h"

namespace weft::coordinator {

namespace {

namespace api = protocol::api;
using In = const net::IncomingRequest&;
using Out = const net::Respond&;

// { "weight": 2.5, "at": milliseconds since 1970 }
Result<ClientWeight> read_weight(std::string_view key, std::string_view body) {
  ClientWeight out;
  WEFT_ASSIGN(out.client, PublicKey::parse(key));
  WEFT_ASSIGN(const json::Value root, json::parse(body, {.bytes_max = 4096}));
  WEFT_ASSIGN(const json::Object object, root.object({"weight", "at"}));
  WEFT_ASSIGN(const json::Value weight, object.get("weight"));
  WEFT_ASSIGN(out.weight, weight.number());
  WEFT_ASSIGN(const json::Value at, object.get("at"));
  WEFT_ASSIGN(out.at, at.integer({.min = 1, .max = std::int64_t{1} << 60}));
  return out;
}

void set_weight(const HttpParts& parts, In request, Out respond) {
  const std::string& key = request.parameters.at(0);
  const auto who = verify_signed(request.header("weft-client"), request.header("weft-nonce"), request.header("weft-signature"),
                                 crypto::sha256(as_bytes(std::format("weft-client-weight-1 {} {}", key, request.body))));
  if (!who) return respond(net::problem(who.error()));
  if (who->client.text() != parts.info.coordinator)
    return respond(net::problem({ErrorCode::permission_denied, "Only the operator, with the coordinator's own wallet, sets weights."}));
  const auto wanted = read_weight(key, request.body);
  if (!wanted) return respond(net::problem(wanted.error()));
  post_or_refuse(parts.loop, respond, [respond, wanted = *wanted](Core& core, Moment now) {
    core.set_weight(wanted, now, [respond](const Result<api::Client>& client) {
      respond(client ? net::json_reply(200, api::to_json(*client)) : net::problem(client.error()));
    });
  });
}

void list_clients(const HttpParts& parts, Out respond) {
  post_or_refuse(parts.loop, respond, [respond](Core& core, Moment now) {
    core.clients(now, [respond](const Result<api::Clients>& clients) { respond(net::json_reply(200, api::to_json(*clients))); });
  });
}

}  // namespace

void add_client_routes(const HttpParts& parts) {
  const auto kept = std::make_shared<const HttpParts>(parts);
  parts.server.route(
      {.method = "POST", .pattern = "/v1/clients/{}", .handle = [kept](In request, Out respond) { set_weight(*kept, request, respond); }, .cost = 1});
  parts.server.route({.method = "GET", .pattern = "/v1/clients", .handle = [kept](In, Out respond) { list_clients(*kept, respond); }});
}

}  // namespace weft::coordinator
