// No key is used beyond its limits, however requests overlap, and the stored data of a key does not
// reveal its secret.
#include "decisions/billing/api_keys.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace weft::billing {
namespace {

using namespace std::chrono_literals;

const Instant start = Instant{} + 1h;

ApiKey key(std::string id, const std::string& secret) {
  return {.id = std::move(id),
          .name = "laptop",
          .hash = api_key_hash(secret),
          .owner = {},
          .created = 5};
}
const Hash hash = api_key_hash("weft-a");

struct Ring : KeyRing {
  explicit Ring(ApiKey of) { EXPECT_TRUE(add(std::move(of)).has_value()); }
  std::optional<KeyRefusal> ask(const KeyUse& use, Instant at = start) {
    return admit(hash, use, at).refused;
  }
};

TEST(ApiKeys, SecretsAreLongDifferentAndNotKept) {
  std::set<std::string> seen;
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(seen.insert(new_api_secret()).second);
  const std::string secret = *seen.begin();
  EXPECT_TRUE(secret.starts_with("weft-"));
  EXPECT_FALSE(secret.starts_with(key_prefix_here));
  EXPECT_TRUE(new_api_secret(true).starts_with(key_prefix_here));
  EXPECT_TRUE(to_json(key("here-0123456789abcdef", secret)).contains(R"("fallback":"never")"));
  EXPECT_TRUE(to_json(key("0123456789abcdef", secret)).contains(R"("fallback":"allow")"));
  EXPECT_GE(secret.size(), 45U);
  const ApiKey one = key("1", secret);
  EXPECT_EQ(to_json(one).find(one.hash.text()), std::string::npos);
}

TEST(ApiKeys, OneClientDoesNotUseThemUp) {
  KeyRing ring;
  const auto owned = [](std::size_t number, std::uint8_t owner) {
    ApiKey one = key(std::to_string(number), "weft-" + std::to_string(number));
    one.owner.bytes[0] = owner;
    return one;
  };
  PublicKey first, second;
  first.bytes[0] = 1;
  second.bytes[0] = 2;
  for (std::size_t i = 0; i < KeyRing::keys_of_owner_max; ++i) {
    ASSERT_TRUE(ring.may_add(first).has_value()) << i;
    ASSERT_TRUE(ring.add(owned(i, 1)).has_value());
  }
  EXPECT_EQ(ring.may_add(first).error().code, ErrorCode::resource_exhausted);
  EXPECT_TRUE(ring.may_add(second).has_value());
  ASSERT_TRUE(ring.revoke("0", first, 9).has_value());
  EXPECT_FALSE(ring.may_add(first).has_value()) << "a revoked one is still kept";
}

TEST(ApiKeys, RequestsAMinuteComeBackAsTimePasses) {
  ApiKey limited = key("1", "weft-a");
  limited.requests_per_min = 3;
  Ring ring(limited);
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(ring.ask({}));

  const auto refused = ring.admit(hash, {}, start);

  ASSERT_TRUE(refused.refused);
  EXPECT_EQ(refused.refused->error.code, ErrorCode::resource_exhausted);
  EXPECT_NEAR(std::chrono::duration<double>(refused.refused->retry).count(), 20, 0.01);
  EXPECT_EQ(refused.rates.requests->limit, 3U);
  EXPECT_EQ(refused.rates.requests->remaining, 0U);
  const auto headers = rate_headers(refused.rates);
  EXPECT_EQ(headers.at("x-ratelimit-remaining-requests"), "0");
  EXPECT_EQ(headers.at("x-ratelimit-reset-requests"), "1m0s");
  EXPECT_TRUE(ring.ask({}, start + 19s));
  EXPECT_FALSE(ring.ask({}, start + 21s));
  EXPECT_TRUE(ring.ask({}, start + 21s));
}

TEST(ApiKeys, TokensThatWereNotUsedComeBackAndThoseThatWereTooManyAreOwed) {
  ApiKey limited = key("1", "weft-a");
  limited.tokens_per_min = 100;
  Ring ring(limited);
  const KeyUse use{.tokens_likely = 80, .tokens_worst = 80};
  EXPECT_FALSE(ring.ask(use));
  EXPECT_TRUE(ring.ask(use));
  (void)ring.settle("1", use, {.tokens = 10}, start);
  EXPECT_FALSE(ring.ask(use));
  (void)ring.settle("1", use, {.tokens = 200}, start);

  EXPECT_TRUE(ring.ask({.tokens_likely = 1}, start + 60s)) << "90 - 200 + 100 is below 0";
  EXPECT_FALSE(ring.ask({.tokens_likely = 1}, start + 70s));
  const auto never = ring.ask({.tokens_likely = 101}, start + 1h);
  ASSERT_TRUE(never);
  EXPECT_GT(never->retry, 1h) << "waiting does not help";
}

TEST(ApiKeys, BudgetsHoldAgainstRequestsSideBySide) {
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    ApiKey limited = key("1", "weft-a");
    limited.tokens_max = 1000;
    limited.credits_max = 1000;
    Ring ring(limited);
    std::vector<KeyUse> open;
    std::uint64_t tokens = 0;
    MicroCredits credits = 0;
    for (int step = 0; step < 100; ++step) {
      if (random() % 2 == 0) {
        const KeyUse use{.tokens_worst = random() % 300,
                         .cost_worst = static_cast<MicroCredits>(random() % 300)};
        if (const auto refused = ring.ask(use)) {
          EXPECT_EQ(refused->error.code, ErrorCode::insufficient_funds);
        } else {
          open.push_back(use);
        }
      } else if (!open.empty()) {
        const KeyUse use = open.back();
        open.pop_back();
        const std::uint64_t used = use.tokens_worst == 0 ? 0 : random() % (use.tokens_worst + 1);
        const MicroCredits cost =
            use.cost_worst == 0 ? 0
                                : static_cast<MicroCredits>(
                                      random() % static_cast<std::uint64_t>(use.cost_worst + 1));
        tokens += used;
        credits += cost;
        const auto after = ring.settle("1", use, {.tokens = used, .credits = cost}, start);
        ASSERT_TRUE(after);
        EXPECT_EQ(after->tokens, tokens);
        EXPECT_EQ(after->credits, credits);
      }
    }
    EXPECT_LE(tokens, 1000U);
    EXPECT_LE(credits, 1000);
  }
}

TEST(ApiKeys, WhatABudgetStillTakesIsTheSmallerOfItsTwoBounds) {
  ApiKey limited = key("1", "weft-a");
  limited.tokens_max = 500;
  limited.credits_max = 3'000'000;
  Ring ring(limited);
  EXPECT_EQ(ring.tokens_left(limited, 0), 500U);
  EXPECT_EQ(ring.tokens_left(limited, 10'000'000), 300U);
  EXPECT_FALSE(ring.ask({.tokens_worst = 400, .cost_worst = 1'000'000}));
  EXPECT_EQ(ring.tokens_left(limited, 10'000'000), 100U);
  EXPECT_EQ(Ring(key("1", "weft-a")).tokens_left(key("1", "weft-a"), 5), std::nullopt);
}

TEST(ApiKeys, ARevokedOrUnknownOneIsRefused) {
  Ring ring(key("1", "weft-a"));
  PublicKey stranger;
  stranger.bytes[0] = 1;
  EXPECT_EQ(ring.revoke("1", stranger, 7).error().code, ErrorCode::permission_denied);
  EXPECT_EQ(ring.revoke("2", std::nullopt, 7).error().code, ErrorCode::not_found);
  EXPECT_NE(ring.find(hash), nullptr);

  EXPECT_EQ(ring.revoke("1", PublicKey{}, 7)->revoked, 7);

  EXPECT_EQ(ring.find(hash), nullptr);
  EXPECT_EQ(ring.ask({})->error.code, ErrorCode::unauthenticated);
  EXPECT_EQ(ring.list(std::nullopt).size(), 1U) << "it is shown as revoked";
  EXPECT_FALSE(ring.add(key("1", "weft-b")).has_value());
}

}  // namespace
}  // namespace weft::billing
