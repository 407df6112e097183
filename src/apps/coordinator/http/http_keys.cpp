// /v1/keys: API keys, which the wallets that pay for them and the operator make, list and revoke.
// All requests are signed. GET /v1/guest: a token for the coordinator's own page.
#include <algorithm>

#include "apps/coordinator/http/operator.h"
#include "common/base/format.h"
#include "common/crypto/sha256.h"
#include "common/json/json.h"
#include "decisions/jobs/client_keys.h"

namespace weft::coordinator {

namespace {

using In = const net::IncomingRequest&;
using Out = const net::Respond&;

struct Wanted {
  billing::ApiKey key;
  MicroCredits give = 0;
  bool stays_here = false;
};

Result<Wanted> read_wanted(std::string_view body) {
  WEFT_ASSIGN(const json::Value root, json::parse(body, {.bytes_max = 4096}));
  WEFT_ASSIGN(const json::Object object,
              root.object({"name", "requests_per_min", "tokens_per_min", "tokens_max",
                           "credits_max", "give", "fallback"}));
  Wanted out;
  WEFT_ASSIGN(const json::Value name, object.get("name"));
  WEFT_ASSIGN(out.key.name, name.string({.bytes_max = 128}));
  if (out.key.name.empty()) return name.error("must not be empty");
  const auto read = [&](std::string_view key, auto& number, std::uint64_t max) -> Result<> {
    const auto value = object.find(key);
    if (!value) return {};
    WEFT_ASSIGN(const std::uint64_t given, value->unsigned_integer(max));
    number = static_cast<std::remove_reference_t<decltype(number)>>(given);
    return {};
  };
  constexpr std::uint64_t rate_max = 1'000'000'000, amount_max = std::uint64_t{1} << 60;
  WEFT_OK(read("requests_per_min", out.key.requests_per_min, rate_max));
  WEFT_OK(read("tokens_per_min", out.key.tokens_per_min, rate_max));
  WEFT_OK(read("tokens_max", out.key.tokens_max, amount_max));
  WEFT_OK(read("credits_max", out.key.credits_max, amount_max));
  WEFT_OK(read("give", out.give, amount_max));
  if (const auto fallback = object.find("fallback")) {
    WEFT_ASSIGN(const std::string word, fallback->string({.bytes_max = 64}));
    if (word != "allow" && word != "never")
      return fallback->error("must be \"allow\" or \"never\"");
    out.stays_here = word == "never";
  }
  return out;
}

// The id of a new key, made from the client and the nonce, so that a repeated request makes no
// second key.
std::string id_of(const Signed& who, bool stays_here) {
  crypto::Sha256 digest;
  digest.update(as_bytes(std::string_view("weft-key-id-1")))
      .update(who.client.span())
      .update(who.nonce);
  return std::string(stays_here ? billing::id_prefix_here : "") +
         digest.finish().text().substr(0, 16);
}

void add_key(const HttpParts& parts, In request, const Signed& who, Out respond) {
  auto wanted = read_wanted(request.body);
  if (!wanted) return respond(net::problem(wanted.error()));
  const std::string secret = billing::new_api_secret(wanted->stays_here);
  wanted->key.id = id_of(who, wanted->stays_here);
  wanted->key.hash = billing::api_key_hash(secret);
  wanted->key.owner = who.client;
  const billing::KeyMaker maker =
      is_operator(parts, who.client) ? billing::KeyMaker::the_operator : billing::KeyMaker::client;
  post_or_refuse(parts.loop, respond,
                 [respond, secret, maker, wanted = *wanted](jobs::Core& core, jobs::Moment moment) {
                   core.keys().add(wanted.key, maker, wanted.give, moment,
                                   [respond, secret](const Result<billing::ApiKey>& key) {
                                     if (!key) return respond(net::problem(key.error()));
                                     respond(net::json_reply(
                                         201, weft::format(R"({{"secret":"{}","key":{}}})", secret,
                                                           billing::to_json(*key))));
                                   });
                 });
}

void list_keys(const HttpParts& parts, In request, Out respond) {
  const auto who = parts.signatures.signer(request);
  if (!who) return respond(parts.signatures.refusal(who.error()));
  std::optional<PublicKey> owner = who->client;
  if (is_operator(parts, who->client)) owner.reset();
  post_or_refuse(parts.loop, respond, [respond, owner](jobs::Core& core, jobs::Moment) {
    core.keys().list(owner, [respond](const Result<std::vector<billing::ApiKey>>& keys) {
      std::string out;
      for (const billing::ApiKey& key : *keys)
        out += (out.empty() ? "" : ",") + billing::to_json(key);
      respond(net::json_reply(200, R"({"keys":[)" + out + "]}"));
    });
  });
}

void revoke_key(const HttpParts& parts, In request, const Signed& who, Out respond) {
  const std::string& id = request.parameters.at(0);
  std::optional<PublicKey> owner = who.client;
  if (is_operator(parts, who.client)) owner.reset();
  post_or_refuse(parts.loop, respond, [respond, id, owner](jobs::Core& core, jobs::Moment moment) {
    core.keys().revoke(id, owner, moment, [respond](const Result<billing::ApiKey>& key) {
      respond(key ? net::json_reply(200, billing::to_json(*key)) : net::problem(key.error()));
    });
  });
}

// Gives a guest token to the coordinator's page. Browsers report the origin of a request, and
// scripts cannot change that. Other programs can, but get only a guest's rate.
void guest(const HttpParts& parts, In request, Out respond) {
  if (!parts.guests.welcome())
    return respond(
        net::problem({ErrorCode::permission_denied,
                      "This coordinator admits no guests; a request needs an API key."}));
  const auto site = request.header("sec-fetch-site");
  if (!site.empty() && site != "same-origin")
    return respond(net::problem({ErrorCode::permission_denied,
                                 "Only the coordinator's own page may get a guest's token."}));
  respond(net::json_reply(200, weft::format(R"({{"token":"{}"}})",
                                            parts.guests.token_for(request.address, unix_now()))));
}

}  // namespace

void add_key_routes(const HttpParts& parts) {
  const auto kept = std::make_shared<const HttpParts>(parts);
  const auto add = [&](const char* method, const char* pattern, auto handle) {
    parts.server.route(
        {.method = method,
         .pattern = pattern,
         .handle = [kept, handle](In request, Out respond) { handle(*kept, request, respond); },
         .cost = 1});
  };
  add("POST", "/v1/keys", once(add_key));
  add("GET", "/v1/keys", list_keys);
  add("DELETE", "/v1/keys/{}", once(revoke_key));
  add("GET", "/v1/guest", guest);
}

}  // namespace weft::coordinator
