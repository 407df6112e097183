// Clients that request completions from a coordinator over HTTP, many at a time. Each one has its
// own prompt.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "platform/net/client.h"

namespace weft::cli {

struct ClientLoad {
  std::uint32_t clients = 1;      // Closed loop: each asks again after a reply.
  std::optional<double> per_s{};  // Open loop: requests a second, at random (Poisson).
  std::uint32_t requests = 1;     // Number of requests of all clients.
  std::uint32_t prompt_words = 64;
  std::uint32_t tokens = 128;  // Length of an answer.
  std::uint64_t seed = 0;      // Seed of the prompts and arrivals.
};
struct ClientTimes {
  double wall_s = 0;
  std::uint64_t answer_tokens = 0, prompt_tokens = 0;
  std::vector<double> answer_s{};  // Time from a request to the last byte of its reply.
  std::uint32_t refused = 0;       // Replies of status 429 and 503.
};
// Runs the load. Fails with unavailable and the server's message if a request fails in another way.
// `client` must have at least as many connections as there are clients.
[[nodiscard]] Result<ClientTimes> measure_clients(net::Client& client, const ClientLoad& load);

// A number in the "usage" of a reply; 0 if it is missing.
[[nodiscard]] std::uint64_t usage_number(const std::string& body, const std::string& key);

}  // namespace weft::cli
