// Keys of the OpenAI-compatible interface: their owners, their limits a minute and in all, and
// their use so far. A secret is shown once and stored as its SHA-256 (it has 256 random bits, so no
// slower hash is needed).
//
// Rates are token buckets that hold the amount of one minute: `requests_per_min` requests at once,
// and that number a minute in the long run. The rate of tokens is limited in this way too. A
// request takes the most that it may need and gives back the rest. Budgets (limits in all) also
// count the most that a request may need, so that concurrent requests cannot exceed them.
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

// Writes all fields of a key but its hash, for people and programs.
[[nodiscard]] std::string to_json(const ApiKey& key);

inline constexpr std::string_view api_key_prefix = "weft-";
// The prefix of a key whose requests no other endpoint may answer. The secret itself says so, so
// that neither its bearer nor a stored row can change it.
inline constexpr std::string_view key_prefix_here = "weft-here-";
// The prefix of the ids of keys whose requests no other endpoint may answer. Lists of keys show
// ids, not secrets.
inline constexpr std::string_view id_prefix_here = "here-";
// A new secret: a prefix and 32 random bytes in base58.
[[nodiscard]] std::string new_api_secret(bool stays_here = false);
[[nodiscard]] Hash api_key_hash(std::string_view secret);

// The state of one bucket for clients.
struct RateState {
  std::uint64_t limit = 0;
  std::uint64_t remaining = 0;
  Duration reset{};  // The time until the bucket is full.
};
struct RateStates {
  std::optional<RateState> requests, tokens;
};

// The most that a request may take, for all of its answers together.
struct KeyUse {
  std::uint64_t tokens_likely = 0;  // Taken from the bucket of this minute.
  std::uint64_t tokens_worst = 0;   // Tokens reserved from the budgets.
  MicroCredits cost_worst = 0;
};
// A refused request. The error is unauthenticated (unknown key), resource_exhausted (a rate) or
// insufficient_funds (a budget).
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
  static constexpr std::size_t keys_of_owner_max = 1'000;  // The bound includes revoked keys.
  // Places kept for keys of the operator.
  static constexpr std::size_t keys_of_operator_min = 1'000;

  // Adds a key. Fails with already_exists for a known id, and with resource_exhausted beyond
  // keys_max.
  [[nodiscard]] Result<> add(ApiKey key);
  // Succeeds if a client may make one more key. Fails with resource_exhausted beyond the client's
  // own share or the limit for all clients.
  [[nodiscard]] Result<> may_add(const PublicKey& owner) const;
  // Revokes a key. Fails with not_found if there is no such key, and with permission_denied if
  // `who` does not own the key. An empty `who` is the operator, who may revoke any key.
  [[nodiscard]] Result<ApiKey> revoke(std::string_view id, const std::optional<PublicKey>& who,
                                      UnixMillis now);
  // The keys of `owner`, or all keys, by the time of creation.
  [[nodiscard]] std::vector<ApiKey> list(const std::optional<PublicKey>& owner) const;
  // True if answers with one of the owner's keys are under way.
  [[nodiscard]] bool in_use(const PublicKey& owner) const;
  // Removes all keys of the owner and returns their ids.
  std::vector<std::string> remove_of(const PublicKey& owner);
  // Returns null for an unknown or revoked key.
  [[nodiscard]] const ApiKey* find(const Hash& hash) const;
  [[nodiscard]] const ApiKey* by_id(const std::string& id) const;
  // The number of tokens that the key's budgets still allow, at `price` for 1,000; no value:
  // unlimited.
  [[nodiscard]] std::optional<std::uint64_t> tokens_left(const ApiKey& key,
                                                         MicroCredits price) const;

  [[nodiscard]] KeyAdmission admit(const Hash& hash, const KeyUse& use, Instant now);
  // Records that one answer of an admitted request has ended. `counts` is true for the first answer
  // of a request. Returns the key with its new use, or no value if the key no longer exists.
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

  std::map<std::string, Entry> entries_;  // Keys by id.
  std::unordered_map<Hash, std::string> ids_;
};

// A duration as OpenAI writes it: "1s", "6m0s", "120ms".
[[nodiscard]] std::string rate_duration(Duration duration);
// Returns the headers x-ratelimit-* for the state of a key's rates.
[[nodiscard]] std::map<std::string, std::string> rate_headers(const RateStates& rates);

}  // namespace weft::billing
