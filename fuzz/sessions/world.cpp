#include "fuzz/sessions/world.h"

#include <algorithm>
#include <cstring>
#include <poll.h>
#include <thread>

#include "common/base/format.h"
#include "common/crypto/invitation.h"
#include "common/crypto/sha256.h"
#include "common/crypto/wallet.h"
#include "common/protocol/api.h"
#include "common/protocol/signing.h"
#include "fuzz/sessions/busy.h"

namespace weft::sessions {

using namespace std::chrono_literals;

namespace {

constexpr std::size_t clients_count = 6, workers_count = 8;
// An idle machine needs a fraction of this time; a busy one gets more time by its load.
Duration patience() { return 60s * busy(); }
Duration busy_patience() { return 10s * busy(); }  // If answers may say "try again".

crypto::KeyPair wallet_of(std::uint64_t seed, const char* role, std::size_t index) {
  const Hash hash = crypto::sha256(as_bytes(weft::format("{} {} {}", seed, role, index)));
  return crypto::KeyPair::from_seed(hash.span()).value();
}

// The method and path of a request's text, such as "GET /v1/jobs".
std::string route_of(const std::string& text) {
  const auto space = text.find(' ');
  if (!text.starts_with("GET") && !text.starts_with("P") && !text.starts_with("DELETE")) return "?";
  std::size_t end = space;
  for (int slashes = 0; ++end < text.size();) {
    if (text[end] == '/' && ++slashes > 2) break;
    if (text[end] == ' ' || text[end] == '?' || text[end] < ' ') break;
  }
  constexpr std::size_t characters_max = 40;
  return text.substr(0, std::min(end, characters_max));
}

}  // namespace

World::World(std::uint64_t seed_given, std::filesystem::path folder)
    : seed(seed_given),
      random(seed_given),
      data(std::move(folder)),
      coordinator(data, seed_given),
      plain(wallet_of(seed_given, "plain", 0)) {
  for (std::size_t i = 0; i < clients_count; ++i) clients.push_back(wallet_of(seed, "client", i));
  for (std::size_t i = 0; i < workers_count; ++i) workers.push_back(wallet_of(seed, "worker", i));
}

void World::fail(std::string what) {
  if (trouble.empty()) trouble = std::move(what);
}

std::string World::host() const { return text_of(coordinator.at()); }

std::uint32_t World::address(std::size_t party) const {
  return 0x7f000000U | (1U << 16) | static_cast<std::uint32_t>(party + 1);
}

Nonce World::nonce() {
  Nonce out;
  for (auto& byte : out) byte = static_cast<std::uint8_t>(random.any());
  return out;
}

std::string World::invitation(bool for_client) {
  using enum crypto::InvitationKind;
  const crypto::InvitationKind kinds[] = {worker, verifier, client, own};
  return crypto::write_invitation(
      *operators, {.kind = for_client          ? client
                           : random.chance(20) ? random.pick(kinds)
                           : random.chance(50) ? worker
                                               : verifier,
                   .until = unix_now() + (random.chance(5) ? -1000 : 3'600'000),
                   .wallet = random.chance(5) ? clients[0].public_key() : PublicKey{}});
}

std::string World::verifiers_invitation() const {
  return crypto::write_invitation(
      *operators,
      {.kind = crypto::InvitationKind::verifier, .until = unix_now() + 3'600'000, .wallet = {}});
}

HttpRequest World::sign(const crypto::KeyPair& wallet, HttpRequest request,
                        std::optional<Nonce> given, std::optional<Hash> blob) {
  const Nonce used = given ? *given : nonce();
  protocol::RequestClaim claim{.coordinator = coordinator_key, .time = unix_now(), .nonce = used};
  claim.method = request.method;
  claim.target = protocol::read_target(request.target);
  claim.body = blob.value_or(crypto::sha256(as_bytes(request.body)));
  request.headers["weft-client"] = wallet.public_key().text();
  request.headers["weft-nonce"] = to_hex(claim.nonce);
  request.headers["weft-time"] = std::to_string(claim.time);
  request.headers["weft-signature"] = wallet.sign_now(protocol::request_digest(claim)).text();
  return request;
}

void World::ask_text(std::string text, Answered answered, std::uint32_t source) {
  ++events;
  constexpr std::size_t at_a_time = 48;
  if (exchanges_.size() >= at_a_time) exchanges_.erase(exchanges_.begin());
  auto exchange = std::make_unique<Exchange>(coordinator.at(), source);
  exchange->answered = std::move(answered);
  exchange->give_up = now() + patience();
  exchange->line.send(text);
  exchange->route = route_of(text);
  exchanges_.push_back(std::move(exchange));
}

void World::ask(HttpRequest request, Answered answered, std::uint32_t source) {
  if ((request.method == "POST" || request.method == "PUT") &&
      !request.headers.contains("content-type"))
    request.headers["content-type"] = "application/json";
  ask_text(text_of(request, host()), std::move(answered), source);
}

std::optional<HttpAnswer> World::ask_now(const HttpRequest& request, std::uint32_t source) {
  const Instant begun = now();
  const Instant give_up = begun + patience();
  while (now() < give_up && coordinator.end().empty()) {
    std::optional<HttpAnswer> got;
    bool over = false;
    ask(
        request,
        [&](const std::optional<HttpAnswer>& answer) {
          got = answer;
          over = true;
        },
        source);
    const auto* mine = exchanges_.back().get();
    while (!over && now() < give_up) {
      pump(5ms);
      if (!meanwhile || busy_meanwhile_) continue;
      busy_meanwhile_ = true;
      meanwhile();
      busy_meanwhile_ = false;
    }
    if (!over) std::erase_if(exchanges_, [&](const auto& each) { return each.get() == mine; });
    const bool later = got && (got->status == 503 || got->status == 429);
    if (got && (!later || now() > begun + busy_patience())) return got;
    std::this_thread::sleep_for(5ms);
  }
  return std::nullopt;
}

void World::pump(std::chrono::milliseconds wait) {
  std::vector<int> files;
  for (const auto& each : exchanges_) {
    if (each->line.is_open()) files.push_back(each->line.file());
  }
  other_files(files);
  std::vector<pollfd> polled;
  for (const int file : files) polled.push_back({.fd = file, .events = POLLIN, .revents = 0});
  poll(polled.data(), polled.size(), static_cast<int>(wait.count()));
  // Callbacks are called after the loop, because a callback may send another request.
  std::vector<std::pair<Answered, std::optional<HttpAnswer>>> done;
  std::erase_if(exchanges_, [&](const auto& each) {
    const bool open = each->line.pump();
    auto answer = take_answer(each->line.in, !open);
    // A 100 Continue comes before the answer.
    if (answer && answer->status == 100) answer = take_answer(each->line.in, !open);
    if (!answer && open && now() < each->give_up) return false;
    ++counts[weft::format("{} {}", each->route, answer ? answer->status : 0)];
    if (answer && answer->status >= 400) {
      constexpr std::size_t characters_max = 90;
      const auto at =
          answer->body.find(answer->body.contains("\"detail\"") ? "\"detail\"" : "\"message\"");
      if (at != std::string::npos) ++counts["why " + answer->body.substr(at, characters_max)];
    }
    done.emplace_back(each->answered, std::move(answer));
    return true;
  });
  for (auto& [answered, answer] : done) {
    // A model server may fail at any time, so that its 500 is allowed.
    if (answer && answer->status == 500 && !answer->body.contains("The worker could not answer"))
      fail("An answer of 500: " + answer->body);
    answered(answer);
  }
}

bool World::start() {
  for (int tries = 0; tries < 5; ++tries) {
    coordinator.start();
    const Instant give_up = now() + patience();
    std::string end;
    while (now() < give_up) {
      end = coordinator.end();
      if (!end.empty()) break;
      std::optional<HttpAnswer> ready;
      bool over = false;
      ask(
          {.target = "/v1/info"},
          [&](const std::optional<HttpAnswer>& answer) {
            ready = answer;
            over = true;
          },
          address(200));
      while (!over) pump(5ms);
      if (ready && ready->status == 200) {
        const auto info = protocol::api::from_json<protocol::api::Info>(ready->body);
        if (!info) break;
        const PublicKey key = PublicKey::parse(info->coordinator).value();
        if (coordinator_key != PublicKey{} && key != coordinator_key) {
          fail("Another coordinator answers at " + host() + ".");
          return false;
        }
        coordinator_key = key;
        auto wallet = crypto::load_wallet(data / "coordinator.json");
        if (!wallet) break;
        operators.emplace(std::move(*wallet));
        return true;
      }
      std::this_thread::sleep_for(10ms);
    }
    if (end.contains("status 75")) continue;
    fail(end.empty() ? "The coordinator does not answer." : "It does not start: " + end);
    return false;
  }
  fail("There is no free port.");
  return false;
}

}  // namespace weft::sessions
