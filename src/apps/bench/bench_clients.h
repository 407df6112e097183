// Clients that ask a coordinator for completions over HTTP, many at a time, each with a prompt of
// its own.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "platform/net/client.h"

namespace weft::cli {

struct ClientLoad {
  std::uint32_t clients = 1;      // Each asks again when it has its answer;
  std::optional<double> per_s{};  // or so many requests come in a second, at random (Poisson).
  std::uint32_t requests = 1;     // In all.
  std::uint32_t prompt_words = 64;
  std::uint32_t tokens = 128;  // Tokens of an answer.
  std::uint64_t seed = 0;      // Seed of prompts and arrivals.
};
struct ClientTimes {
  double wall_s = 0;
  std::uint64_t answer_tokens = 0, prompt_tokens = 0;
  std::vector<double> answer_s{};  // From the question to the last byte of its answer.
  std::uint32_t refused = 0;       // 429 and 503.
};
// unavailable with what the server said where an answer fails in another way. `client` has as many
// connections as there are clients.
[[nodiscard]] Result<ClientTimes> measure_clients(net::Client& client, const ClientLoad& load);

// A number of a reply's `usage`, 0 if there is none.
[[nodiscard]] std::uint64_t usage_number(const std::string& body, const std::string& key);

}  // namespace weft::cli
