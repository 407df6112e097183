// What connections of strangers do to a coordinator's port in `weft bench hostile`: each kind is
// what it sends first, what it sends after an answer, and what it adds now and then.
#pragma once

#include <string>
#include <vector>

#include "common/base/clock.h"

namespace weft::coordinator::bench {

struct Attack {
  std::string name;
  std::string opening{};        // Sent at once.
  std::string after_upgrade{};  // Sent once the answer is 101.
  std::string drip{};           // Sent every `every`, as long as the connection lives.
  Duration every = std::chrono::seconds(1);
  bool repeats = false;  // Each answer is followed by the opening again.
};

// All kinds that the review of the open port found. `host`: "127.0.0.1:7300".
[[nodiscard]] std::vector<Attack> attacks(const std::string& host);
// A connection that asks once and then keeps its place.
[[nodiscard]] Attack idle_connection(const std::string& host);

}  // namespace weft::coordinator::bench
