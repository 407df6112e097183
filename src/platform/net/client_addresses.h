// The addresses from which known clients came recently, at most `per_client` for each client:
// without this bound one funded wallet could make a thousand addresses known. Pure. Bounded: if
// `clients_max` clients are remembered, further clients stay unknown until the entries of others
// have expired.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/base/clock.h"

namespace weft::net {

class ClientAddresses {
 public:
  struct Options {
    std::size_t per_client = 8;  // 0 means no bound.
    Duration kept_for = std::chrono::minutes(10);
    std::size_t clients_max = 16384;
  };
  explicit ClientAddresses(Options options) : options_(options) {}

  // Returns true if the address group is, or now becomes, one of the at most `per_client` groups of
  // the client, and renews its time.
  [[nodiscard]] bool take(std::string_view client, std::string_view address, Instant at);

 private:
  struct One {
    std::string group;
    Instant until;
  };
  const Options options_;
  std::unordered_map<std::string, std::vector<One>> of_;
};

}  // namespace weft::net
