#include "apps/coordinator/http/signatures.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <utility>

#include "common/base/format.h"
#include "common/crypto/keys.h"
#include "common/crypto/sha256.h"

namespace weft::coordinator {

namespace {

constexpr std::size_t waiting_max = 16;

UnixMillis millis(Duration duration) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(duration).count();
}

// Accepts digits only. A time has 13 digits until the year 2286.
std::optional<UnixMillis> read_time(std::string_view text) {
  UnixMillis time = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), time);
  if (error != std::errc() || end != text.data() + text.size() || time < 0) return std::nullopt;
  return time;
}

bool is_decided(const net::Reply& reply) {
  constexpr int too_many = 429, server_error = 500;
  return reply.status != too_many && reply.status < server_error && !reply.file && !reply.stream;
}

}  // namespace

Signatures::Signatures(PublicKey coordinator, SignatureSettings settings,
                       std::function<UnixMillis()> clock)
    : coordinator_(coordinator), settings_(settings), clock_(std::move(clock)) {}

void Signatures::Memory::forget(Key key) {
  const auto found = requests.find(key);
  if (found == requests.end()) return;
  bytes -= found->second.reply.body.size();
  requests.erase(found);
  const auto count = of.find(key.first);
  if (--count->second == 0) of.erase(count);
}

void Signatures::Memory::forget_old(UnixMillis now) {
  while (!ends.empty() && ends.front().first < now) {
    // A request that was forgotten and was then sent again has a later end in `requests`, and
    // stays.
    const auto found = requests.find(ends.front().second);
    if (found != requests.end() && found->second.until < now) forget(found->first);
    ends.pop_front();
  }
}

Result<Signed> Signatures::verify(const net::IncomingRequest& request, const Hash& body,
                                  Hash* without_time) const {
  const std::string_view client = request.header("weft-client");
  const std::string_view nonce = request.header("weft-nonce");
  const std::string_view time = request.header("weft-time");
  const std::string_view signature = request.header("weft-signature");
  if (client.empty() || nonce.empty() || time.empty() || signature.empty())
    return fail(ErrorCode::unauthenticated,
                "The request is not signed: it needs the headers Weft-Client, Weft-Nonce, "
                "Weft-Time and Weft-Signature.");
  const auto key = PublicKey::parse(client);
  if (!key)
    return fail(ErrorCode::unauthenticated, "Weft-Client is not a key: {}", key.error().message);
  const auto nonce_bytes = from_hex(nonce);
  if (!nonce_bytes || nonce_bytes->size() != protocol::request_nonce_bytes)
    return fail(ErrorCode::unauthenticated, "Weft-Nonce is not 32 hex digits.");
  const auto at = read_time(time);
  if (!at)
    return fail(ErrorCode::unauthenticated,
                "Weft-Time is not a number of milliseconds since 1970.");
  const auto signature_bytes = Signature::parse(signature);
  if (!signature_bytes)
    return fail(ErrorCode::unauthenticated, "Weft-Signature cannot be read: {}",
                signature_bytes.error().message);

  protocol::RequestClaim claim{.coordinator = coordinator_,
                               .method = request.method == "HEAD"
                                             ? std::string_view("GET")
                                             : std::string_view(request.method),
                               .target = {.path = request.path, .query = request.query},
                               .body = body,
                               .time = *at,
                               .nonce = *nonce_bytes};
  if (!crypto::verify_now(*key, protocol::request_digest(claim, settings_.parts), *signature_bytes))
    return fail(ErrorCode::unauthenticated,
                "The signature is not valid for this request, the key {} and this coordinator, {}.",
                client, coordinator_.text());
  const UnixMillis now = clock_();
  const UnixMillis valid = millis(settings_.valid_for);
  if (valid > 0 && (*at < now - valid || *at > now + valid))
    return fail(ErrorCode::unauthenticated,
                "The request was signed {} s {} the coordinator's clock, and a signature is valid "
                "for {} s: set this machine's clock, and sign again.",
                std::abs(now - *at) / 1000, *at < now ? "before" : "after", valid / 1000);
  if (without_time != nullptr) {
    claim.time = 0;
    const ByteVector digest = protocol::request_digest(claim, settings_.parts);
    std::ranges::copy(digest, without_time->bytes.begin());
  }
  request.identify(key->text());
  Signed who{.client = *key};
  std::ranges::copy(*nonce_bytes, who.nonce.begin());
  return who;
}

Result<Signed> Signatures::signer(const net::IncomingRequest& request) const {
  return verify(request, crypto::sha256(as_bytes(request.body)), nullptr);
}

Result<Signed> Signatures::signer_of_blob(const net::IncomingRequest& request,
                                          const Hash& blob) const {
  return verify(request, blob, nullptr);
}

std::optional<net::Reply> Signatures::remember(const Key& key, const Hash& request,
                                               const net::Respond& respond, bool& waits) {
  return memory_->with([&](Memory& memory) -> std::optional<net::Reply> {
    const UnixMillis now = clock_();
    memory.forget_old(now);
    if (const auto known = memory.requests.find(key); known != memory.requests.end()) {
      Remembered& first = known->second;
      if (first.request != request)
        return net::problem(
            {ErrorCode::already_exists,
             "This nonce was signed for another request; each request needs its own nonce."});
      if (first.answered) return first.reply;
      if (first.waiting.size() >= waiting_max)
        return net::problem({ErrorCode::unavailable,
                             "The same request is being answered already; try again in a moment."});
      first.waiting.push_back(respond);
      waits = true;
      return std::nullopt;
    }
    const auto count = memory.of.find(key.first);
    const bool is_operator = key.first == coordinator_;
    if (!is_operator && count != memory.of.end() &&
        count->second >= settings_.remembered_per_client)
      return net::problem({ErrorCode::resource_exhausted,
                           weft::format("The client has sent {} signed requests in {} minutes; "
                                        "try again in some minutes.",
                                        count->second, millis(settings_.remembered_for) / 60'000)},
                          429);
    if (memory.requests.size() >= settings_.remembered_max ||
        memory.bytes > settings_.remembered_bytes_max)
      return net::problem({ErrorCode::unavailable,
                           "The coordinator remembers as many signed requests as it can; try again "
                           "in some minutes."});
    const UnixMillis until = now + millis(settings_.remembered_for);
    memory.requests[key] = {.until = until, .request = request, .reply = {}, .waiting = {}};
    ++memory.of[key.first];
    memory.ends.emplace_back(until, key);
    return std::nullopt;
  });
}

void Signatures::once(const net::IncomingRequest& request, const net::Respond& respond,
                      const Act& act) {
  Hash digest;
  const auto who = verify(request, crypto::sha256(as_bytes(request.body)), &digest);
  if (!who) return respond(refusal(who.error()));
  if (settings_.remembered_for <= Duration::zero()) return act(*who, respond);
  const Key key{who->client, who->nonce};
  bool waits = false;
  if (auto reply = remember(key, digest, respond, waits)) return respond(std::move(*reply));
  if (waits) return;
  act(*who, [memory = memory_, key, respond](net::Reply reply) {
    const auto waiting = memory->with([&](Memory& all) {
      std::vector<net::Respond> out;
      const auto found = all.requests.find(key);
      if (found == all.requests.end() || found->second.answered) return out;
      out = std::exchange(found->second.waiting, {});
      if (is_decided(reply)) {
        found->second.answered = true;
        found->second.reply = reply;
        all.bytes += reply.body.size();
      } else {
        all.forget(key);
      }
      return out;
    });
    for (const net::Respond& other : waiting) other(reply);
    respond(std::move(reply));
  });
}

net::Reply Signatures::refusal(const Error& error) const {
  if (error.code != ErrorCode::unauthenticated) return net::problem(error);
  return net::problem(error, {{"time", std::to_string(clock_())}});
}

}  // namespace weft::coordinator
