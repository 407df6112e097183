// A thousand strangers' addresses, each below its own rate, must not occupy the server: known
// peers, and a newcomer that arrives during the attack, are served. Each defence is turned off
// once, and then the attack succeeds.
#include <gtest/gtest.h>

#include <functional>

#include "common/base/format.h"
#include "platform/net/request_gate.h"

namespace weft::net {
namespace {

using namespace std::chrono_literals;

constexpr Instant start{};
constexpr double rate = 50;
constexpr double burst = 200;
constexpr int attackers = 1000;
const std::string newcomer = "192.0.2.7";

std::string attacker(int i) {
  return "198.18." + std::to_string(i / 250) + "." + std::to_string(i % 250);
}

std::unique_ptr<RequestGate> gate_of(Limits limits = {}) {
  auto gate = std::make_unique<RequestGate>(
      RequestGate::Options{.limits = limits,
                           .rate = RateLimit::Options{.per_second = rate, .burst = burst},
                           .hosts = {"weft.example"},
                           .trusted_proxies = {"10.0.0.1"}});
  gate->add({.method = "GET", .pattern = "/v1/ledger", .cost = 1});
  return gate;
}

bool passes(RequestGate& gate, const std::string& address, Instant at) {
  RequestHead head;
  head.method = "GET";
  head.target = "/v1/ledger";
  head.host = "weft.example";
  head.hosts = 1;
  return gate.judge(head, address, at).has_value();
}

// Returns the number of requests that all attackers get through in `time`, at `per_second` requests
// each.
int attack(const std::function<bool(const std::string& address, Instant at)>& ask, Instant from,
           Duration time, int per_second = 10) {
  int passed = 0;
  for (Instant at = from; at < from + time; at += 1000ms / per_second)
    for (int i = 0; i < attackers; ++i) passed += ask(attacker(i), at) ? 1 : 0;
  return passed;
}
int attack(RequestGate& gate, Instant from, Duration time) {
  return attack([&](const std::string& address, Instant at) { return passes(gate, address, at); },
                from, time);
}

TEST(Strangers, ShareTheRatesOfAFewHoweverManyTheyAre) {
  const auto gate = gate_of();
  (void)attack(*gate, start, 20s);

  const int passed = attack(*gate, start + 20s, 10s);

  EXPECT_LE(passed, 10 * 4 * rate + attackers);
  EXPECT_GE(passed, 10 * 4 * rate / 2) << "and they have their share";

  const auto open = gate_of({.strangers_rates = 0});
  (void)attack(*open, start, 20s);
  EXPECT_EQ(attack(*open, start + 20s, 10s), 10 * 10 * attackers) << "the attack";
}

TEST(Strangers, ThatComeAtOnceShareWhatNewcomersHave) {
  const auto first = [](Limits limits) {
    const auto gate = gate_of(limits);
    int passed = 0;
    for (int i = 0; i < attackers; ++i)
      for (int k = 0; k < 20; ++k) passed += passes(*gate, attacker(i), start) ? 1 : 0;
    return passed;
  };

  EXPECT_LE(first({}), 10 * burst);

  EXPECT_EQ(first({.newcomers_rates = 0}), 20 * attackers) << "the attack";
}

TEST(Strangers, ThatAttackKeepNoNewcomerOut) {
  const auto gate = gate_of();
  (void)attack(*gate, start, 30s);
  const Instant at = start + 30s;

  EXPECT_TRUE(gate->may_connect(newcomer, at));
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(passes(*gate, newcomer, at)) << i;
  EXPECT_EQ(gate->refused(newcomer, at), Duration::zero());

  const auto open = gate_of({.newcomer_burst = 0});
  (void)attack(*open, start, 30s);
  EXPECT_FALSE(passes(*open, newcomer, at)) << "the attack";
}

// An IPv6 network (a /48) has 65,536 /64s, and each of them may come once.
TEST(Strangers, OfOneNetworkLeaveOthersNewcomersWhatTheyHave) {
  const auto passed_by_a_newcomer = [](Limits limits) {
    const auto gate = gate_of(limits);
    for (int i = 0; i < 6000; ++i)  // 100 new addresses a second, for a minute.
      for (int k = 0; k < 20; ++k)
        (void)passes(*gate, weft::format("2001:db8:1:{:x}::1", i), start + i * 10ms);
    int passed = 0;
    for (int k = 0; k < 20; ++k) passed += passes(*gate, newcomer, start + 60s) ? 1 : 0;
    return passed;
  };

  EXPECT_EQ(passed_by_a_newcomer({}), 20);

  EXPECT_LE(passed_by_a_newcomer({.newcomers_network_share = 0}), 4) << "the attack";
}

TEST(Strangers, TakeNothingOfAKnownAddress) {
  const auto gate = gate_of();
  gate->recognise(newcomer, start + 29s);
  (void)attack(*gate, start, 30s);
  const auto passed = [](RequestGate& asked) {
    int count = 0;
    for (Instant at = start + 30s; at < start + 34s; at += 10ms)
      count += passes(asked, newcomer, at) ? 1 : 0;
    return count;
  };

  EXPECT_GE(passed(*gate), 395) << "its burst, and its rate";
  EXPECT_EQ(gate->rate_left(newcomer, start + 34s)->burst, burst);

  const auto unknown = gate_of();
  (void)attack(*unknown, start, 30s);
  EXPECT_LE(passed(*unknown), 25);
  EXPECT_EQ(unknown->rate_left(newcomer, start + 34s)->burst, 20);
}

TEST(Strangers, AreKnownAtAFewAddressesOfOneClient) {
  const auto known = [](Limits limits) {
    const auto gate = gate_of(limits);
    for (int i = 0; i < attackers; ++i) gate->recognise_client("a wallet", attacker(i), start);
    (void)attack(*gate, start, 20s);
    return attack(*gate, start + 20s, 10s);
  };

  EXPECT_LE(known({}), 10 * (4 * rate + 8 * 10) + attackers);

  EXPECT_EQ(known({.addresses_per_client = 0}), 10 * 10 * attackers) << "the attack";
}

TEST(Strangers, HaveARateOfNewConnectionsTogether) {
  const auto connected = [](Limits limits) {
    const auto gate = gate_of(limits);
    const auto connect = [&](const std::string& address, Instant at) {
      return gate->may_connect(address, at);
    };
    (void)attack(connect, start, 20s);
    const int count = attack(connect, start + 20s, 10s);
    EXPECT_TRUE(gate->may_connect(newcomer, start + 30s));
    EXPECT_TRUE(gate->may_connect("10.0.0.1", start + 30s)) << "the proxy";
    return count;
  };

  EXPECT_LE(connected({.strangers_connections = 8}), 10 * 8 * rate + attackers);

  EXPECT_EQ(connected({.strangers_connections = 0}), 10 * 10 * attackers) << "the attack";
}

TEST(Strangers, ThatAreRefusedOftenWaitForIt) {
  const auto gate = gate_of();
  for (int i = 0; i < 8; ++i) EXPECT_EQ(gate->refused(attacker(1), start), 0s) << i;

  EXPECT_EQ(gate->refused(attacker(1), start), 1s);
  EXPECT_EQ(gate->refused(attacker(1), start), 2s);
  for (int i = 0; i < 100; ++i) (void)gate->refused(attacker(1), start);
  EXPECT_EQ(gate->refused(attacker(1), start), 30s);
  EXPECT_EQ(gate->refused(newcomer, start), 0s);
  EXPECT_EQ(gate->refused(attacker(1), start + 10min), 0s) << "again at once, after some time";
  for (int i = 0; i < 100; ++i) EXPECT_EQ(gate->refused("10.0.0.1", start), 0s) << "the proxy";
  gate->recognise(newcomer, start);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(gate->refused(newcomer, start), 0s) << "known";

  const auto open = gate_of({.refusal_wait_max = 0s});
  for (int i = 0; i < 1000; ++i)
    EXPECT_EQ(open->refused(attacker(1), start), 0s)
        << "the attack: a refusal as fast as a request";
}

TEST(Refusals, ForgetThoseThatHaveNotBeenRefusedLately) {
  Refusals refusals({.at_once = 1, .another_every = 10s, .wait_max = 30s, .addresses_max = 2});
  EXPECT_EQ(refusals.count("a", start), 0s);
  EXPECT_EQ(refusals.count("b", start), 0s);

  EXPECT_EQ(refusals.count("c", start), 30s) << "no room: it waits longest";
  EXPECT_EQ(refusals.count("c", start + 10s), 0s);
  EXPECT_EQ(refusals.addresses(), 1U);
}

TEST(RateLimit, KnowsAnAddressForSomeTime) {
  RateLimit limit({.per_second = 1, .burst = 4, .strangers_per_second = 1, .known_for = 1min});
  limit.recognise("a", start);

  EXPECT_TRUE(limit.is_known("a", start + 59s));
  EXPECT_FALSE(limit.is_known("a", start + 60s));
  limit.recognise("a", start + 59s);
  EXPECT_TRUE(limit.is_known("a", start + 60s));
  EXPECT_FALSE(limit.is_known("b", start));
}

}  // namespace
}  // namespace weft::net
