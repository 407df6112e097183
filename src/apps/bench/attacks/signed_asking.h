// Signed requests of players, each on a connection that waits for nothing else; connections are
// kept.
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

  // `answer` is not called if the connection closes first.
  void ask(const crypto::KeyPair& wallet, std::string_view method, const std::string& path,
           const std::string& body, Answer answer);

  // From the wire.
  void answered(Wire::Id id, int status, std::string_view body);
  void closed(Wire::Id id);

 private:
  PlayContext& context_;
  std::unordered_map<Wire::Id, Answer> asked_;  // Connections that wait for an answer.
  std::vector<Wire::Id> free_;                  // Those that do not.
};

}  // namespace weft::coordinator::bench
