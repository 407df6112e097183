#include "apps/cli/api_client.h"

#include <cstdio>
#include <format>
#include <future>
#include <thread>
#include <unistd.h>

#include "apps/cli/interruption.h"
#include "common/crypto/ordered_id.h"
#include "common/crypto/sha256.h"
#include "common/protocol/codec.h"
#include "common/protocol/signing.h"
#include "service/net/reach.h"

namespace weft::cli {
namespace {

// The three headers by which a client signs something whose SHA-256 is `digest`.
net::Request signed_by(net::Request request, const crypto::KeyPair& wallet, const Hash& digest, ByteSpan nonce,
                       ByteVector (*digest_of)(const Hash&, ByteSpan) = protocol::submit_digest) {
  request.headers["weft-client"] = wallet.public_key().text();
  request.headers["weft-nonce"] = to_hex(nonce);
  request.headers["weft-signature"] = wallet.sign_now(digest_of(digest, nonce)).text();
  return request;
}

constexpr auto look_every = std::chrono::milliseconds(20);
constexpr auto silence_max = std::chrono::milliseconds(1'500);
constexpr auto reach_max = std::chrono::seconds(3);

// Says once on standard error what is waited for, when that takes more than a moment.
class Notice {
 public:
  explicit Notice(Instant begun) : begun_(begun) {}
  template <class... Args>
  void show(std::format_string<Args...> text, Args&&... args) {
    if (shown_ || now() - begun_ < silence_max) return;
    shown_ = true;
    const char* const wipe = ::isatty(STDERR_FILENO) == 1 ? "\r\033[K" : "";  // A line of progress may stand there.
    std::fprintf(stderr, "%sweft: %s\n", wipe, std::format(text, std::forward<Args>(args)...).c_str());
  }

 private:
  const Instant begun_;
  bool shown_ = false;
};

bool in_json(const net::Response& answer) {
  const auto type = answer.headers.find("content-type");
  return type != answer.headers.end() && type->second.contains("json");
}

}  // namespace

Result<std::unique_ptr<ApiClient>> ApiClient::create(Options options) {
  WEFT_ASSIGN(auto client, net::Client::create({.url = options.url, .tls = options.tls}));
  return std::unique_ptr<ApiClient>(new ApiClient(std::move(client), options.url, options.patience));
}

Result<net::Response> ApiClient::ask(const net::Request& request, const std::function<void()>& waiting) {
  const auto promise = std::make_shared<std::promise<Result<net::Response>>>();  // Shared: whoever was interrupted does not wait for it.
  auto future = promise->get_future();
  client_->send(request, [promise](Result<net::Response> answer) { promise->set_value(std::move(answer)); });
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
  const bool quick = request.timeout <= net::Request().timeout;  // Transfers take long by themselves.
  for (auto wait = std::chrono::milliseconds(100);; wait = std::min(wait * 2, std::chrono::milliseconds(2'000))) {
    Result<net::Response> answer = ask(request, [&] {
      if (quick) notice.show("{} does not answer yet; waiting {:.0f} s for it (Ctrl-C ends that).", url_, seconds(request.timeout));
    });
    if (answer) reached_ = true;
    if (!answer && !reached_ && answer.error().code == ErrorCode::unavailable) {
      WEFT_OK(net::try_to_reach(client_->url(), reach_max));
      return answer;
    }
    const bool again = answer ? answer->status == 429 || answer->status == 503 : answer.error().code == ErrorCode::unavailable;
    if (!again || now() + wait > give_up) {
      if (!answer) return answer;
      // The coordinator says why, in JSON; 404 and 501 are what other servers say to its paths.
      if ((answer->status == 404 || answer->status == 501) && !in_json(*answer))
        return fail(ErrorCode::not_found, "{} is no Weft coordinator (it answers {}).", url_, answer->status);
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

template <class View>
Result<View> ApiClient::get(const std::string& path) {
  WEFT_ASSIGN(const net::Response answer, send(net::get(path)));
  if (!in_json(answer)) return fail(ErrorCode::not_found, "{} is no Weft coordinator (its {} is no JSON).", url_, path);
  return protocol::api::from_json<View>(answer.body);
}

Result<protocol::api::Info> ApiClient::info() { return get<protocol::api::Info>("/v1/info"); }

Result<protocol::api::Submitted> ApiClient::submit(const std::string& manifest, const crypto::KeyPair& wallet, ByteSpan nonce) {
  WEFT_ASSIGN(const net::Response answer, send(signed_by(net::post("/v1/jobs", manifest), wallet, crypto::sha256(as_bytes(manifest)), nonce)));
  return protocol::api::from_json<protocol::api::Submitted>(answer.body);
}

Result<Hash> ApiClient::put_blob(ByteSpan bytes, const crypto::KeyPair& wallet) {
  const Hash hash = crypto::sha256(bytes);
  net::Request request = net::put("/v1/blobs/" + hash.text(), std::string(as_text(bytes)));
  request.timeout = std::chrono::minutes(10);
  WEFT_OK(send(signed_by(std::move(request), wallet, hash, crypto::ordered_id(), protocol::blob_digest)));
  return hash;
}

Result<net::Response> ApiClient::put_blob_part(const Hash& hash, ByteSpan part, std::uint64_t offset, std::uint64_t total,
                                               const crypto::KeyPair& wallet) {
  net::Request request = net::put("/v1/blobs/" + hash.text(), std::string(as_text(part)));
  request.headers["content-range"] = std::format("bytes {}-{}/{}", offset, offset + part.size() - 1, total);
  request.timeout = std::chrono::minutes(10);  // With the last one the whole is hashed and written.
  return ask(signed_by(std::move(request), wallet, hash, crypto::ordered_id(), protocol::blob_digest), [] {});
}

Result<protocol::api::Job> ApiClient::job(const std::string& id) { return get<protocol::api::Job>("/v1/jobs/" + id); }

Result<protocol::api::Tasks> ApiClient::tasks(const std::string& id) { return get<protocol::api::Tasks>("/v1/tasks?job=" + id); }

Result<ByteVector> ApiClient::output(const std::string& job, std::size_t index) {
  net::Request request = net::get("/v1/jobs/" + job + "/outputs/" + std::to_string(index));
  request.timeout = std::chrono::minutes(10);
  WEFT_ASSIGN(const net::Response answer, send(request));
  const ByteSpan bytes = as_bytes(answer.body);
  return ByteVector(bytes.begin(), bytes.end());
}

Result<protocol::api::Workers> ApiClient::workers() { return get<protocol::api::Workers>("/v1/workers"); }

Result<protocol::api::Ledger> ApiClient::ledger() { return get<protocol::api::Ledger>("/v1/ledger"); }

Result<protocol::api::LedgerAccount> ApiClient::account(const std::string& name, std::uint64_t from, std::uint32_t count) {
  return get<protocol::api::LedgerAccount>(std::format("/v1/ledger?account={}&from={}&count={}", name, from, count));
}

Result<protocol::api::LedgerJob> ApiClient::job_ledger(const std::string& job, std::uint64_t from, std::uint32_t count) {
  return get<protocol::api::LedgerJob>(std::format("/v1/ledger?job={}&from={}&count={}", job, from, count));
}

Result<net::Response> ApiClient::post_signed(const std::string& path, const std::string& body, const crypto::KeyPair& wallet) {
  return post_signed(path, body, wallet, body);
}

Result<net::Response> ApiClient::post_signed(const std::string& path, const std::string& body, const crypto::KeyPair& wallet,
                                             const std::string& statement) {
  return send(signed_by(net::post(path, body), wallet, crypto::sha256(as_bytes(statement)), crypto::ordered_id()));
}

Result<net::Response> ApiClient::get_signed(const std::string& path, const std::string& statement, const crypto::KeyPair& wallet) {
  return send(signed_by(net::get(path), wallet, crypto::sha256(as_bytes(statement)), crypto::ordered_id()));
}

Result<net::Response> ApiClient::delete_signed(const std::string& path, const std::string& statement, const crypto::KeyPair& wallet) {
  net::Request request{.method = "DELETE", .path = path, .headers = {}, .body = {}};
  return send(signed_by(std::move(request), wallet, crypto::sha256(as_bytes(statement)), crypto::ordered_id()));
}

Result<protocol::api::Job> ApiClient::cancel(const std::string& job, const crypto::KeyPair& wallet) {
  net::Request request{.method = "DELETE", .path = "/v1/jobs/" + job, .headers = {}, .body = {}};
  const Hash digest = crypto::sha256(as_bytes("cancel " + job));
  WEFT_ASSIGN(const net::Response answer, send(signed_by(std::move(request), wallet, digest, crypto::ordered_id())));
  return protocol::api::from_json<protocol::api::Job>(answer.body);
}

}  // namespace weft::cli
