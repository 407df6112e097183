// Sends signed requests of players. Each connection has one request at a time; connections are
// reused.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "apps/bench/attacks/play_context.h"
#include "common/crypto/keys.h"

namespace weft::coordinator::bench {

class SignedAsking {
 public:
  using Answer = std::function<void(int status, std::string_view body)>;

  explicit SignedAsking(PlayContext& context) : context_(context) {}
  SignedAsking(const SignedAsking&) = delete;

  // Sends a request. `answer` is not called if the connection closes before the reply.
  void ask(const crypto::KeyPair& wallet, std::string_view method, const std::string& path,
           const std::string& body, Answer answer);

  // The functions below handle events of the connections (Wire).
  void answered(Wire::Id id, int status, std::string_view body);
  void closed(Wire::Id id);

 private:
  PlayContext& context_;
  std::unordered_map<Wire::Id, Answer> asked_;  // Connections that wait for a reply.
  std::vector<Wire::Id> free_;                  // Idle connections.
};

}  // namespace weft::coordinator::bench
