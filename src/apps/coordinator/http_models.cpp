// /v1/models, /v1/chat/completions, /v1/completions (errors in OpenAI's shape), and /v1/serving.
#include <format>

#include "apps/coordinator/http.h"
#include "common/base/clock.h"
#include "common/crypto/keys.h"
#include "common/crypto/sha256.h"

namespace weft::coordinator {

namespace {

// Adding and removing is signed by the client's wallet, as submissions are.
Result<Signed> signer_of(const net::IncomingRequest& request, const Hash& digest) {
  return verify_signed(request.header("weft-client"), request.header("weft-nonce"), request.header("weft-signature"), digest);
}

void add_model(const HttpParts& parts, const net::IncomingRequest& request, const net::Respond& respond) {
  post_or_refuse(parts.submitters, respond, [&parts, request, respond] {
    const auto who = signer_of(request, crypto::sha256(as_bytes(request.body)));
    if (!who) return respond(net::problem(who.error()));
    auto card = read_model_card(request.body);
    if (!card) return respond(net::problem(card.error()));
    for (const Hash& blob : {card->file_hash(), card->chunks_hash()}) {
      if (!parts.blobs.has(blob)) {
        return respond(
            net::problem({ErrorCode::not_found, std::format("The blob {} is not here; PUT it first (`weft model add` does).", blob.text())}));
      }
    }
    card->owner = who->client.text();
    card->created = unix_now();
    parts.models.add(std::move(*card), respond);
  });
}

void remove_model(const HttpParts& parts, const net::IncomingRequest& request, const net::Respond& respond) {
  post_or_refuse(parts.submitters, respond, [&models = parts.models, request, respond] {
    const std::string& name = request.parameters.at(0);
    const auto who = signer_of(request, crypto::sha256(as_bytes("weft-model-remove-1 " + name)));
    if (!who) return respond(net::problem(who.error()));
    models.remove(name, who->client.text(), respond);
  });
}

void complete(ModelService& models, bool chat, const net::IncomingRequest& request, const net::Respond& respond) {
  std::uint64_t seed = 0;
  crypto::random_bytes({reinterpret_cast<std::uint8_t*>(&seed), sizeof seed});
  auto asked = chat ? read_chat_request(request.body, seed) : read_completion_request(request.body, seed);
  if (!asked) return respond(openai_error(asked.error()));
  models.answer(std::move(*asked), request, respond);
}

}  // namespace

void add_model_routes(const HttpParts& parts) {
  auto& server = parts.server;
  ModelService& models = parts.models;
  // The parts live as long as the routes.
  const auto kept = std::make_shared<const HttpParts>(parts);
  const auto add = [&](std::string method, std::string pattern, double cost, auto handle) {
    server.route({.method = std::move(method),
                  .pattern = std::move(pattern),
                  .handle = [handle](const net::IncomingRequest& request, const net::Respond& respond) { handle(request, respond); },
                  .cost = cost});
  };
  using In = const net::IncomingRequest&;
  using Out = const net::Respond&;
  add("POST", "/v1/chat/completions", 1, [&models](In request, Out respond) { complete(models, true, request, respond); });
  add("POST", "/v1/completions", 1, [&models](In request, Out respond) { complete(models, false, request, respond); });
  add("GET", "/v1/models", 0, [&models](In, Out respond) { models.list(respond); });
  add("POST", "/v1/models", 1, [kept](In request, Out respond) { add_model(*kept, request, respond); });
  add("GET", "/v1/models/{}", 0, [&models](In request, Out respond) { models.show(request.parameters.at(0), respond); });
  add("DELETE", "/v1/models/{}", 1, [kept](In request, Out respond) { remove_model(*kept, request, respond); });
  add("GET", "/v1/serving", 0, [&models](In, Out respond) { models.status(respond); });
  server.socket(models.socket());
}

}  // namespace weft::coordinator
