// Another endpoint of OpenAI's form, named by the operator, that answers what the network cannot
// serve: no worker, a deadline, a price. It is asked only for requests that say "fallback":
// "allow", and whose key does not forbid it; each of its answers says who gave it, in a header and
// in every document.
//
// Threading: answer() from any thread; `respond` is called on one of its own. Lifetime: the
// destructor waits for answers that are under way, whose clients are given up. Bounds: threads,
// waiting_max, document_bytes_max.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "common/base/result.h"
#include "platform/net/client.h"
#include "platform/net/http.h"
#include "platform/runtime/pool.h"

namespace weft::coordinator {

// What a request says of it, as it came.
struct FallbackRequest {
  std::string path;  // "/v1/chat/completions".
  std::string body;
  std::function<bool()> connected{};  // See net::IncomingRequest.
};

// The request without what only Weft knows: fallback, max_price, deadline_ms.
[[nodiscard]] Result<std::string> without_terms(std::string_view body);

// Puts `"weft_fallback":MARK` first into the JSON document of each event, however the bytes are
// cut.
class EventMarker {
 public:
  explicit EventMarker(std::string mark) : mark_(std::move(mark)) {}
  [[nodiscard]] std::string take(std::string_view bytes);
  [[nodiscard]] std::string finish() { return std::exchange(line_, {}); }

 private:
  std::string mark_;
  std::string line_;      // The beginning of a line that is not decided yet.
  bool passing_ = false;  // The rest of the line is passed on.
};
// The same for one document.
[[nodiscard]] std::string marked_document(std::string_view document, const std::string& mark);

class Fallback {
 public:
  static constexpr std::size_t threads = 8, waiting_max = 64;
  static constexpr std::size_t document_bytes_max = std::size_t{64} << 20;

  struct Options {
    std::string url;  // http://HOST[:PORT] or https://HOST[:PORT]; /v1/... is asked.
    std::string key;  // Sent as a bearer token; may be empty.
    net::TlsOptions tls{};
  };
  [[nodiscard]] static Result<std::unique_ptr<Fallback>> create(Options options);
  ~Fallback();

  // `why` the network does not serve it.
  void answer(FallbackRequest request, const Error& why, const net::Respond& respond);

 private:
  Fallback(net::Url url, Options options) : url_(std::move(url)), options_(std::move(options)) {}
  void ask(const FallbackRequest& request, const Error& why, const net::Respond& respond);

  const net::Url url_;
  const Options options_;
  std::atomic<bool> ending_ = false;
  std::atomic<std::uint64_t> asked_ = 0;
  runtime::Pool pool_{{.threads = threads, .queue_max = waiting_max}};  // Last: ends first.
};

}  // namespace weft::coordinator
