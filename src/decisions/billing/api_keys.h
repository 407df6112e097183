// Keys of the OpenAI-compatible interface: whose they are, what they may use a minute and ever, and
// what they have used. A secret is shown once and kept as its SHA-256 (it has 256 random bits, so
// that nothing slower is needed).
//
// Rates are token buckets that hold one minute's worth: `requests_per_min` at once, and so many a
// minute in the long run; the same for tokens. A request takes what it may need and gives back what
// it did not; budgets (ever) count the same, so that requests side by side cannot pass them.
//
// Pure: the time is passed in. Threading: one thread. Bounds: keys_max.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/base/clock.h"
#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/base/token_bucket.h"
#include "common/records/api_key.h"

namespace weft::billing {

using store::ApiKey;

// All but the hash, for people and programs.
[[nodiscard]] std::string to_json(const ApiKey& key);

inline constexpr std::string_view api_key_prefix = "weft-";
// The beginning of a key whose requests no other endpoint may answer: the secret itself says so, so
// that neither its bearer nor a row can take it back.
inline constexpr std::string_view key_prefix_here = "weft-here-";
// Their ids begin with this, so that lists show it, too.
inline constexpr std::string_view id_prefix_here = "here-";
// A prefix and 32 random bytes in base58.
[[nodiscard]] std::string new_api_secret(bool stays_here = false);
[[nodiscard]] Hash api_key_hash(std::string_view secret);

// One bucket as clients see it.
struct RateState {
  std::uint64_t limit = 0;
  std::uint64_t remaining = 0;
  Duration reset{};  // Until it is full.
};
struct RateStates {
  std::optional<RateState> requests, tokens;
};

// What a request may take, for all of its answers together.
struct KeyUse {
  std::uint64_t tokens_likely = 0;  // Taken from this minute's.
  std::uint64_t tokens_worst = 0;   // Held back of the budgets.
  MicroCredits cost_worst = 0;
};
// Error: unauthenticated (no such key), resource_exhausted (a rate) or insufficient_funds (a
// budget).
struct KeyRefusal {
  Error error;
  Duration retry{};
};
struct KeyAdmission {
  std::optional<KeyRefusal> refused;
  RateStates rates;
};

class KeyRing {
 public:
  static constexpr std::size_t keys_max = 100'000;
  static constexpr std::size_t keys_of_owner_max = 1'000;     // Revoked ones too.
  static constexpr std::size_t keys_of_operator_min = 1'000;  // Kept free for the operator.

  // already_exists for an id that is there, resource_exhausted beyond keys_max.
  [[nodiscard]] Result<> add(ApiKey key);
  // Whether a client may make one more: resource_exhausted beyond its own share or the limit of
  // all.
  [[nodiscard]] Result<> may_add(const PublicKey& owner) const;
  // not_found if there is none, permission_denied if it is another's (`who` empty: the
  // operator, who may).
  [[nodiscard]] Result<ApiKey> revoke(std::string_view id, const std::optional<PublicKey>& who,
                                      UnixMillis now);
  // Those of `owner`, or all; by creation.
  [[nodiscard]] std::vector<ApiKey> list(const std::optional<PublicKey>& owner) const;
  // Whether answers with one of the owner's keys are under way.
  [[nodiscard]] bool in_use(const PublicKey& owner) const;
  // All keys of the owner: their ids.
  std::vector<std::string> remove_of(const PublicKey& owner);
  // Null for an unknown or revoked one.
  [[nodiscard]] const ApiKey* find(const Hash& hash) const;
  [[nodiscard]] const ApiKey* by_id(const std::string& id) const;
  // How many tokens the key's budgets still take, at `price` for a thousand; nothing: no bound.
  [[nodiscard]] std::optional<std::uint64_t> tokens_left(const ApiKey& key,
                                                         MicroCredits price) const;

  [[nodiscard]] KeyAdmission admit(const Hash& hash, const KeyUse& use, Instant now);
  // One part of what was admitted has ended; `first` of its request counts it. The key as it is
  // then; nothing where it is gone.
  struct Used {
    std::uint64_t tokens = 0;
    MicroCredits credits = 0;
    bool counts = true;
  };
  std::optional<ApiKey> settle(const std::string& id, const KeyUse& held, const Used& used,
                               Instant now);

 private:
  struct Entry {
    ApiKey key;
    TokenBucket requests, tokens;
    std::uint64_t tokens_held = 0;
    MicroCredits credits_held = 0;
  };
  [[nodiscard]] Entry* entry_of(const Hash& hash);

  std::map<std::string, Entry> entries_;  // By id.
  std::unordered_map<Hash, std::string> ids_;
};

// "1s", "6m0s", "120ms", as OpenAI writes them.
[[nodiscard]] std::string rate_duration(Duration duration);
// x-ratelimit-*.
[[nodiscard]] std::map<std::string, std::string> rate_headers(const RateStates& rates);

}  // namespace weft::billing
