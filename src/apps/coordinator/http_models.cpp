// /v1/models, /v1/chat/completions, /v1/completions (errors in OpenAI's shape), and /v1/serving.
#include <algorithm>
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
    // Workers fetch and load what is added: not for every stranger.
    const bool may = parts.info.grant > 0 || parts.book.is_funded(who->client) || who->client.text() == parts.info.coordinator;
    if (!may) return respond(net::problem({ErrorCode::insufficient_funds, std::format("The client {} holds no credits here.", who->client.text())}));
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

// Who asks. Without keys being required, whatever is no key of this coordinator's form is passed over: clients must send something.
struct Asker {
  std::optional<Hash> key;  // Of the secret; otherwise nobody is charged.
};
Result<Asker> asker_of(const HttpParts& parts, const net::IncomingRequest& request) {
  const auto token = request.bearer();
  if (token.starts_with(api_key_prefix)) return Asker{.key = api_key_hash(token)};
  if (!parts.require_keys) return Asker{};
  if (token.starts_with(guest_prefix)) {
    WEFT_OK(parts.guests.admit(token, request.address, unix_now(), now()));
    return Asker{};
  }
  if (token.empty())
    return fail(ErrorCode::unauthenticated, "No API key was given: send the header \"Authorization: Bearer KEY\" (`weft key add` makes one).");
  return fail(ErrorCode::unauthenticated, "The API key is none of this coordinator's.");
}

net::Reply refusal(const KeyRefusal& refused, const RateStates& rates) {
  net::Reply reply = openai_error(refused.error);
  reply.headers.merge(rate_headers(rates));
  if (reply.status == 429 || reply.status == 503)
    reply.headers["retry-after"] = std::to_string(std::max<std::int64_t>(1, std::chrono::ceil<std::chrono::seconds>(refused.retry).count()));
  // What will not come back by itself is not asked for again by clients that know the header (OpenAI's do).
  if (refused.retry >= std::chrono::hours(1)) reply.headers["x-should-retry"] = "false";
  return reply;
}

// What its answers could take of the key's budgets: never more than the context has.
AnswerOrder order_of(const OpenAiRequest& asked, const ModelTerms& terms) {
  constexpr std::uint64_t template_tokens = 256;  // Around the messages.
  std::size_t longest = 0;
  for (const std::string& prompt : asked.prompts) longest = std::max(longest, prompt.size());
  const std::uint64_t prompt_worst = std::min<std::uint64_t>(terms.context, longest + (asked.chat ? template_tokens : 1));
  const std::uint64_t likely = longest / 4;  // A token is about four characters.
  const std::uint64_t wanted = asked.names_bound ? asked.ask.tokens_max : 0;
  return {.model = asked.model,
          .answers = static_cast<std::uint32_t>(asked.prompts.size()) * asked.choices,
          .tokens_likely = std::min<std::uint64_t>(std::max(likely, wanted), terms.context),
          .tokens_worst = std::min<std::uint64_t>(terms.context, prompt_worst + asked.ask.tokens_max),
          .fits_budget = !asked.names_bound,
          .tokens_least = prompt_worst,
          .price = terms.price};
}

void complete(const HttpParts& parts, bool chat, const net::IncomingRequest& request, const net::Respond& respond) {
  ModelService& models = parts.models;
  const auto asker = asker_of(parts, request);
  if (!asker) return respond(refusal({.error = asker.error(), .retry = std::chrono::seconds(3)}, {}));
  std::uint64_t seed = 0;
  crypto::random_bytes({reinterpret_cast<std::uint8_t*>(&seed), sizeof seed});
  auto asked = chat ? read_chat_request(request.body, seed) : read_completion_request(request.body, seed);
  if (!asked) return respond(openai_error(asked.error()));
  if (!asker->key) return models.answer(std::move(*asked), request, respond);
  // The model may be gone when it is asked, and is not found then.
  AnswerOrder order = order_of(*asked, models.terms(asked->model).value_or(ModelTerms{}));
  order.key = *asker->key;
  const bool queued = parts.loop.post([&models, request, respond, order, asked = std::move(*asked)](Core& core, Moment moment) {
    core.admit_answers(order, moment, [&models, request, respond, order, asked](const Result<AnswerAdmission>& admitted) mutable {
      if (admitted->refused) return respond(refusal(*admitted->refused, admitted->rates));
      // Where the budget bounds it, so does the answer.
      if (admitted->tokens_worst < order.tokens_worst)
        asked.ask.tokens_max = static_cast<std::uint32_t>(std::max<std::uint64_t>(1, admitted->tokens_worst - order.tokens_least));
      models.answer(std::move(asked), request, respond, {.answers = admitted->answers, .headers = rate_headers(admitted->rates)});
    });
  });
  if (!queued) respond(openai_error({ErrorCode::unavailable, "The coordinator has too much to do; try again later."}));
}

// Reading what models there are takes a key where asking them does.
void with_access(const HttpParts& parts, const net::IncomingRequest& request, const net::Respond& respond, std::function<void()> show) {
  const auto token = request.bearer();
  if (token.starts_with(api_key_prefix)) {
    post_or_refuse(parts.loop, respond, [respond, key = api_key_hash(token), show = std::move(show)](Core& core, Moment) {
      core.show_key(key, [respond, show](const Result<ApiKey>& found) { found ? show() : respond(openai_error(found.error())); });
    });
    return;
  }
  // The page lists them before it asks; guests are counted where they ask.
  const bool guest = parts.guests.welcome() && request.header("sec-fetch-site") == "same-origin";
  if (!parts.require_keys || guest || token.starts_with(guest_prefix)) return show();
  respond(openai_error(asker_of(parts, request).error()));
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
  add("POST", "/v1/chat/completions", 1, [kept](In request, Out respond) { complete(*kept, true, request, respond); });
  add("POST", "/v1/completions", 1, [kept](In request, Out respond) { complete(*kept, false, request, respond); });
  add("GET", "/v1/models", 0,
      [kept](In request, Out respond) { with_access(*kept, request, respond, [kept, respond] { kept->models.list(respond); }); });
  add("POST", "/v1/models", 1, [kept](In request, Out respond) { add_model(*kept, request, respond); });
  add("GET", "/v1/models/{}", 0, [kept](In request, Out respond) {
    with_access(*kept, request, respond, [kept, respond, name = request.parameters.at(0)] { kept->models.show(name, respond); });
  });
  add("DELETE", "/v1/models/{}", 1, [kept](In request, Out respond) { remove_model(*kept, request, respond); });
  add("GET", "/v1/serving", 0, [&models](In, Out respond) { models.status(respond); });
  server.socket(models.socket());
}

}  // namespace weft::coordinator
