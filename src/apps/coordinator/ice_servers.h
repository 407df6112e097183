// The STUN and TURN servers that tabs use to open direct links to each other. `weft serve
// --ice-servers` names them in the form of RTCPeerConnection:
//
//   [{ "urls": "stun:stun.example:3478" },
//    { "urls": ["turn:turn.example:3478?transport=udp", "turns:turn.example:5349"],
//      "secret": "...", "hours": 6 },
//    { "urls": "turn:other.example:3478", "username": "u", "credential": "p" }]
//
// A `secret` is shared with the TURN server (coturn: use-auth-secret, static-auth-secret). Every
// tab then gets a user name and a password of its own that are valid for `hours` (default 6):
// username = expiry in seconds since 1970 ":" worker, credential = base64(HMAC-SHA-1(secret,
// username)) (draft-uberti-behave-turn-rest-00). Workers never see the secret.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/clock.h"
#include "common/base/result.h"
#include "common/json/json.h"
#include "common/protocol/serving.h"

namespace weft::coordinator {

class IceServers {
 public:
  // Reads the servers from `text`: JSON that begins with '[', or the name of a file that contains
  // the JSON. An empty text gives no servers. Fails with one sentence that says what is wrong.
  [[nodiscard]] static Result<IceServers> read(const std::string& text);
  [[nodiscard]] static Result<IceServers> parse(std::string_view json);

  [[nodiscard]] bool empty() const { return servers_.empty(); }
  // The servers for one worker, with credentials that are valid from `at` on. A stranger gets only
  // STUN servers, because TURN relays use the operator's bandwidth.
  enum class For : std::uint8_t { known, stranger };
  [[nodiscard]] std::vector<protocol::serving::IceServer> issue(std::string_view worker,
                                                                UnixMillis at, For whom) const;

 private:
  struct Server {
    protocol::serving::IceServer plain;
    std::string secret;
    std::int64_t hours = 0;
  };
  [[nodiscard]] static Result<Server> read_server(const json::Value& item);
  [[nodiscard]] static Result<std::vector<std::string>> urls_of(const json::Value& value);
  std::vector<Server> servers_;
};

}  // namespace weft::coordinator
