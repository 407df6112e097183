// A key of the OpenAI-compatible interface, as a row of the store (decisions/billing/api_keys.h).
#pragma once

#include <cstdint>
#include <string>

#include "common/base/clock.h"
#include "common/base/ids.h"

namespace weft::store {

struct ApiKey {
  std::string id;    // 16 hex digits, not secret; after "here-" if no other endpoint may answer.
  std::string name;  // Name of the key for people.
  Hash hash;         // SHA-256 of the secret.
  PublicKey owner;   // The client that pays.
  UnixMillis created = 0;
  UnixMillis revoked = 0;  // Time of the revocation; 0: not revoked.
  // The limits a minute and in all; 0: no limit.
  std::uint32_t requests_per_min = 0;
  std::uint32_t tokens_per_min = 0;
  std::uint64_t tokens_max = 0;  // Most tokens that the key may use in all.
  MicroCredits credits_max = 0;  // Most credits that the key may spend in all.
  // Sums over answers that have ended.
  std::uint64_t requests = 0;
  std::uint64_t tokens = 0;
  MicroCredits credits = 0;
  friend bool operator==(const ApiKey&, const ApiKey&) = default;
};

}  // namespace weft::store
