// The fields of a request's head that decide whether the request is accepted, parsed before any
// library has read it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/result.h"

namespace weft::net {

struct RequestHead {
  std::string method;
  std::string target;  // The target as sent: "/v1/jobs?count=1".
  std::string host;
  std::uint32_t hosts = 0;  // The number of Host fields.
  std::string origin;
  std::string fetch_site;  // The value of the header Sec-Fetch-Site.
  std::string content_type;
  std::string forwarded_for;
  // Values of Weft-Client, Weft-Nonce, Weft-Time and Weft-Signature.
  std::string client, nonce, time, signature;
  std::optional<std::uint64_t> length;
  bool chunked = false;
  bool upgrades = false;  // True if it asks for a WebSocket.

  [[nodiscard]] std::string_view path() const {
    return std::string_view(target).substr(0, target.find('?'));
  }
};

// The reason for which a request is refused, and the HTTP status of the answer.
struct HeadRefusal {
  int status = 400;
  Error error;
};

}  // namespace weft::net
