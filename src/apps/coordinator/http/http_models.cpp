// The routes /v1/models and /v1/serve.
#include <charconv>

#include "apps/coordinator/http/asking.h"
#include "apps/coordinator/http/http.h"
#include "apps/coordinator/http/model_catalog.h"
#include "common/base/clock.h"
#include "common/base/format.h"

namespace weft::coordinator {

namespace {

constexpr std::uint64_t card_bytes_max = std::uint64_t{64} << 10;

void add_model(const HttpParts& parts, const net::IncomingRequest& request, const Signed& who,
               const net::Respond& respond) {
  post_or_refuse(parts.submitters, respond, [&parts, request, who, respond] {
    // Strangers may not add models, because workers fetch and load them.
    const bool may = parts.grants_to_strangers || parts.book.is_funded(who.client) ||
                     who.client.text() == parts.info.coordinator;
    if (!may)
      return respond(
          net::problem({ErrorCode::insufficient_funds,
                        weft::format("The client {} holds no credits at this coordinator.",
                                     who.client.text())}));
    auto card = inference::read_model_card(request.body);
    if (!card) return respond(net::problem(card.error()));
    for (const Hash& blob : {card->file_hash(), card->chunks_hash()}) {
      if (!parts.blobs.has(blob)) {
        return respond(net::problem(
            {ErrorCode::not_found, weft::format("The blob {} is not stored at this coordinator; "
                                                "PUT it first (`weft model add` does).",
                                                blob.text())}));
      }
    }
    card->owner = who.client.text();
    card->created = unix_now();
    parts.models.add(std::move(*card), respond);
  });
}

void remove_model(const HttpParts& parts, const net::IncomingRequest& request, const Signed& who,
                  const net::Respond& respond) {
  post_or_refuse(parts.submitters, respond,
                 [&models = parts.models, name = request.parameters.at(0), who, respond] {
                   models.remove(name, who.client.text(), respond);
                 });
}

// Reads the query ?after=NAME&limit=N.
Result<ModelPage> model_page(const net::IncomingRequest& request) {
  ModelPage page;
  if (const auto after = request.query.find("after"); after != request.query.end())
    page.after = after->second;
  if (const auto limit = request.query.find("limit"); limit != request.query.end()) {
    const std::string& text = limit->second;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), page.limit);
    if (error != std::errc() || end != text.data() + text.size() || page.limit == 0 ||
        page.limit > ModelPage::limit_max)
      return fail(ErrorCode::invalid_argument, "limit={} is not a number from 1 to {}.", text,
                  ModelPage::limit_max);
  }
  return page;
}

}  // namespace

void add_model_routes(const HttpParts& parts) {
  auto& server = parts.server;
  ModelService& models = parts.models;
  // The routes share one copy of the parts.
  const auto kept = std::make_shared<const HttpParts>(parts);
  const auto add = [&](const char* method, const char* pattern, double cost, const auto& handle,
                       std::uint64_t body_bytes_max = 0) {
    server.route({.method = method,
                  .pattern = pattern,
                  .handle = [handle](const net::IncomingRequest& request,
                                     const net::Respond& respond) { handle(request, respond); },
                  .cost = cost,
                  .body_bytes_max = body_bytes_max,
                  .is_signed = body_bytes_max == card_bytes_max,
                  .is_new_work = body_bytes_max == card_bytes_max});
  };
  using In = const net::IncomingRequest&;
  using Out = const net::Respond&;
  add("GET", "/v1/models", 0.5, [kept](In request, Out respond) {
    const auto page = model_page(request);
    if (!page) return respond(openai_error(page.error()));
    with_access(*kept, request, respond,
                [kept, respond, page = *page] { kept->models.list(page, respond); });
  });
  add(
      "POST", "/v1/models", 1,
      [kept](In request, Out respond) { once(add_model)(*kept, request, respond); },
      card_bytes_max);
  add("GET", "/v1/models/{}", 0.5, [kept](In request, Out respond) {
    with_access(*kept, request, respond, [kept, respond, name = request.parameters.at(0)] {
      kept->models.show(name, respond);
    });
  });
  add("DELETE", "/v1/models/{}", 1,
      [kept](In request, Out respond) { once(remove_model)(*kept, request, respond); });
  server.socket(models.socket());
}

}  // namespace weft::coordinator
