#include "apps/cli/api_client.h"

#include <algorithm>
#include <future>
#include <iterator>
#include <thread>

#include "apps/cli/interruption.h"
#include "apps/cli/known_coordinators.h"
#include "apps/cli/progress.h"
#include "common/base/clock.h"
#include "common/base/format.h"
#include "common/crypto/ordered_id.h"
#include "common/crypto/own_invitation.h"
#include "common/crypto/sha256.h"
#include "common/json/json.h"
#include "common/json/quote.h"
#include "common/protocol/digests.h"
#include "common/protocol/part_claim.h"
#include "common/protocol/signing.h"
#include "platform/net/reach.h"
#include "platform/net/server.h"

namespace weft::cli {
namespace {

constexpr auto look_every = std::chrono::milliseconds(20);
constexpr auto silence_max = std::chrono::milliseconds(1'500);
constexpr auto reach_max = std::chrono::seconds(3);

// Says once on standard error what is waited for, when that takes more than a moment.
class Notice {
 public:
  explicit Notice(Instant begun) : begun_(begun) {}
  template <class... Args>
  void show(FormatString<Args...> text, Args&&... args) {
    if (shown_ || now() - begun_ < silence_max) return;
    shown_ = true;
    say_beside_progress(weft::format(text, std::forward<Args>(args)...));
  }

 private:
  const Instant begun_;
  bool shown_ = false;
};

// Requests that an account with granted credits may make, and an empty one may not.
bool is_spending(std::string_view path) {
  path = path.substr(0, path.find('?'));
  return path == "/v1/jobs" || path == "/v1/keys" || path == "/v1/models" ||
         path.starts_with("/v1/blobs/");
}

bool in_json(const net::Response& answer) {
  const auto type = answer.headers.find("content-type");
  return type != answer.headers.end() && type->second.contains("json");
}

}  // namespace

Result<std::unique_ptr<ApiClient>> ApiClient::create(const Options& options) {
  WEFT_ASSIGN(auto client, net::Client::create({.url = options.url, .tls = options.tls}));
  return std::unique_ptr<ApiClient>(
      new ApiClient(std::move(client), options.url, options.patience));
}

Result<net::Response> ApiClient::ask(const net::Request& request,
                                     const std::function<void()>& waiting) {
  const auto promise =
      std::make_shared<std::promise<Result<net::Response>>>();  // Shared: an interrupted caller
                                                                // does not wait for it.
  auto future = promise->get_future();
  client_->send(request,
                [promise](Result<net::Response> answer) { promise->set_value(std::move(answer)); });
  while (future.wait_for(look_every) != std::future_status::ready) {
    if (interrupted()) return fail(ErrorCode::cancelled, "Interrupted.");
    waiting();
  }
  return future.get();
}

Result<net::Response> ApiClient::send(const net::Request& request) {
  const Instant begun = now();
  const Instant give_up = begun + patience_;
  Notice notice(begun);
  const bool quick =
      request.timeout <= net::Request().timeout;  // Transfers take long by themselves.
  for (auto wait = std::chrono::milliseconds(100);;
       wait = std::min(wait * 2, std::chrono::milliseconds(2'000))) {
    Result<net::Response> answer = ask(request, [&] {
      if (quick)
        notice.show("{} does not answer yet; waiting {:.0f} s for it (Ctrl-C ends that).", url_,
                    seconds(request.timeout));
    });
    if (answer) reached_ = true;
    if (!answer && !reached_ && answer.error().code == ErrorCode::unavailable) {
      WEFT_OK(net::try_to_reach(client_->url(), reach_max));
      if (client_->url().tls) return answer;
      return fail(ErrorCode::unavailable,
                  "{} ends the connection without an answer: is it https:// there?", url_);
    }
    const bool again = answer ? answer->status == 429 || answer->status == 503
                              : answer.error().code == ErrorCode::unavailable;
    if (!again || now() + wait > give_up) {
      if (!answer) return answer;
      // The coordinator says why, in JSON; 404 and 501 are what other servers say to its paths.
      if ((answer->status == 404 || answer->status == 501) && !in_json(*answer))
        return fail(ErrorCode::not_found, "{} is not a Weft coordinator (it answers {}).", url_,
                    answer->status);
      if (!answer->ok()) return std::unexpected(net::error_of(*answer));
      return answer;
    }
    const std::string why = answer ? net::error_of(*answer).message : answer.error().message;
    const Instant next = now() + wait;
    while (now() < next) {
      if (interrupted()) return fail(ErrorCode::cancelled, "Interrupted.");
      notice.show("{} Trying again for {:.0f} s (Ctrl-C ends that).", why, seconds(patience_));
      std::this_thread::sleep_for(std::min<Duration>(look_every, next - now()));
    }
  }
}

Result<> ApiClient::read_as(const crypto::KeyPair& wallet) {
  WEFT_OK(coordinator());  // Before there is a reader: it is asked without a signature.
  WEFT_ASSIGN(reader_, crypto::KeyPair::from_seed(wallet.seed()));
  return {};
}

Result<net::Response> ApiClient::read(net::Request request) {
  return reader_ ? send_signed(std::move(request), *reader_) : send(request);
}

template <class View>
Result<View> ApiClient::get(const std::string& path) {
  WEFT_ASSIGN(const net::Response answer, read(net::get(path)));
  if (!in_json(answer))
    return fail(ErrorCode::not_found, "{} is not a Weft coordinator (its {} is not JSON).", url_,
                path);
  return protocol::api::from_json<View>(answer.body);
}

template <class View, class Row>
Result<View> ApiClient::get_pages(const std::string& path, std::vector<Row> View::* rows) {
  WEFT_ASSIGN(View all, get<View>(path));
  while (!all.next.empty()) {
    WEFT_ASSIGN(View page, get<View>(path + "?from=" + net::percent_encoded(all.next)));
    // Pages are in the order of their keys.
    if (!page.next.empty() && page.next <= all.next)
      return fail(ErrorCode::data_loss, "The coordinator's pages of {} do not end.", path);
    std::ranges::move(page.*rows, std::back_inserter(all.*rows));
    all.next = std::move(page.next);
  }
  return all;
}

Result<PublicKey> ApiClient::coordinator() {
  if (coordinator_) return *coordinator_;
  const auto nonce = crypto::ordered_id();
  WEFT_ASSIGN(const auto identity, get<protocol::api::Identity>("/v1/identity/" + to_hex(nonce)));
  WEFT_ASSIGN(const PublicKey key, PublicKey::parse(identity.coordinator));
  WEFT_ASSIGN(const Signature signature, Signature::parse(identity.signature));
  const std::string host = protocol::canonical_host(client_->url().authority());
  if (!crypto::verify_now(key, protocol::identity_digest(key, nonce, host), signature))
    return fail(ErrorCode::unauthenticated,
                "{} does not prove that it is the coordinator {} under the name {}. Nothing was "
                "signed: it passes requests on to another host, or a proxy there replaces the "
                "Host header.",
                url_, key.text(), host);
  WEFT_ASSIGN(
      const auto seen,
      KnownCoordinators::meet(
          {.host = host, .is_loopback = net::is_loopback(client_->url().host), .shown = key},
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

// Signed over everything that the coordinator acts on; `body` is the blob's hash for an upload.
Result<net::Request> ApiClient::signed_by(net::Request request, const crypto::KeyPair& wallet,
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

Result<net::Response> ApiClient::send_as(const crypto::KeyPair& wallet, net::Request request,
                                         const Hash& body, ByteSpan nonce) {
  WEFT_ASSIGN(request, signed_by(std::move(request), wallet, body, nonce));
  auto answer = send(request);
  if (answer || answer.error().code != ErrorCode::insufficient_funds ||
      !is_spending(request.path) || !redeem_own(wallet))
    return answer;
  // A nonce of its own: the first one's answer is remembered.
  WEFT_ASSIGN(request, signed_by(std::move(request), wallet, body, crypto::ordered_id()));
  return send(request);
}

Result<net::Response> ApiClient::send_signed(net::Request request, const crypto::KeyPair& wallet) {
  const Hash body = crypto::sha256(as_bytes(request.body));
  return send_as(wallet, std::move(request), body, crypto::ordered_id());
}

Result<net::Response> ApiClient::redeem(const std::string& invitation,
                                        const crypto::KeyPair& wallet) {
  return post_signed("/v1/owner/grant",
                     weft::format(R"({{"invitation":{}}})", json::quote(invitation)), wallet);
}

bool ApiClient::redeem_own(const crypto::KeyPair& wallet) {
  if (redeemed_.exchange(true)) return false;
  const auto file = [&]() -> Result<std::string> {
    WEFT_ASSIGN(const net::Response answer, send(net::get("/v1/owner/grant")));
    WEFT_ASSIGN(const json::Value root, json::parse(answer.body, {.bytes_max = 16'384}));
    WEFT_ASSIGN(const json::Object object, root.object({"grant", "invite_file"}));
    WEFT_ASSIGN(const json::Value path, object.get("invite_file"));
    return path.string({.bytes_max = 4'096});
  }();
  const auto key = coordinator();
  if (!file || !key) return false;
  const std::string text = crypto::own_invitation(*file, *key, wallet.public_key());
  if (text.empty()) return false;
  // Another program of the same wallet may have been a moment earlier.
  const auto granted = redeem(text, wallet);
  return granted || granted.error().code == ErrorCode::already_exists;
}

Result<protocol::api::Info> ApiClient::info() { return get<protocol::api::Info>("/v1/info"); }

Result<protocol::api::Submitted> ApiClient::submit(const std::string& manifest,
                                                   const crypto::KeyPair& wallet, ByteSpan nonce,
                                                   const PriceWanted& price) {
  std::string path = "/v1/jobs";
  if (!price.quote.empty()) path += "?quote=" + price.quote;
  if (price.max)
    path += weft::format("{}max_price={}", price.quote.empty() ? "?" : "&", *price.max);
  WEFT_ASSIGN(const net::Response answer, send_as(wallet, net::post(path, manifest),
                                                  crypto::sha256(as_bytes(manifest)), nonce));
  return protocol::api::from_json<protocol::api::Submitted>(answer.body);
}

Result<protocol::api::Quote> ApiClient::quote(const std::string& manifest,
                                              const crypto::KeyPair& wallet) {
  WEFT_ASSIGN(const net::Response answer,
              send_as(wallet, net::post("/v1/jobs/quote", manifest),
                      crypto::sha256(as_bytes(manifest)), crypto::ordered_id()));
  return protocol::api::from_json<protocol::api::Quote>(answer.body);
}

Result<Hash> ApiClient::put_blob(ByteSpan bytes, const crypto::KeyPair& wallet) {
  const Hash hash = crypto::sha256(bytes);
  net::Request request = net::put("/v1/blobs/" + hash.text(), std::string(as_text(bytes)));
  request.timeout = std::chrono::minutes(10);
  WEFT_OK(send_as(wallet, std::move(request), hash, crypto::ordered_id()));
  return hash;
}

Result<net::Response> ApiClient::put_blob_part(const Hash& hash, ByteSpan part,
                                               std::uint64_t offset, std::uint64_t total,
                                               const crypto::KeyPair& wallet) {
  net::Request request = net::put("/v1/blobs/" + hash.text(), std::string(as_text(part)));
  request.headers["content-range"] =
      weft::format("bytes {}-{}/{}", offset, offset + part.size() - 1, total);
  request.timeout = std::chrono::minutes(10);  // With the last one the whole is hashed and written.
  const Hash bytes = crypto::sha256(part);
  request.headers["weft-part"] = bytes.text();
  const Hash body =
      protocol::part_digest({.blob = hash, .first = offset, .total = total, .part = bytes});
  WEFT_ASSIGN(request, signed_by(std::move(request), wallet, body, crypto::ordered_id()));
  auto answer = ask(request, [] {});
  if (!answer || answer->status != net::http_status(ErrorCode::insufficient_funds) ||
      !redeem_own(wallet))
    return answer;
  WEFT_ASSIGN(request, signed_by(std::move(request), wallet, body, crypto::ordered_id()));
  return ask(request, [] {});
}

Result<protocol::api::Job> ApiClient::job(const std::string& id) {
  return get<protocol::api::Job>("/v1/jobs/" + id);
}

Result<protocol::api::Verdict> ApiClient::verdict(const std::string& id,
                                                  std::optional<std::uint32_t> task) {
  return get<protocol::api::Verdict>(
      weft::format("/v1/jobs/{}/verdict{}", id, task ? weft::format("?task={}", *task) : ""));
}

Result<protocol::api::Verdict> ApiClient::verdict_of_worker(const std::string& worker) {
  return get<protocol::api::Verdict>("/v1/workers/" + worker + "/verdict");
}

Result<protocol::api::Tasks> ApiClient::tasks(const std::string& id) {
  protocol::api::Tasks all;
  do {
    WEFT_ASSIGN(protocol::api::Tasks page,
                get<protocol::api::Tasks>(weft::format("/v1/tasks?job={}&from={}", id, all.next)));
    if (page.next != 0 && page.next <= all.next)
      return fail(ErrorCode::data_loss, "The coordinator's pages of tasks do not end.");
    all.job = std::move(page.job);
    all.next = page.next;
    std::ranges::move(page.tasks, std::back_inserter(all.tasks));
  } while (all.next != 0);
  return all;
}

Result<ByteVector> ApiClient::output(const std::string& job, std::size_t index) {
  net::Request request = net::get("/v1/jobs/" + job + "/outputs/" + std::to_string(index));
  request.timeout = std::chrono::minutes(10);
  WEFT_ASSIGN(const net::Response answer, read(std::move(request)));
  const ByteSpan bytes = as_bytes(answer.body);
  return ByteVector(bytes.begin(), bytes.end());
}

Result<protocol::api::Workers> ApiClient::workers() {
  return get_pages("/v1/workers", &protocol::api::Workers::workers);
}

Result<protocol::api::Clients> ApiClient::clients() {
  return get_pages("/v1/clients", &protocol::api::Clients::clients);
}

Result<protocol::api::Ledger> ApiClient::ledger() {
  return get_pages("/v1/ledger", &protocol::api::Ledger::balances);
}

Result<protocol::api::Settlement> ApiClient::settlement() {
  return get_pages("/v1/settlement", &protocol::api::Settlement::owners);
}

Result<protocol::api::LedgerAccount> ApiClient::account(const std::string& name, std::uint64_t from,
                                                        std::uint32_t count) {
  return get<protocol::api::LedgerAccount>(
      weft::format("/v1/ledger?account={}&from={}&count={}", name, from, count));
}

Result<protocol::api::LedgerJob> ApiClient::job_ledger(const std::string& job, std::uint64_t from,
                                                       std::uint32_t count) {
  return get<protocol::api::LedgerJob>(
      weft::format("/v1/ledger?job={}&from={}&count={}", job, from, count));
}

Result<net::Response> ApiClient::post_signed(const std::string& path, const std::string& body,
                                             const crypto::KeyPair& wallet) {
  return send_signed(net::post(path, body), wallet);
}

Result<net::Response> ApiClient::post_signed(const std::string& path, const std::string& body,
                                             const crypto::KeyPair& wallet, ByteSpan nonce) {
  return send_as(wallet, net::post(path, body), crypto::sha256(as_bytes(body)), nonce);
}

Result<net::Response> ApiClient::get_signed(const std::string& path,
                                            const crypto::KeyPair& wallet) {
  return send_signed(net::get(path), wallet);
}

Result<net::Response> ApiClient::delete_signed(const std::string& path,
                                               const crypto::KeyPair& wallet) {
  return send_signed({.method = "DELETE", .path = path, .headers = {}, .body = {}}, wallet);
}

Result<protocol::api::Owner> ApiClient::owner(const crypto::KeyPair& wallet) {
  WEFT_ASSIGN(const net::Response answer, get_signed("/v1/owner", wallet));
  return protocol::api::from_json<protocol::api::Owner>(answer.body);
}

Result<protocol::api::Job> ApiClient::cancel(const std::string& job,
                                             const crypto::KeyPair& wallet) {
  WEFT_ASSIGN(const net::Response answer, delete_signed("/v1/jobs/" + job, wallet));
  return protocol::api::from_json<protocol::api::Job>(answer.body);
}

}  // namespace weft::cli
