// One HTTP request whose answer is read as it comes, such as the events of an answer that is being
// written. A connection of its own, HTTP/1.1, with or without TLS.
//
//   WEFT_ASSIGN(const Response head, send_streamed(url, tls, request, {.bytes = ..., .wanted =
//   ...}));
//
// Blocks; any thread. Bounds: head_bytes_max, error_bytes_max, and silence_max between two bytes.
#pragma once

#include <functional>
#include <string_view>

#include "common/base/result.h"
#include "platform/net/client.h"

namespace weft::net {

struct StreamedEvents {
  static constexpr std::size_t head_bytes_max = std::size_t{64} << 10;
  static constexpr std::size_t error_bytes_max = std::size_t{1} << 20;

  // Called once the head of an answer with a status of success has come; may be left out.
  std::function<void(const Response& head)> begun{};
  // Its body, bit by bit; false ends it.
  std::function<bool(std::string_view bytes)> bytes{};
  // Looked at several times a second; false ends it with the error `cancelled`.
  std::function<bool()> wanted = [] { return true; };
  Duration silence_max = std::chrono::seconds(60);
};

// The answer without its body; with it where the status is no success, in which case no bytes were
// told of. Errors as of Client::send; data_loss if the answer ends before its end.
[[nodiscard]] Result<Response> send_streamed(const Url& url, const TlsOptions& tls,
                                             const Request& request, const StreamedEvents& events);

}  // namespace weft::net
