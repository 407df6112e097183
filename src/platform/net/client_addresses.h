// The addresses from which known clients came lately, a few each: otherwise one funded wallet would
// make a thousand addresses known. Pure. Bounded: of more than `clients_max` the rest stay unknown
// until others' time is over.
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
    std::size_t per_client = 8;  // 0: no bound.
    Duration kept_for = std::chrono::minutes(10);
    std::size_t clients_max = 16384;
  };
  explicit ClientAddresses(Options options) : options_(options) {}

  // Whether the address (its group) is one of the client's few; it is kept as such from now on.
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
