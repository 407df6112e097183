// /v1/clients: the clients with jobs, and the share of the network that each is due. Only the
// operator, with the coordinator's own wallet, sets weights.

#include "apps/coordinator/http/access.h"
#include "apps/coordinator/http/operator.h"
#include "decisions/jobs/client_weights.h"

namespace weft::coordinator {

namespace {

namespace api = protocol::api;
using In = const net::IncomingRequest&;
using Out = const net::Respond&;

// Reads { "weight": 2.5, "at": milliseconds since 1970 }.
Result<jobs::ClientWeight> read_weight(std::string_view key, std::string_view body) {
  jobs::ClientWeight out;
  WEFT_ASSIGN(out.client, PublicKey::parse(key));
  WEFT_ASSIGN(const json::Value root, json::parse(body, {.bytes_max = 4096}));
  WEFT_ASSIGN(const json::Object object, root.object({"weight", "at"}));
  WEFT_ASSIGN(const json::Value weight, object.get("weight"));
  WEFT_ASSIGN(out.weight, weight.number());
  WEFT_ASSIGN(out.at, signed_at(object));
  return out;
}

void set_weight(const HttpParts& parts, In request, const Signed& who, Out respond) {
  const std::string& key = request.parameters.at(0);
  if (!is_operator(parts, who.client)) return respond(only_operator("sets weights"));
  const auto wanted = read_weight(key, request.body);
  if (!wanted) return respond(net::problem(wanted.error()));
  post_or_refuse(parts.loop, respond,
                 [respond, wanted = *wanted](jobs::Core& core, jobs::Moment now) {
                   core.weights().set(wanted, now, [respond](const Result<api::Client>& client) {
                     respond(client ? net::json_reply(200, api::to_json(*client))
                                    : net::problem(client.error()));
                   });
                 });
}

void list_clients(const HttpParts& parts, const SharedLists::Take& take) {
  const bool queued = parts.loop.post([parts, take](jobs::Core& core, jobs::Moment now) {
    core.weights().list(now, [parts, take](const Result<api::Clients>& view) {
      make_list(parts.readers, take, [clients = view->clients] {
        PagedList list{.before = R"({"clients":[)", .rows = {}};
        for (const api::Client& client : clients)
          list.rows.push_back({.key = client.client, .json = api::to_json(client)});
        return list;
      });
    });
  });
  if (!queued) take(TooMany<SharedList>::answer());
}

}  // namespace

void add_client_routes(const HttpParts& parts) {
  const auto kept = std::make_shared<const HttpParts>(parts);
  parts.server.route(
      {.method = "POST",
       .pattern = "/v1/clients/{}",
       .handle = [kept](In request, Out respond) { once(set_weight)(*kept, request, respond); },
       .cost = 1});
  parts.lists.add("/v1/clients",
                  [kept](const SharedLists::Take& take) { list_clients(*kept, take); });
  parts.server.route({.method = "GET",
                      .pattern = "/v1/clients",
                      .handle =
                          [kept](In request, Out respond) {
                            if_operator(*kept, request, respond, "who has jobs", [&] {
                              show_page(kept->lists, "/v1/clients", request, respond);
                            });
                          },
                      .cost = 0.5});
}

}  // namespace weft::coordinator
