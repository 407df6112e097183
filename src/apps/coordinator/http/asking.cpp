#include "apps/coordinator/http/asking.h"

#include <algorithm>
#include <chrono>

#include "apps/coordinator/http/embeddings.h"
#include "apps/coordinator/http/model_catalog.h"
#include "common/base/clock.h"
#include "common/base/format.h"
#include "common/crypto/keys.h"
#include "common/crypto/ordered_id.h"
#include "decisions/jobs/client_keys.h"
#include "decisions/jobs/completions.h"

namespace weft::coordinator {

namespace {

net::Reply refusal(const billing::KeyRefusal& refused, const billing::RateStates& rates) {
  net::Reply reply = openai_error(refused.error);
  reply.headers.merge(billing::rate_headers(rates));
  if (reply.status == 429 || reply.status == 503)
    reply.headers["retry-after"] = std::to_string(
        std::max<std::int64_t>(1, std::chrono::ceil<std::chrono::seconds>(refused.retry).count()));
  // A request should not be repeated if the key's budget does not refill within an hour. OpenAI's
  // clients obey this header.
  if (refused.retry >= std::chrono::hours(1)) reply.headers["x-should-retry"] = "false";
  return reply;
}

// The most that the answers could take from the key's budgets; the context bounds it.
billing::AnswerOrder order_of(const OpenAiRequest& asked, const ModelTerms& terms) {
  std::vector<billing::AnswerId> ids(asked.prompt_count() * asked.choices);
  for (billing::AnswerId& id : ids) id = billing::AnswerId{{crypto::ordered_id()}};
  // A look (a request without generation) counts as a request but costs nothing.
  if (asked.look.kind != TextLook::Kind::none) return {.model = asked.model, .ids = std::move(ids)};
  constexpr std::uint64_t template_tokens = 256;  // Tokens that a template adds to messages.
  std::size_t longest = 0;
  for (const std::string& prompt : asked.prompts) longest = std::max(longest, prompt.size());
  if (asked.embedding) {
    for (const auto& tokens : asked.embedding->tokens) longest = std::max(longest, tokens.size());
  }
  const std::uint64_t prompt_worst =
      std::min<std::uint64_t>(terms.context, longest + (asked.chat        ? template_tokens
                                                        : asked.embedding ? 2
                                                                          : 1));
  const std::uint64_t likely = longest / 4;  // A token is about four characters.
  const std::uint64_t wanted = asked.names_bound ? asked.ask.tokens_max : 0;
  return {
      .model = asked.model,
      .ids = std::move(ids),
      .tokens_likely = std::min<std::uint64_t>(std::max(likely, wanted), terms.context),
      .tokens_worst = std::min<std::uint64_t>(terms.context, prompt_worst + asked.ask.tokens_max),
      .fits_budget = !asked.names_bound,
      .tokens_least = prompt_worst,
      .price = terms.price};
}

}  // namespace

Result<Asker> asker_of(const HttpParts& parts, const net::IncomingRequest& request) {
  const auto token = request.bearer();
  if (token.starts_with(billing::api_key_prefix))
    return Asker{.key = billing::api_key_hash(token),
                 .stays_here = token.starts_with(billing::key_prefix_here)};
  if (!parts.require_keys) return Asker{};
  if (token.starts_with(guest_prefix)) {
    WEFT_OK(parts.guests.admit(token, request.address, unix_now(), now()));
    return Asker{.is_guest = true};
  }
  if (token.empty())
    return fail(ErrorCode::unauthenticated,
                "No API key was given: send the header \"Authorization: Bearer KEY\" (`weft key "
                "add` makes one).");
  return fail(ErrorCode::unauthenticated,
              "The API key does not have the form of this coordinator's keys.");
}

bool may_pass_on(const Asker& asker, bool is_allowed, const PassingOnRules& rules) {
  return (is_allowed || !rules.if_asked) && !(asker.is_guest && rules.not_of_guests) &&
         !(asker.stays_here && rules.not_of_keys_that_stay);
}

void refuse_asker(const Error& error, const net::Respond& respond) {
  respond(refusal({.error = error, .retry = std::chrono::seconds(3)}, {}));
}

std::uint64_t random_seed() {
  std::uint64_t seed = 0;
  crypto::random_bytes({reinterpret_cast<std::uint8_t*>(&seed), sizeof seed});
  // 53 bits, which every JSON reader keeps exactly, so that a client can repeat the seed.
  return seed >> 11;
}

namespace {

// Passes a request to a fallback endpoint because this network is too expensive for it. The
// request's key must admit it first, and it counts as one request of the key.
void ask_elsewhere(const HttpParts& parts, const Asker& asker, const OpenAiRequest& asked,
                   const Error& why, const net::Respond& respond) {
  if (!asker.key) return asked.otherwise(why, respond);
  billing::AnswerOrder order{.model = asked.model, .ids = {{{crypto::ordered_id()}}}};
  order.key = *asker.key;
  post_or_refuse(
      parts.loop, respond,
      [otherwise = asked.otherwise, why, respond, order](jobs::Core& core, jobs::Moment moment) {
        core.completions().admit(
            order, moment,
            [otherwise, why, respond](const Result<billing::AnswerAdmission>& admitted) {
              if (admitted->refused) return respond(refusal(*admitted->refused, admitted->rates));
              otherwise(why, respond);
            });
        core.completions().answered({.id = order.ids.front(), .end = {.reason = "told"}}, moment);
      });
}

}  // namespace

void ask(const HttpParts& parts, const Asker& asker, OpenAiRequest asked,
         const net::IncomingRequest& request, const net::Respond& respond) {
  ModelService& models = parts.models;
  if (const auto word = request.header("x-weft-trust"); !word.empty()) {
    const auto trust = read_answer_trust(word);
    if (!trust) return respond(openai_error(trust.error(), "x-weft-trust"));
    asked.trust = *trust;
  }
  // A model without terms may not exist any more; the model service then replies not_found.
  const ModelTerms terms = models.catalog().terms(asked.model).value_or(ModelTerms{});
  if (parts.fallback != nullptr && may_pass_on(asker, asked.allows_fallback)) {
    asked.otherwise = [&fallback = *parts.fallback,
                       elsewhere = FallbackRequest{.path = request.path,
                                                   .body = request.body,
                                                   .connected = request.connected}](
                          const Error& why, const net::Respond& answer) {
      fallback.answer(elsewhere, why, answer);
    };
  }
  if (asked.price_max && terms.price > *asked.price_max) {
    const Error why{
        ErrorCode::invalid_argument,
        weft::format("1,000 tokens of the model '{}' cost {} micro-credits; max_price is {}.",
                     asked.model, terms.price, *asked.price_max)};
    if (asked.otherwise) return ask_elsewhere(parts, asker, asked, why, respond);
    return respond(openai_error(why, "max_price"));
  }
  asked.asker = std::hash<std::string>()(asker.key ? asker.key->text() : request.address);
  if (!asker.key) return models.answer(std::move(asked), request, respond);
  billing::AnswerOrder order = order_of(asked, terms);
  order.key = *asker.key;
  const bool queued = parts.loop.post([&models, request, respond, order, asked = std::move(asked)](
                                          jobs::Core& core, jobs::Moment moment) {
    core.completions().admit(
        order, moment,
        [&models, request, respond, order,
         asked](const Result<billing::AnswerAdmission>& admitted) mutable {
          if (admitted->refused) return respond(refusal(*admitted->refused, admitted->rates));
          request.recognise_client(order.key.text());
          // The rest of the key's budget may bound the answer's tokens.
          if (admitted->tokens_worst < order.tokens_worst)
            asked.ask.tokens_max = static_cast<std::uint32_t>(
                std::max<std::uint64_t>(1, admitted->tokens_worst - order.tokens_least));
          models.answer(
              std::move(asked), request, respond,
              {.answers = admitted->answers, .headers = billing::rate_headers(admitted->rates)});
        });
  });
  if (!queued)
    respond(openai_error(
        {ErrorCode::unavailable, "The coordinator has too much to do; try again later."}));
}

void with_owner(const HttpParts& parts, const Asker& asker, const net::Respond& respond,
                std::function<void(std::string owner)> go) {
  if (!asker.key) return go({});
  const bool queued = parts.loop.post(
      [respond, key = *asker.key, go = std::move(go)](jobs::Core& core, jobs::Moment) {
        core.keys().show(key, [respond, go](const Result<billing::ApiKey>& found) {
          found ? go(found->owner.text()) : respond(openai_error(found.error()));
        });
      });
  if (!queued)
    respond(openai_error(
        {ErrorCode::unavailable, "The coordinator has too much to do; try again later."}));
}

void with_access(const HttpParts& parts, const net::IncomingRequest& request,
                 const net::Respond& respond, std::function<void()> show) {
  const auto token = request.bearer();
  if (token.starts_with(billing::api_key_prefix)) {
    post_or_refuse(parts.loop, respond,
                   [respond, key = billing::api_key_hash(token), show = std::move(show)](
                       jobs::Core& core, jobs::Moment) {
                     core.keys().show(key, [respond, show](const Result<billing::ApiKey>& found) {
                       found ? show() : respond(openai_error(found.error()));
                     });
                   });
    return;
  }
  // The coordinator's page lists the models before it has a token. Guests are counted only when
  // they ask a model.
  const bool guest = parts.guests.welcome() && request.header("sec-fetch-site") == "same-origin";
  if (!parts.require_keys || guest || token.starts_with(guest_prefix)) return show();
  respond(openai_error(asker_of(parts, request).error()));
}

}  // namespace weft::coordinator
