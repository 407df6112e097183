#include "apps/cli/signed_requests.h"

#include <chrono>
#include <mutex>
#include <utility>

#include "apps/cli/known_coordinators.h"
#include "apps/cli/progress.h"
#include "common/base/clock.h"
#include "common/base/format.h"
#include "common/crypto/ordered_id.h"
#include "common/crypto/own_invitation.h"
#include "common/crypto/sha256.h"
#include "common/json/json.h"
#include "common/json/quote.h"
#include "common/protocol/api.h"
#include "common/protocol/digests.h"
#include "common/protocol/part_claim.h"
#include "common/protocol/signing.h"
#include "platform/net/reach.h"
#include "platform/net/server.h"

namespace weft::cli {
namespace {

// True for requests that need credits, which may be granted credits.
bool is_spending(std::string_view path) {
  path = path.substr(0, path.find('?'));
  return path == "/v1/jobs" || path == "/v1/keys" || path == "/v1/models" ||
         path.starts_with("/v1/blobs/");
}

}  // namespace

Result<> SignedRequests::read_as(const crypto::KeyPair& wallet) {
  // Called before reader_ is set. With reader_ all reads are signed, but coordinator() reads the
  // key that a signature needs.
  WEFT_OK(coordinator());
  WEFT_ASSIGN(reader_, crypto::KeyPair::from_seed(wallet.seed()));
  return {};
}

Result<net::Response> SignedRequests::read(net::Request request) {
  return reader_ ? send(std::move(request), *reader_) : client_.send(request);
}

Result<std::string> SignedRequests::read_document(const std::string& path) {
  WEFT_ASSIGN(net::Response answer, read(net::get(path)));
  if (!in_json(answer))
    return fail(ErrorCode::not_found, "{} is not a Weft coordinator (its {} is not JSON).",
                client_.url(), path);
  return std::move(answer.body);
}

Result<PublicKey> SignedRequests::coordinator() {
  const std::scoped_lock lock(meeting_);
  if (coordinator_) return *coordinator_;
  const auto nonce = crypto::ordered_id();
  WEFT_ASSIGN(const std::string document, read_document("/v1/identity/" + to_hex(nonce)));
  WEFT_ASSIGN(const auto identity, protocol::api::from_json<protocol::api::Identity>(document));
  WEFT_ASSIGN(const PublicKey key, PublicKey::parse(identity.coordinator));
  WEFT_ASSIGN(const Signature signature, Signature::parse(identity.signature));
  const std::string host = protocol::canonical_host(client_.parsed_url().authority());
  if (!crypto::verify_now(key, protocol::identity_digest(key, nonce, host), signature))
    return fail(ErrorCode::unauthenticated,
                "{} does not prove that it is the coordinator {} under the name {}. Nothing was "
                "signed: it passes requests on to another host, or a proxy there replaces the "
                "Host header.",
                client_.url(), key.text(), host);
  WEFT_ASSIGN(
      const auto seen,
      KnownCoordinators::meet(
          {.host = host, .is_loopback = net::is_loopback(client_.parsed_url().host), .shown = key},
          identity.rotations));
  if (seen == KnownCoordinators::Seen::first) {
    WEFT_ASSIGN(const KnownCoordinators known, KnownCoordinators::of_user());
    say_beside_progress(
        weft::format("The coordinator at {} has the key {}, which is known from "
                     "now on ({}).",
                     host, key.text(), known.file().string()));
  }
  if (seen == KnownCoordinators::Seen::rotated)
    say_beside_progress(
        weft::format("The coordinator at {} has the new key {}, announced by its "
                     "old one.",
                     host, key.text()));
  return coordinator_.emplace(key);
}

Result<net::Request> SignedRequests::sign(net::Request request, const crypto::KeyPair& wallet,
                                          const Hash& body, ByteSpan nonce) {
  WEFT_ASSIGN(const PublicKey key, coordinator());
  const UnixMillis time = unix_now();
  const ByteVector digest = protocol::request_digest({.coordinator = key,
                                                      .method = request.method,
                                                      .target = protocol::read_target(request.path),
                                                      .body = body,
                                                      .time = time,
                                                      .nonce = nonce});
  request.headers["weft-client"] = wallet.public_key().text();
  request.headers["weft-nonce"] = to_hex(nonce);
  request.headers["weft-time"] = std::to_string(time);
  request.headers["weft-signature"] = wallet.sign_now(digest).text();
  return request;
}

Result<net::Response> SignedRequests::send(net::Request request, const crypto::KeyPair& wallet,
                                           const Hash& body, ByteSpan nonce) {
  WEFT_ASSIGN(request, sign(std::move(request), wallet, body, nonce));
  auto answer = client_.send(request);
  if (answer || answer.error().code != ErrorCode::insufficient_funds ||
      !is_spending(request.path) || !redeem_own(wallet))
    return answer;
  // The second attempt has a new nonce, because the coordinator remembers its answer to the first
  // attempt.
  WEFT_ASSIGN(request, sign(std::move(request), wallet, body, crypto::ordered_id()));
  return client_.send(request);
}

Result<net::Response> SignedRequests::send(net::Request request, const crypto::KeyPair& wallet) {
  const Hash body = crypto::sha256(as_bytes(request.body));
  return send(std::move(request), wallet, body, crypto::ordered_id());
}

Result<net::Response> SignedRequests::redeem(const std::string& invitation,
                                             const crypto::KeyPair& wallet) {
  return post("/v1/owner/grant", weft::format(R"({{"invitation":{}}})", json::quote(invitation)),
              wallet);
}

bool SignedRequests::redeem_own(const crypto::KeyPair& wallet) {
  if (redeemed_.exchange(true)) return false;
  const auto file = [&]() -> Result<std::string> {
    WEFT_ASSIGN(const net::Response answer, client_.send(net::get("/v1/owner/grant")));
    WEFT_ASSIGN(const json::Value root, json::parse(answer.body, {.bytes_max = 16'384}));
    WEFT_ASSIGN(const json::Object object, root.object({"grant", "invite_file"}));
    WEFT_ASSIGN(const json::Value path, object.get("invite_file"));
    return path.string({.bytes_max = 4'096});
  }();
  const auto key = coordinator();
  if (!file || !key) return false;
  const std::string text = crypto::own_invitation(*file, *key, wallet.public_key());
  if (text.empty()) return false;
  // already_exists is a success: another program has redeemed the invitation for this wallet a
  // moment earlier.
  const auto granted = redeem(text, wallet);
  return granted || granted.error().code == ErrorCode::already_exists;
}

Result<Hash> SignedRequests::put_blob(ByteSpan bytes, const crypto::KeyPair& wallet) {
  const Hash hash = crypto::sha256(bytes);
  net::Request request = net::put("/v1/blobs/" + hash.text(), std::string(as_text(bytes)));
  request.timeout = std::chrono::minutes(10);
  WEFT_OK(send(std::move(request), wallet, hash, crypto::ordered_id()));
  return hash;
}

Result<net::Response> SignedRequests::put_blob_part(const Hash& hash, ByteSpan part,
                                                    std::uint64_t offset, std::uint64_t total,
                                                    const crypto::KeyPair& wallet) {
  net::Request request = net::put("/v1/blobs/" + hash.text(), std::string(as_text(part)));
  request.headers["content-range"] =
      weft::format("bytes {}-{}/{}", offset, offset + part.size() - 1, total);
  // The timeout is long, because the coordinator hashes and writes the whole blob after its last
  // part.
  request.timeout = std::chrono::minutes(10);
  const Hash bytes = crypto::sha256(part);
  request.headers["weft-part"] = bytes.text();
  const Hash body =
      protocol::part_digest({.blob = hash, .first = offset, .total = total, .part = bytes});
  WEFT_ASSIGN(request, sign(std::move(request), wallet, body, crypto::ordered_id()));
  auto answer = client_.ask(request, [] {});
  if (!answer || answer->status != net::http_status(ErrorCode::insufficient_funds) ||
      !redeem_own(wallet))
    return answer;
  WEFT_ASSIGN(request, sign(std::move(request), wallet, body, crypto::ordered_id()));
  return client_.ask(request, [] {});
}

Result<net::Response> SignedRequests::post(const std::string& path, const std::string& body,
                                           const crypto::KeyPair& wallet) {
  return send(net::post(path, body), wallet);
}

Result<net::Response> SignedRequests::post(const std::string& path, const std::string& body,
                                           const crypto::KeyPair& wallet, ByteSpan nonce) {
  return send(net::post(path, body), wallet, crypto::sha256(as_bytes(body)), nonce);
}

Result<net::Response> SignedRequests::get(const std::string& path, const crypto::KeyPair& wallet) {
  return send(net::get(path), wallet);
}

Result<net::Response> SignedRequests::remove(const std::string& path,
                                             const crypto::KeyPair& wallet) {
  return send({.method = "DELETE", .path = path, .headers = {}, .body = {}}, wallet);
}

}  // namespace weft::cli
