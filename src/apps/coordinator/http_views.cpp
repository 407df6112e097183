#include <charconv>

#include "apps/coordinator/http.h"

namespace weft::coordinator {

namespace {
namespace api = protocol::api;
}

net::Reply busy() { return net::problem({ErrorCode::unavailable, "The coordinator has too much to do; try again in a moment."}); }

void post_or_refuse(Pool& pool, const net::Respond& respond, std::function<void()> work) {
  static std::atomic<std::uint64_t> next = 0;
  if (!pool.post(next.fetch_add(1), std::move(work))) respond(busy());
}

void post_or_refuse(Loop& loop, const net::Respond& respond, Loop::Event event) {
  if (!loop.post(std::move(event))) respond(busy());
}

void add_view_routes(const HttpParts& parts) {
  auto& server = parts.server;
  auto& loop = parts.loop;
  server.route({.method = "GET", .pattern = "/healthz", .handle = [](const net::IncomingRequest&, const net::Respond& respond) {
                  respond(net::text_reply(200, "ok\n"));
                }});
  // Ready when the core answers: it has recovered, and commits go through.
  server.route({.method = "GET", .pattern = "/readyz", .handle = [&loop](const net::IncomingRequest&, const net::Respond& respond) {
                  post_or_refuse(loop, respond, [respond](Core& core, Moment) {
                    core.balance(ledger::Account::mint(), [respond](const Result<MicroCredits>&) { respond(net::text_reply(200, "ready\n")); });
                  });
                }});
  server.route(
      {.method = "GET", .pattern = "/v1/info", .handle = [text = api::to_json(parts.info)](const net::IncomingRequest&, const net::Respond& respond) {
         respond(net::json_reply(200, text));
       }});
  server.route({.method = "GET", .pattern = "/v1/workers", .handle = [&loop](const net::IncomingRequest&, const net::Respond& respond) {
                  post_or_refuse(loop, respond, [respond](Core& core, Moment) {
                    core.workers([respond](const Result<api::Workers>& workers) { respond(net::json_reply(200, api::to_json(*workers))); });
                  });
                }});
  server.route(
      {.method = "GET", .pattern = "/metrics", .handle = [&loop, &models = parts.models](const net::IncomingRequest&, const net::Respond& respond) {
         post_or_refuse(loop, respond, [&models, respond](Core& core, Moment) {
           core.metrics([&models, respond](const Result<std::string>& text) {
             models.metrics(
                 [respond, text = *text](const std::string& more) { respond(net::text_reply(200, text + more, "text/plain; version=0.0.4")); });
           });
         });
       }});
}

}  // namespace weft::coordinator
