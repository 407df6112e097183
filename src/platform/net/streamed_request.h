// Sends one HTTP request and reads its answer as it arrives, such as the events of an answer that
// is still being generated. Uses a connection of its own, HTTP/1.1, with or without TLS.
//
//   WEFT_ASSIGN(const Response head, send_streamed(url, tls, request,
//                                                  {.bytes = ..., .wanted = ...}));
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

  // Called once the head of an answer with a status of success has come; optional.
  std::function<void(const Response& head)> begun{};
  // Called with each received part of the body. Returning false ends the request.
  std::function<bool(std::string_view bytes)> bytes{};
  // Called several times a second. Returning false ends the request with the error `cancelled`.
  std::function<bool()> wanted = [] { return true; };
  Duration silence_max = std::chrono::seconds(60);
};

// Returns the answer without its body. If the status is no success, the answer has its body and
// `bytes` is not called. Fails as Client::send does, and with data_loss if the answer ends early.
[[nodiscard]] Result<Response> send_streamed(const Url& url, const TlsOptions& tls,
                                             const Request& request, const StreamedEvents& events);

}  // namespace weft::net
