// A fallback: another OpenAI-compatible endpoint, named by the operator, that answers requests that
// the network cannot serve because of missing workers, a deadline, or a price. It is asked only for
// requests with "fallback": "allow" whose key does not forbid it. Each of its answers names the
// endpoint in a header and in every document.
//
// Threading: answer() from any thread; `respond` is called on a thread of the fallback's pool.
// Lifetime: the destructor cancels running answers and waits for their end. Bounds: threads,
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

// The client's request as it was received.
struct FallbackRequest {
  std::string path;  // Path of the request, such as "/v1/chat/completions".
  std::string body;
  std::function<bool()> connected{};  // See net::IncomingRequest::connected.
};

// The request without the keys that only Weft knows: fallback, max_price, deadline_ms.
[[nodiscard]] Result<std::string> without_terms(std::string_view body);

// Inserts `"weft_fallback":MARK` as the first member of the JSON document in each event of a
// stream. The bytes may be split at any place.
class EventMarker {
 public:
  explicit EventMarker(std::string mark) : mark_(std::move(mark)) {}
  [[nodiscard]] std::string take(std::string_view bytes);
  [[nodiscard]] std::string finish() { return std::exchange(line_, {}); }

 private:
  std::string mark_;
  std::string line_;      // Bytes of a line that may begin a document.
  bool passing_ = false;  // The rest of the line passes unchanged.
};
// Inserts `"weft_fallback":MARK` as the first member of one JSON document.
[[nodiscard]] std::string marked_document(std::string_view document, const std::string& mark);

class Fallback {
 public:
  static constexpr std::size_t threads = 8, waiting_max = 64;
  static constexpr std::size_t document_bytes_max = std::size_t{64} << 20;

  struct Options {
    std::string url;  // http://HOST[:PORT] or https://HOST[:PORT]; /v1/... is asked.
    std::string key;  // Bearer token; may be empty.
    net::TlsOptions tls{};
  };
  [[nodiscard]] static Result<std::unique_ptr<Fallback>> create(Options options);
  ~Fallback();

  // Asks the endpoint and passes on its answer. `why` is the reason for which the network cannot
  // answer.
  void answer(FallbackRequest request, const Error& why, const net::Respond& respond);

 private:
  Fallback(net::Url url, Options options) : url_(std::move(url)), options_(std::move(options)) {}
  void ask(const FallbackRequest& request, const Error& why, const net::Respond& respond);

  const net::Url url_;
  const Options options_;
  std::atomic<bool> ending_ = false;
  std::atomic<std::uint64_t> asked_ = 0;
  // Declared last, so that its threads end before the other members.
  runtime::Pool pool_{{.threads = threads, .queue_max = waiting_max}};
};

}  // namespace weft::coordinator
