#include "decisions/billing/api_keys.h"

#include <algorithm>
#include <cmath>

#include "common/base/format.h"
#include "common/crypto/keys.h"
#include "common/crypto/sha256.h"
#include "common/json/quote.h"

namespace weft::billing {

namespace {

constexpr double minute_s = 60;

Duration seconds_of(double seconds) {
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds));
}

// The time until a bucket that gains `per_minute` a minute has `missing` more.
Duration wait_for(double missing, double per_minute) {
  return seconds_of(std::max(0.0, missing) * minute_s / per_minute);
}

// A rate whose bucket holds one minute's worth.
TokenBucket::Rate rate_of(double per_minute) {
  return {.per_second = per_minute / minute_s, .burst = per_minute};
}

RateState state_of(const TokenBucket& bucket, double per_minute) {
  return {.limit = static_cast<std::uint64_t>(per_minute),
          .remaining = static_cast<std::uint64_t>(std::max(0.0, bucket.level())),
          .reset = wait_for(per_minute - bucket.level(), per_minute)};
}

}  // namespace

std::string to_json(const ApiKey& key) {
  return weft::format(
      R"({{"id":"{}","name":{},"owner":"{}","created":{},"revoked":{},"requests_per_min":{},"tokens_per_min":{},"tokens_max":{},)"
      R"("credits_max":{},"requests":{},"tokens":{},"credits":{},"fallback":"{}"}})",
      key.id, json::quote(key.name), key.owner.text(), key.created, key.revoked,
      key.requests_per_min, key.tokens_per_min, key.tokens_max, key.credits_max, key.requests,
      key.tokens, key.credits, key.id.starts_with(id_prefix_here) ? "never" : "allow");
}

std::string new_api_secret(bool stays_here) {
  Hash random;
  crypto::random_bytes(random.bytes);
  return std::string(stays_here ? key_prefix_here : api_key_prefix) + to_base58(random.bytes);
}

Hash api_key_hash(std::string_view secret) { return crypto::sha256(as_bytes(secret)); }

Result<> KeyRing::add(ApiKey key) {
  if (entries_.size() >= keys_max)
    return fail(ErrorCode::resource_exhausted,
                "The coordinator has {} API keys already and takes no more; revoke one (`weft key "
                "revoke`).",
                entries_.size());
  if (entries_.contains(key.id) || ids_.contains(key.hash))
    return fail(ErrorCode::already_exists, "The API key {} exists already.", key.id);
  ids_[key.hash] = key.id;
  const std::string id = key.id;
  entries_[id].key = std::move(key);
  return {};
}

Result<> KeyRing::may_add(const PublicKey& owner) const {
  if (entries_.size() + keys_of_operator_min >= keys_max)
    return fail(ErrorCode::resource_exhausted,
                "The coordinator has {} API keys already and takes no more; revoke one (`weft key "
                "revoke`).",
                entries_.size());
  const auto owned = std::ranges::count_if(
      entries_, [&](const auto& entry) { return entry.second.key.owner == owner; });
  if (static_cast<std::size_t>(owned) < keys_of_owner_max) return {};
  return fail(ErrorCode::resource_exhausted,
              "The client {} has {} API keys already, and may have no more.", owner.text(), owned);
}

Result<ApiKey> KeyRing::revoke(std::string_view id, const std::optional<PublicKey>& who,
                               UnixMillis now) {
  const auto found = entries_.find(std::string(id));
  if (found == entries_.end()) return fail(ErrorCode::not_found, "There is no API key {}.", id);
  ApiKey& key = found->second.key;
  if (who && key.owner != *who)
    return fail(ErrorCode::permission_denied, "The API key {} belongs to another client.", id);
  if (key.revoked == 0) key.revoked = now;
  return key;
}

std::vector<ApiKey> KeyRing::list(const std::optional<PublicKey>& owner) const {
  std::vector<ApiKey> out;
  for (const auto& [id, entry] : entries_) {
    if (!owner || entry.key.owner == *owner) out.push_back(entry.key);
  }
  std::ranges::stable_sort(out, {}, &ApiKey::created);
  return out;
}

bool KeyRing::in_use(const PublicKey& owner) const {
  return std::ranges::any_of(entries_, [&](const auto& each) {
    const Entry& entry = each.second;
    return entry.key.owner == owner && (entry.tokens_held > 0 || entry.credits_held > 0);
  });
}

std::vector<std::string> KeyRing::remove_of(const PublicKey& owner) {
  std::vector<std::string> removed;
  std::erase_if(entries_, [&](const auto& each) {
    if (each.second.key.owner != owner) return false;
    ids_.erase(each.second.key.hash);
    removed.push_back(each.first);
    return true;
  });
  return removed;
}

const ApiKey* KeyRing::find(const Hash& hash) const {
  const auto id = ids_.find(hash);
  if (id == ids_.end()) return nullptr;
  const ApiKey& key = entries_.at(id->second).key;
  return key.revoked == 0 ? &key : nullptr;
}

const ApiKey* KeyRing::by_id(const std::string& id) const {
  const auto found = entries_.find(id);
  return found == entries_.end() ? nullptr : &found->second.key;
}

KeyRing::Entry* KeyRing::entry_of(const Hash& hash) {
  const auto id = ids_.find(hash);
  if (id == ids_.end()) return nullptr;
  Entry& entry = entries_.at(id->second);
  return entry.key.revoked == 0 ? &entry : nullptr;
}

std::optional<std::uint64_t> KeyRing::tokens_left(const ApiKey& key, MicroCredits price) const {
  const Entry& entry = entries_.at(key.id);
  std::optional<std::uint64_t> left;
  if (key.tokens_max > 0)
    left = key.tokens_max - std::min(key.tokens_max, key.tokens + entry.tokens_held);
  if (key.credits_max > 0 && price > 0) {
    const MicroCredits credits =
        key.credits_max - std::min(key.credits_max, key.credits + entry.credits_held);
    const auto tokens = static_cast<std::uint64_t>(static_cast<double>(credits) * 1000 /
                                                   static_cast<double>(price));
    left = std::min(left.value_or(tokens), tokens);
  }
  return left;
}

KeyAdmission KeyRing::admit(const Hash& hash, const KeyUse& use, Instant now) {
  KeyAdmission out;
  Entry* const entry = entry_of(hash);
  if (entry == nullptr) {
    out.refused = {
        .error = {ErrorCode::unauthenticated, "The API key is not known here, or it was revoked."}};
    return out;
  }
  const ApiKey& key = entry->key;
  const double requests = key.requests_per_min, tokens = key.tokens_per_min;
  if (requests > 0) entry->requests.refill(rate_of(requests), now);
  if (tokens > 0) entry->tokens.refill(rate_of(tokens), now);
  const auto likely = static_cast<double>(use.tokens_likely);
  const auto refuse = [&](ErrorCode code, std::string message, Duration retry) {
    if (!out.refused) out.refused = {.error = {code, std::move(message)}, .retry = retry};
  };
  // Clients expect a waiting time, although waiting does not renew a budget: they are told one day.
  constexpr Duration long_wait = std::chrono::hours(24);
  if (key.tokens_max > 0 && key.tokens + entry->tokens_held + use.tokens_worst > key.tokens_max) {
    refuse(
        ErrorCode::insufficient_funds,
        weft::format("The API key {} may use {} tokens, {} are used or held, and this request "
                     "could take {}; a smaller max_tokens takes less.",
                     key.name, key.tokens_max, key.tokens + entry->tokens_held, use.tokens_worst),
        long_wait);
  }
  if (key.credits_max > 0 && key.credits + entry->credits_held + use.cost_worst > key.credits_max) {
    refuse(ErrorCode::insufficient_funds,
           weft::format("The API key {} may spend {:.6f} credits, {:.6f} are spent or held, and "
                        "this request could cost {:.6f}; a smaller "
                        "max_tokens costs less.",
                        key.name, static_cast<double>(key.credits_max) / 1e6,
                        static_cast<double>(key.credits + entry->credits_held) / 1e6,
                        static_cast<double>(use.cost_worst) / 1e6),
           long_wait);
  }
  if (tokens > 0 && likely > tokens) {
    refuse(ErrorCode::resource_exhausted,
           weft::format("The request takes about {} tokens; the API key {} has {} a minute. A "
                        "smaller max_tokens takes less.",
                        use.tokens_likely, key.name, key.tokens_per_min),
           long_wait);
  }
  if (requests > 0 && entry->requests.level() < 1) {
    refuse(ErrorCode::resource_exhausted,
           weft::format("Rate limit reached for requests: the API key {} has {} a minute.",
                        key.name, key.requests_per_min),
           wait_for(1 - entry->requests.level(), requests));
  }
  if (tokens > 0 && entry->tokens.level() < likely) {
    refuse(ErrorCode::resource_exhausted,
           weft::format(
               "Rate limit reached for tokens: the API key {} has {} a minute, {} are left "
               "of it and about {} are asked for.",
               key.name, key.tokens_per_min,
               static_cast<std::int64_t>(std::max(0.0, entry->tokens.level())), use.tokens_likely),
           wait_for(likely - entry->tokens.level(), tokens));
  }
  if (!out.refused) {
    if (requests > 0) entry->requests.spend(rate_of(requests), 1);
    if (tokens > 0) entry->tokens.spend(rate_of(tokens), likely);
    entry->tokens_held += use.tokens_worst;
    entry->credits_held += use.cost_worst;
  }
  if (requests > 0) out.rates.requests = state_of(entry->requests, requests);
  if (tokens > 0) out.rates.tokens = state_of(entry->tokens, tokens);
  return out;
}

std::optional<ApiKey> KeyRing::settle(const std::string& id, const KeyUse& held, const Used& used,
                                      Instant now) {
  const auto found = entries_.find(id);
  if (found == entries_.end()) return std::nullopt;
  Entry& entry = found->second;
  entry.tokens_held -= std::min(entry.tokens_held, held.tokens_worst);
  entry.credits_held -= std::min(entry.credits_held, held.cost_worst);
  if (const double tokens = entry.key.tokens_per_min; tokens > 0) {
    entry.tokens.refill(rate_of(tokens), now);
    // Unused tokens come back. Tokens beyond the likely number are taken now, even below zero.
    entry.tokens.spend(rate_of(tokens),
                       static_cast<double>(used.tokens) - static_cast<double>(held.tokens_likely));
  }
  if (used.counts) ++entry.key.requests;
  entry.key.tokens += used.tokens;
  entry.key.credits += used.credits;
  return entry.key;
}

std::string rate_duration(Duration duration) {
  const auto ms = std::chrono::ceil<std::chrono::milliseconds>(duration).count();
  if (ms < 1000) return weft::format("{}ms", ms);
  const auto s = (ms + 999) / 1000;
  return s < 60 ? weft::format("{}s", s) : weft::format("{}m{}s", s / 60, s % 60);
}

std::map<std::string, std::string> rate_headers(const RateStates& rates) {
  std::map<std::string, std::string> out;
  const auto add = [&](std::string_view what, const std::optional<RateState>& rate) {
    if (!rate) return;
    out[weft::format("x-ratelimit-limit-{}", what)] = std::to_string(rate->limit);
    out[weft::format("x-ratelimit-remaining-{}", what)] = std::to_string(rate->remaining);
    out[weft::format("x-ratelimit-reset-{}", what)] = rate_duration(rate->reset);
  };
  add("requests", rates.requests);
  add("tokens", rates.tokens);
  return out;
}

}  // namespace weft::billing
