// The kinds of attacking connections in `weft bench hostile`. Each kind defines what the connection
// sends first, after a reply, and at intervals.
#pragma once

#include <string>
#include <vector>

#include "common/base/clock.h"

namespace weft::coordinator::bench {

struct Attack {
  std::string name;
  std::string opening{};        // Sent when the connection opens.
  std::string after_upgrade{};  // Sent after a reply of status 101.
  std::string drip{};           // Sent at each interval `every`.
  Duration every = std::chrono::seconds(1);
  bool repeats = false;  // Sends the opening again after each reply.
};

// All kinds of attack that the review of the open port found. `host` has the form "127.0.0.1:7300".
[[nodiscard]] std::vector<Attack> attacks(const std::string& host);
// A connection that sends one request and then stays open.
[[nodiscard]] Attack idle_connection(const std::string& host);

}  // namespace weft::coordinator::bench
