#include "fuzz/sessions/clients.h"

#include <algorithm>
#include <fstream>
#include <regex>

#include "common/base/format.h"
#include "common/crypto/sha256.h"
#include "common/json/quote.h"
#include "common/protocol/api.h"
#include "common/protocol/signing.h"
#include "decisions/inference/model_card.h"
#include "fuzz/sessions/mutate.h"
#include "fuzz/sessions/work.h"

namespace weft::sessions {

namespace {

bool is_2xx(const std::optional<HttpAnswer>& answer) {
  return answer && answer->status >= 200 && answer->status < 300;
}

std::string member(const std::string& body, const char* name) {
  const std::regex pattern(weft::format(R"re("{}" ?: ?"([^"]+)")re", name));
  std::smatch found;
  return std::regex_search(body, found, pattern) ? std::string(found[1]) : "";
}

}  // namespace

void Clients::act() {
  switch (world_.random.below(24)) {
    case 0:
    case 1:
    case 2:
    case 3:
      return submit();
    case 4:
      return submit_again();
    case 5:
      return cancel();
    case 6:
    case 7:
    case 8:
      return read();
    case 9:
      return upload();
    case 10:
      return upload_parts();
    case 11:
      return key();
    case 12:
    case 13:
      return owner();
    case 14:
      return stake();
    case 15:
      return model();
    case 16:
    case 17:
    case 18:
    case 19:
      return answer();
    case 20:
      return operate();
    default:
      return garbage();
  }
}

void Clients::begin() {
  auto& random = world_.random;
  // The operator gives credits: free ones, and granted ones with an invitation.
  for (std::size_t i = 0; i <= world_.clients.size(); ++i) {
    const bool plain = i == world_.clients.size();
    if (!plain && random.chance(20)) continue;
    const auto body = weft::format(R"({{"to":"{}","amount":{},"issue":true}})",
                                   (plain ? world_.plain : world_.clients[i]).public_key().text(),
                                   plain ? 1'000'000'000 : 1 + random.below(400'000'000));
    const auto answer = world_.ask_now(
        world_.sign(*world_.operators, {.method = "POST",
                                        .target = "/v1/owner/payments",
                                        .headers = {{"content-type", "application/json"}},
                                        .body = body}),
        world_.address(100));
    if (plain && !is_2xx(answer))
      world_.fail("The operator's payment was refused: " + (answer ? answer->body : "no answer"));
  }
  // Adds models that clients can ask; most have few bytes to load.
  const std::string head(64, 'h');
  const Hash hash = crypto::sha256(as_bytes(head));
  const auto asked = [&](const crypto::KeyPair& wallet, HttpRequest request,
                         std::optional<Hash> blob = std::nullopt) {
    request.headers["content-type"] = blob ? "application/octet-stream" : "application/json";
    return world_.ask_now(world_.sign(wallet, std::move(request), std::nullopt, blob),
                          world_.address(100));
  };
  if (is_2xx(asked(world_.plain,
                   {.method = "PUT", .target = "/v1/blobs/" + hash.text(), .body = head}, hash)))
    world_.blobs.push_back(hash);
  for (const char* name : {"m0", "m1"}) {
    if (world_.blobs.empty()) break;
    auto card = make_card(name);
    card.bytes = card.header_bytes = 64;
    card.layer_bytes = card.first_bytes = card.last_bytes = 1000;
    if (is_2xx(asked(world_.plain,
                     {.method = "POST", .target = "/v1/models", .body = inference::to_json(card)})))
      world_.models.push_back({.name = name, .owner = world_.clients.size()});
  }
  const auto key =
      asked(*world_.operators,
            {.method = "POST", .target = "/v1/keys", .body = R"({"name":"k","give":1000000000})"});
  if (is_2xx(key)) world_.secrets.push_back(member(key->body, "secret"));
}

void Clients::send(std::size_t client, HttpRequest request, World::Answered answered) {
  auto& random = world_.random;
  const crypto::KeyPair& wallet =
      client < world_.clients.size() ? world_.clients[client] : *world_.operators;
  const std::uint32_t source = world_.address(client);
  if (random.chance(10) && !request.body.empty()) {
    request.body = mutate_json(std::move(request.body), random);
    answered = {};
  }
  HttpRequest made = random.chance(4) ? request : world_.sign(wallet, request);
  if (random.chance(4) && made.headers.contains("weft-signature")) {
    static constexpr const char* names[] = {"weft-signature", "weft-time", "weft-nonce",
                                            "weft-client"};
    std::string& header = made.headers[names[random.below(4)]];
    header = random.chance(50) ? mutate_bytes(header, random) : "1";
    std::erase_if(header, [](char c) { return c == '\r' || c == '\n'; });
    answered = {};
  }
  if (!answered) answered = [](const std::optional<HttpAnswer>&) {};
  if (random.chance(4)) {
    if (!made.headers.contains("content-type")) made.headers["content-type"] = "application/json";
    return world_.ask_text(
        mutate_request(text_of(made, world_.host()), random), [](const auto&) {}, source);
  }
  world_.ask(std::move(made), std::move(answered), source);
}

std::string Clients::some_key() {
  auto& random = world_.random;
  if (random.chance(10)) return random.chance(50) ? "1" : "";
  const auto& list = random.chance(60) ? world_.clients : world_.workers;
  return list[random.below(list.size())].public_key().text();
}

std::string Clients::some_job() {
  auto& random = world_.random;
  if (world_.jobs.empty() || random.chance(10)) return std::string(32, 'a');
  return random.pick(world_.jobs).id;
}

void Clients::submit() {
  auto& random = world_.random;
  const std::size_t client = random.below(world_.clients.size());
  std::string text = make_manifest(random, world_.blobs);
  if (random.chance(15)) text = mutate_json(std::move(text), random);
  const Nonce nonce = world_.nonce();
  auto request = world_.sign(world_.clients[client],
                             {.method = "POST", .target = "/v1/jobs", .body = text}, nonce);
  world_.ask(
      std::move(request),
      [this, client, text, nonce](const std::optional<HttpAnswer>& answer) {
        if (!answer || answer->status != 202) return;
        const auto taken = protocol::api::from_json<protocol::api::Submitted>(answer->body);
        if (!taken) return world_.fail("What was submitted has no id: " + answer->body);
        if (std::ranges::contains(world_.jobs, taken->id, &KnownJob::id)) return;
        auto manifest = manifest::parse(text);
        world_.jobs.push_back(
            {.id = taken->id,
             .link = taken->link,
             .client = client,
             .nonce = nonce,
             .text = text,
             .manifest = manifest ? std::make_shared<const manifest::Manifest>(std::move(*manifest))
                                  : nullptr});
      },
      world_.address(client));
}

// Submits a request again. A request with its own nonce gives the job of the first submission, also
// after a restart. A nonce with a changed body is refused while the nonce is remembered, and never
// makes a second job.
void Clients::submit_again() {
  auto& random = world_.random;
  if (world_.jobs.empty()) return submit();
  const KnownJob& job = random.pick(world_.jobs);
  const bool same = random.chance(70);
  auto request = world_.sign(
      world_.clients[job.client],
      {.method = "POST", .target = "/v1/jobs", .body = same ? job.text : job.text + " "},
      job.nonce);
  world_.ask(
      std::move(request),
      [this, id = job.id](const std::optional<HttpAnswer>& answer) {
        if (answer && answer->status == 202 && member(answer->body, "id") != id)
          world_.fail("One nonce made two jobs: " + id + " and " + answer->body);
      },
      world_.address(job.client));
}

void Clients::cancel() {
  auto& random = world_.random;
  const std::string id = some_job();
  const auto known = std::ranges::find(world_.jobs, id, &KnownJob::id);
  const std::size_t client =
      known == world_.jobs.end() || random.chance(25) ? random.below(7) : known->client;
  send(client, {.method = "DELETE", .target = "/v1/jobs/" + id},
       [this, id](const std::optional<HttpAnswer>& answer) {
         if (!is_2xx(answer)) return;
         const auto job = std::ranges::find(world_.jobs, id, &KnownJob::id);
         if (job != world_.jobs.end()) job->cancelled = true;
       });
}

void Clients::read() {
  auto& random = world_.random;
  static constexpr const char* targets[] = {"/v1/jobs",
                                            "/v1/workers",
                                            "/v1/ledger",
                                            "/v1/clients",
                                            "/v1/serving",
                                            "/v1/models",
                                            "/v1/info",
                                            "/metrics",
                                            "/healthz",
                                            "/readyz",
                                            "/v1/keys",
                                            "/v1/guest",
                                            "/v1/owner",
                                            "/v1/owner/statement",
                                            "/v1/owner/grant",
                                            "/",
                                            "/index.html",
                                            "/v1/watch",
                                            "/v1/worker",
                                            "/v1/settlement",
                                            "/v1/identity/00112233445566778899aabbccddeeff",
                                            "/v1/identity/0",
                                            "/v1/nothing"};
  std::string target = targets[random.below(std::size(targets))];
  const auto query = [&](const char* name, const std::string& value) {
    target += (target.contains('?') ? '&' : '?') + std::string(name) + '=' + value;
  };
  switch (random.below(10)) {
    case 0:
      target = "/v1/jobs/" + some_job();
      break;
    case 1:
      target = weft::format("/v1/jobs/{}/outputs/{}", some_job(), random.below(3));
      break;
    case 2:
      target = weft::format("/v1/jobs/{}/tasks/{}/proof", some_job(), random.number());
      break;
    case 3:
      target = "/v1/tasks?job=" + some_job();
      break;
    case 4:
      target = "/v1/ledger?job=" + some_job();
      break;
    case 5:
      target = weft::format("/v1/ledger?account={}:{}", random.chance(50) ? "owner" : "stake",
                            some_key());
      break;
    case 6:
      target = "/v1/stakes/" + some_key();
      break;
    case 7:
      target = "/v1/blobs/" + (world_.blobs.empty() ? Hash() : random.pick(world_.blobs)).text();
      break;
    default:
      break;
  }
  if (random.chance(20)) query("count", std::to_string(random.number()));
  if (random.chance(20)) query("from", std::to_string(random.number()));
  if (random.chance(15)) query("before", std::to_string(random.number()));
  if (random.chance(15)) query("client", some_key());
  if (random.chance(10)) query("account", "owner");
  if (random.chance(10) && !world_.jobs.empty()) query("link", random.pick(world_.jobs).link);
  HttpRequest request{.method = random.chance(5) ? "HEAD" : "GET", .target = target};
  if (request.method == "HEAD")
    return world_.ask_text(text_of(request, world_.host()), [](const auto&) {}, world_.address(1));
  if (random.chance(15))
    request.headers["range"] = weft::format("bytes={}-{}", random.below(30), random.below(60));
  if (random.chance(10) && !world_.secrets.empty())
    request.headers["authorization"] = "Bearer " + random.pick(world_.secrets);
  send(random.below(7), std::move(request));
}

void Clients::upload() {
  auto& random = world_.random;
  const std::size_t client = random.below(7);
  const std::string body = random.bytes(random.chance(70) ? 64 : random.below(150'000));
  const Hash hash = crypto::sha256(as_bytes(body));
  Hash named = hash;
  if (random.chance(10)) named.bytes[3] ^= 1;
  const auto& wallet = client < world_.clients.size() ? world_.clients[client] : *world_.operators;
  world_.ask(
      world_.sign(wallet,
                  {.method = "PUT",
                   .target = "/v1/blobs/" + named.text(),
                   .headers = {{"content-type", "application/octet-stream"}},
                   .body = body},
                  std::nullopt, named),
      [this, hash, named, size = body.size()](const std::optional<HttpAnswer>& answer) {
        if (!is_2xx(answer)) return;
        if (hash != named) return world_.fail("A blob was stored under another's hash.");
        if (size == 64) world_.blobs.push_back(hash);
      },
      world_.address(client));
}

void Clients::upload_parts() {
  auto& random = world_.random;
  const std::size_t client = random.below(world_.clients.size());
  const std::string body = random.bytes(100 + random.below(5'000));
  const Hash hash = crypto::sha256(as_bytes(body));
  const std::string target = "/v1/blobs/" + hash.text();
  for (std::size_t at = 0; at < body.size();) {
    std::size_t count = std::min(body.size() - at, 1 + random.below(3'000));
    std::string part = body.substr(at, count);
    if (random.chance(5)) part = random.bytes(part.size());
    const std::size_t first = random.chance(5) ? at + 1 : at;
    const auto range = weft::format("bytes {}-{}/{}", first, first + count - 1,
                                    random.chance(5) ? std::size_t{1} << 60 : body.size());
    world_.ask(
        world_.sign(
            world_.clients[client],
            {.method = "PUT",
             .target = target,
             .headers = {{"content-range", range}, {"content-type", "application/octet-stream"}},
             .body = part},
            std::nullopt, hash),
        [](const auto&) {}, world_.address(client));
    if (random.chance(70)) world_.pump(std::chrono::milliseconds(3));
    if (random.chance(10)) return;  // The upload is never finished.
    at += count;
  }
  if (random.chance(50))
    send(client, {.target = weft::format("{}/upload/{}", target,
                                         world_.clients[client].public_key().text())});
}

void Clients::key() {
  auto& random = world_.random;
  const std::size_t client = random.below(7);
  if (random.chance(25)) return send(client, {.target = "/v1/keys"});
  if (random.chance(25) && !world_.key_ids.empty())
    return send(client, {.method = "DELETE", .target = "/v1/keys/" + random.pick(world_.key_ids)});
  send(
      client,
      {.method = "POST",
       .target = "/v1/keys",
       .body = weft::format(
           R"({{"name":"k","requests_per_min":{},"tokens_per_min":{},"tokens_max":{},"credits_max":{},"give":{}}})",
           random.chance(70) ? 0 : random.below(5), random.chance(70) ? 0 : random.below(5'000),
           random.chance(70) ? 0 : random.below(5'000), random.chance(70) ? 0 : random.below(5'000),
           client == 6 ? random.below(1000) : 0)},
      [this](const std::optional<HttpAnswer>& answer) {
        if (!is_2xx(answer)) return;
        if (const auto secret = member(answer->body, "secret"); !secret.empty())
          world_.secrets.push_back(secret);
        if (const auto id = member(answer->body, "id"); !id.empty()) world_.key_ids.push_back(id);
      });
}

void Clients::owner() {
  auto& random = world_.random;
  const std::size_t client = random.below(7);
  switch (random.below(6)) {
    case 0:
      return send(client, {.method = "POST",
                           .target = "/v1/owner/grant",
                           .body = weft::format(R"({{"invitation":"{}"}})",
                                                world_.invitation(random.chance(90)))});
    case 1:
    case 2:
      return send(client, {.method = "POST",
                           .target = "/v1/owner/payments",
                           .body = weft::format(
                               R"({{"to":"{}","amount":{}{}}})", some_key(),
                               random.chance(50) ? random.number() : random.below(1'000'000),
                               random.chance(20) ? R"(,"issue":true)" : "")});
    case 3:
      return send(client, {.method = "POST",
                           .target = "/v1/owner/settlements",
                           .body = weft::format(R"({{"amount":{}}})",
                                                random.chance(50) ? random.number() : 1'000'000)});
    case 4: {
      const auto& list = random.chance(50) ? world_.workers : world_.clients;
      const crypto::KeyPair& device = list[random.below(list.size())];
      const PublicKey owner = world_.clients[client % world_.clients.size()].public_key();
      const char* role = random.chance(70) ? "full" : "recovery";
      const auto consent =
          device.sign_now(protocol::device_digest(world_.coordinator_key, owner, role));
      return send(client,
                  {.method = "POST",
                   .target = "/v1/owner/devices",
                   .body = weft::format(
                       R"({{"owner":"{}","device":"{}","role":"{}","name":"d","consent":"{}"}})",
                       owner.text(), device.public_key().text(), role, consent.text())});
    }
    default:
      return send(client, {.method = "DELETE", .target = "/v1/owner/devices/" + some_key()});
  }
}

void Clients::stake() {
  auto& random = world_.random;
  const bool of_worker = random.chance(60);
  const auto body =
      weft::format(R"({{"action":"{}","amount":{}}})", random.chance(60) ? "deposit" : "withdraw",
                   random.chance(30) ? random.number() : random.below(5'000));
  if (!of_worker)
    return send(random.below(6), {.method = "POST", .target = "/v1/stakes", .body = body});
  world_.ask(
      world_.sign(random.pick(world_.workers),
                  {.method = "POST", .target = "/v1/stakes", .body = body}),
      [](const auto&) {}, world_.address(60));
}

inference::ModelCard Clients::make_card(std::string name) {
  auto& random = world_.random;
  const std::uint32_t layers = 1 + static_cast<std::uint32_t>(random.below(12));
  return {.name = std::move(name),
          .file = random.pick(world_.blobs).text(),
          .chunks = random.pick(world_.blobs).text(),
          .bytes = random.chance(70) ? 64 : 1 + random.below(std::size_t{1} << 34),
          .header_bytes = 1 + random.below(64),
          .chunk_bytes = 1 << 16,
          .architecture = "llama",
          .layers = layers,
          .embedding = 64,
          .vocabulary = 300,
          .context = 64 + static_cast<std::uint32_t>(random.below(1'000)),
          .layer_bytes = 1 + random.below(std::size_t{20} << 20),
          .first_bytes = random.below(5 << 20),
          .last_bytes = random.below(5 << 20),
          .cache_bytes = random.below(1000),
          .shards_min = 1 + static_cast<std::uint32_t>(random.below(std::min(layers, 3U))),
          .price = random.chance(40) ? 0 : static_cast<MicroCredits>(random.below(2'000'000)),
          .owner = {}};
}

void Clients::model() {
  auto& random = world_.random;
  const std::size_t client = random.below(7);
  if (random.chance(20) && !world_.models.empty()) {
    const auto& model = random.pick(world_.models);
    return send(random.chance(70) ? model.owner : client,
                {.method = "DELETE", .target = "/v1/models/" + model.name});
  }
  if (world_.blobs.empty()) return upload();
  const inference::ModelCard card = make_card(weft::format("m{}", random.below(6)));
  send(client, {.method = "POST", .target = "/v1/models", .body = inference::to_json(card)},
       [this, name = card.name, client](const std::optional<HttpAnswer>& answer) {
         if (is_2xx(answer)) world_.models.push_back({.name = name, .owner = client});
       });
}

void Clients::answer() {
  auto& random = world_.random;
  static constexpr const char* routes[] = {"/v1/chat/completions", "/v1/completions",
                                           "/v1/responses",        "/tokenize",
                                           "/detokenize",          "/apply-template"};
  const std::size_t route = random.below(std::size(routes));
  const std::string model =
      world_.models.empty() || random.chance(10) ? "m0" : random.pick(world_.models).name;
  std::string more = random.chance(50) ? R"(,"stream":true)" : "";
  if (random.chance(15)) more += R"(,"stream_options":{"include_usage":true})";
  if (random.chance(40) && route < 2)
    more += weft::format(R"(,"max_tokens":{})", 1 + random.below(60));
  if (random.chance(10)) more += R"(,"stop":["a","bc"])";
  if (random.chance(10) && route == 0) more += R"(,"logprobs":true,"top_logprobs":3)";
  if (random.chance(10)) more += weft::format(R"(,"n":{})", 1 + random.below(3));
  if (random.chance(10)) more += weft::format(R"(,"max_price":{})", random.below(1000));
  if (random.chance(10) && route == 0)
    more +=
        R"(,"response_format":{"type":"json_schema","json_schema":{"name":"n","schema":{"type":"object"}}})";
  if (random.chance(10) && route == 0)
    more +=
        R"(,"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object"}}}],"tool_choice":"required")";
  if (random.chance(10) && route == 1) more += R"(,"grammar":"root ::= \"a\"")";
  const std::string text = json::quote(std::string(1 + random.below(60), 'h'));
  std::string body;
  switch (route) {
    case 0:
      body = weft::format(R"({{"model":"{}","messages":[{{"role":"user","content":{}}}]{}}})",
                          model, text, more);
      break;
    case 1:
      body = weft::format(R"({{"model":"{}","prompt":{}{}}})", model, text, more);
      break;
    case 2: {
      const bool goes_on = !world_.responses.empty() && random.chance(40);
      body = weft::format(
          R"({{"model":"{}","input":{},"store":{}{}{}}})", model, text, random.chance(60),
          random.chance(50) ? R"(,"stream":true)" : "",
          goes_on ? weft::format(R"(,"previous_response_id":"{}")", random.pick(world_.responses))
                  : "");
      break;
    }
    case 4:
      body = weft::format(R"({{"model":"{}","tokens":[1,104,256,{},299]}})", model,
                          random.chance(80) ? 5 : random.number());
      break;
    case 5:
      body = weft::format(R"({{"model":"{}","messages":[{{"role":"user","content":{}}}]}})", model,
                          text);
      break;
    default:
      body = weft::format(R"({{"model":"{}","content":{},"add_special":true}})", model, text);
  }
  if (random.chance(15)) body = mutate_json(std::move(body), random);
  HttpRequest request{.method = "POST", .target = routes[route], .body = std::move(body)};
  if (!world_.secrets.empty() && random.chance(80))
    request.headers["authorization"] = "Bearer " + random.pick(world_.secrets);
  if (route == 2 && !world_.responses.empty() && random.chance(20))
    request = {.method = random.chance(50) ? "GET" : "DELETE",
               .target = "/v1/responses/" + random.pick(world_.responses),
               .headers = request.headers};
  world_.ask(
      std::move(request),
      [this, route](const std::optional<HttpAnswer>& answer) {
        if (route != 2 || !is_2xx(answer)) return;
        if (const auto id = member(answer->body, "id"); id.starts_with("resp_"))
          world_.responses.push_back(id);
      },
      world_.address(random.below(6)));
}

void Clients::operate() {
  auto& random = world_.random;
  const std::size_t who = random.chance(80) ? 6 : random.below(6);
  if (random.chance(50))
    return send(who, {.method = "POST",
                      .target = "/v1/clients/" + some_key(),
                      .body = weft::format(R"({{"weight":{},"at":{}}})", random.below(5),
                                           unix_now() - random.below(1000))});
  send(who, {.method = "POST",
             .target = weft::format("/v1/workers/{}/pardon", some_key()),
             .body = weft::format(R"({{"at":{}}})", unix_now())});
}

// Sends bytes that are no request, several requests, or only a part of one.
void Clients::garbage() {
  auto& random = world_.random;
  const std::string host = world_.host();
  std::string text;
  switch (random.below(7)) {
    case 0:
      text = random.bytes(random.below(3'000));
      break;
    case 1: {  // Pipelined requests.
      for (std::size_t i = 1 + random.below(40); i > 0; --i)
        text += text_of({.target = random.chance(50) ? "/v1/jobs" : "/v1/workers"}, host);
      break;
    }
    case 2: {  // A head, or a body, that never ends.
      text = text_of({.method = "POST",
                      .target = "/v1/jobs",
                      .headers = {{"content-type", "application/json"},
                                  {"content-length", std::to_string(random.below(100'000'000))},
                                  {"weft-client", some_key()},
                                  {"weft-nonce", std::string(32, '0')},
                                  {"weft-time", std::to_string(unix_now())},
                                  {"weft-signature", std::string(88, '1')}},
                      .body = random.bytes(random.below(2'000))},
                     host);
      text.resize(random.below(text.size() + 1));
      break;
    }
    case 3: {  // A chunked body.
      text = text_of(
          {.method = "POST",
           .target = "/v1/chat/completions",
           .headers = {{"content-type", "application/json"}, {"transfer-encoding", "chunked"}},
           .body = weft::format("{:x}\r\n{}\r\n{}\r\n\r\n", random.below(20), random.bytes(10),
                                random.chance(50) ? "0" : "zz")},
          host);
      break;
    }
    case 4:  // An upgrade that is followed by bytes that are no WebSocket.
      text = weft::format(
                 "GET /v1/{} HTTP/1.1\r\nhost: {}\r\nupgrade: websocket\r\nconnection: "
                 "Upgrade\r\nsec-websocket-key: {}\r\nsec-websocket-version: {}\r\n\r\n",
                 random.chance(50) ? "worker" : "jobs", host, random.chance(50) ? "x" : "",
                 random.below(20)) +
             text_of({.target = "/v1/jobs"}, host) + random.bytes(100);
      break;
    case 5:
      text = mutate_request(text_of({.method = random.chance(50) ? "POST" : "PUT",
                                     .target = random.chance(50) ? "/v1/blobs/x" : "/v1/jobs",
                                     .headers = {{"content-type", "application/json"}},
                                     .body = R"({"weft":1})"},
                                    host),
                            random);
      break;
    default:  // A ClientHello of TLS.
      text = std::string("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11) + random.bytes(200);
  }
  world_.ask_text(std::move(text), [](const auto&) {}, world_.address(random.below(40)));
}

}  // namespace weft::sessions
