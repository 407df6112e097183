// Requests are refused by their heads. Each defence stops one attack, and with its field turned off
// the attack succeeds.
#include <gtest/gtest.h>

#include "platform/net/connection_table.h"
#include "platform/net/request_gate.h"

namespace weft::net {
namespace {

using namespace std::chrono_literals;

constexpr Instant start{};
constexpr const char* stranger = "203.0.113.9";

RequestGate::Options options_with(Limits limits) {
  return {.limits = limits, .rate = std::nullopt, .hosts = {"weft.example"}};
}

std::unique_ptr<RequestGate> gate_of(RequestGate::Options options) {
  auto gate = std::make_unique<RequestGate>(std::move(options));
  gate->add({.method = "GET", .pattern = "/v1/ledger", .cost = 1});
  gate->add({.method = "POST",
             .pattern = "/v1/jobs",
             .cost = 1,
             .body_bytes_max = 64 << 20,
             .is_signed = true,
             .is_new_work = true});
  gate->add({.method = "POST", .pattern = "/v1/keys", .cost = 1, .body_bytes_max = 4096});
  gate->add({.method = "PUT",
             .pattern = "/v1/blobs/{}",
             .cost = 0.1,
             .body_bytes_max = std::uint64_t{4} << 30,
             .is_upload = true});
  gate->add({.method = "GET", .pattern = "/v1/watch", .cost = 1, .is_socket = true});
  return gate;
}
std::unique_ptr<RequestGate> gate_of(Limits limits = {}) { return gate_of(options_with(limits)); }

RequestHead head_of(std::string method, std::string target,
                    std::optional<std::uint64_t> length = std::nullopt) {
  RequestHead head;
  head.method = std::move(method);
  head.target = std::move(target);
  head.host = "weft.example:7300";
  head.hosts = 1;
  head.length = length;
  if (length) head.content_type = "application/json; charset=utf-8";
  return head;
}
RequestHead signed_head(std::uint64_t length) {
  RequestHead head = head_of("POST", "/v1/jobs", length);
  head.client = std::string(44, 'A');
  head.nonce = std::string(32, '0');
  head.time = "1700000000000";
  head.signature = std::string(88, 'B');
  return head;
}

int status_of(RequestGate& gate, const RequestHead& head, Instant at = start) {
  const auto passed = gate.judge(head, stranger, at);
  return passed ? 200 : passed.error().status;
}

TEST(Gate, TakesNoBodyThatItsRouteDoesNotWant) {
  const auto gate = gate_of();

  EXPECT_EQ(status_of(*gate, head_of("PUT", "/anything", std::uint64_t{4} << 30)), 404);
  EXPECT_EQ(status_of(*gate, head_of("POST", "/v1/keys", 4097)), 413);
  EXPECT_EQ(status_of(*gate, head_of("POST", "/v1/keys", 4096)), 200);
  EXPECT_EQ(status_of(*gate, head_of("GET", "/v1/ledger", 1)), 413);
  EXPECT_EQ(status_of(*gate, head_of("PUT", "/v1/blobs/ab", std::uint64_t{1} << 30)), 200);
  RequestHead endless = head_of("PUT", "/v1/blobs/ab");
  endless.chunked = true;
  EXPECT_EQ(status_of(*gate, endless), 411);

  const auto open = gate_of({.bodies_by_route = false});
  EXPECT_EQ(status_of(*open, head_of("PUT", "/anything", 100 << 20)), 200) << "the attack";
}

TEST(Gate, TakesNoLargeBodyWithoutTheFormOfASignature) {
  const auto gate = gate_of();
  EXPECT_EQ(status_of(*gate, head_of("POST", "/v1/jobs", 60 << 20)), 401);
  EXPECT_EQ(status_of(*gate, signed_head(60 << 20)), 200);

  const auto open = gate_of({.signatures_first = false});
  EXPECT_EQ(status_of(*open, head_of("POST", "/v1/jobs", 60 << 20)), 200) << "the attack";
}

TEST(Gate, BoundsTheBytesUnderWayByAddressAndInAll) {
  const auto gate =
      gate_of({.bodies_bytes_max = std::uint64_t{100} << 20, .bodies_bytes_per_address = 40 << 20});

  auto first = gate->judge(signed_head(30 << 20), stranger, start);
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(status_of(*gate, signed_head(30 << 20)), 503) << "one address";
  const auto second = gate->judge(signed_head(30 << 20), "203.0.113.10", start);
  const auto third = gate->judge(signed_head(30 << 20), "203.0.113.11", start);
  ASSERT_TRUE(second.has_value() && third.has_value());
  EXPECT_FALSE(gate->judge(signed_head(30 << 20), "203.0.113.12", start).has_value()) << "all";
  EXPECT_EQ(gate->bytes_held(), std::uint64_t{90} << 20);
  first->hold.reset();
  EXPECT_EQ(status_of(*gate, signed_head(30 << 20)), 200) << "room again";

  const auto open = gate_of({.bodies_bytes_max = 0, .bodies_bytes_per_address = 0});
  std::vector<RequestGate::Passed> held;
  for (int i = 0; i < 100; ++i) {
    auto passed = open->judge(signed_head(60 << 20), stranger, start);
    ASSERT_TRUE(passed.has_value()) << "the attack";
    held.push_back(std::move(*passed));
  }
}

TEST(Gate, CountsABodyUntilItsRequestIsAnswered) {
  const auto gate = gate_of({.bodies_bytes_per_address = 40 << 20});

  auto hold = gate->hold(stranger, 30 << 20);

  EXPECT_EQ(status_of(*gate, signed_head(30 << 20)), 503);
  hold.reset();
  EXPECT_EQ(status_of(*gate, signed_head(30 << 20)), 200);
}

TEST(Gate, AnswersForItsOwnHostsOnly) {
  const auto gate = gate_of();
  RequestHead rebound = head_of("GET", "/v1/ledger");
  rebound.host = "evil.example:7300";

  EXPECT_EQ(status_of(*gate, rebound), 421);
  rebound.target = "/v1/watch";
  EXPECT_EQ(status_of(*gate, rebound), 421) << "sockets too";
  rebound.target = "/";
  EXPECT_EQ(status_of(*gate, rebound), 421) << "and the page";
  RequestHead twice = head_of("GET", "/v1/ledger");
  twice.hosts = 2;
  EXPECT_EQ(status_of(*gate, twice), 421);
  RequestHead none = head_of("GET", "/v1/ledger");
  none.hosts = 0;
  none.host.clear();
  EXPECT_EQ(status_of(*gate, none), 421);
  EXPECT_EQ(status_of(*gate, head_of("GET", "http://evil.example/v1/ledger")), 400);
  EXPECT_EQ(status_of(*gate, head_of("GET", "/v1/ledger")), 200);

  rebound.target = "/v1/ledger";
  const auto open = gate_of({.check_host = false});
  EXPECT_EQ(status_of(*open, rebound), 200) << "the attack";
}

TEST(Gate, RefusesPagesOfOtherSites) {
  const auto gate = gate_of();
  RequestHead foreign = head_of("POST", "/v1/keys", 2);
  foreign.origin = "http://evil.example";
  RequestHead cross = head_of("GET", "/v1/ledger");
  cross.fetch_site = "cross-site";
  RequestHead neighbour = head_of("GET", "/v1/ledger");
  neighbour.fetch_site = "same-site";
  RequestHead socket = head_of("GET", "/v1/watch");
  socket.origin = "null";
  RequestHead own = head_of("POST", "/v1/keys", 2);
  own.origin = "https://weft.example:7300";
  own.fetch_site = "same-origin";
  RequestHead visit = head_of("GET", "/jobs/1");
  visit.fetch_site = "cross-site";

  for (const RequestHead& bad : {foreign, cross, neighbour, socket})
    EXPECT_EQ(status_of(*gate, bad), 403) << bad.target << bad.origin;
  EXPECT_EQ(status_of(*gate, own), 200);
  EXPECT_EQ(status_of(*gate, visit), 200) << "a link to the page";

  const auto open = gate_of({.check_origin = false});
  for (const RequestHead& bad : {foreign, cross, neighbour, socket})
    EXPECT_EQ(status_of(*open, bad), 200) << "the attack";
}

TEST(Gate, WantsJsonWherePagesCouldSendFormsOtherwise) {
  const auto gate = gate_of();
  RequestHead form = head_of("POST", "/v1/keys", 2);
  for (const char* type : {"", "text/plain", "application/x-www-form-urlencoded",
                           "application/jsonx", "text/plain; application/json"}) {
    form.content_type = type;
    EXPECT_EQ(status_of(*gate, form), 415) << type;
  }
  form.content_type = "Application/JSON ; charset=utf-8";
  EXPECT_EQ(status_of(*gate, form), 200);

  form.content_type = "text/plain";
  const auto open = gate_of({.json_only = false});
  EXPECT_EQ(status_of(*open, form), 200) << "the attack";
}

// A page may send a body without a content type to any address without a preflight request; the
// check of the page's origin stops such a body.
TEST(Gate, TakesBytesWhereTheRouteDoesAndNoForms) {
  const auto gate_with = [](const Limits& limits) {
    auto gate = gate_of(limits);
    gate->add({.method = "POST",
               .pattern = "/v1/models/{}:predict",
               .cost = 1,
               .body_bytes_max = 100,
               .takes_bytes = true});
    return gate;
  };
  const auto gate = gate_with({});
  RequestHead bytes = head_of("POST", "/v1/models/a:b:predict", 2);
  for (const char* type : {"", "application/octet-stream", "application/json"}) {
    bytes.content_type = type;
    EXPECT_EQ(status_of(*gate, bytes), 200) << type;
  }
  for (const char* type : {"text/plain", "multipart/form-data", "application/octet-streams"}) {
    bytes.content_type = type;
    EXPECT_EQ(status_of(*gate, bytes), 415) << type;
  }
  EXPECT_EQ(status_of(*gate_with({.json_only = false}), bytes), 200) << "the attack";
  bytes.content_type = "";
  bytes.origin = "https://evil.example";
  EXPECT_EQ(status_of(*gate, bytes), 403) << "a page of another site";
  EXPECT_EQ(status_of(*gate_with({.check_origin = false}), bytes), 200) << "the attack";
}

TEST(Gate, KnowsWhatStandsBehindAVariableInItsSegment) {
  EXPECT_TRUE(matches_pattern("/v1/models/{}:predict", "/v1/models/m:predict"));
  EXPECT_TRUE(matches_pattern("/v1/models/{}:predict", "/v1/models/a:predict:predict"));
  EXPECT_FALSE(matches_pattern("/v1/models/{}:predict", "/v1/models/m"));
  EXPECT_FALSE(matches_pattern("/v1/models/{}:predict", "/v1/models/m:predict/x"));
  EXPECT_FALSE(matches_pattern("/v1/models/{}:predict", "/v1/models/a/b:predict"));
  EXPECT_TRUE(matches_pattern("/v1/{}/x/{}", "/v1/a/x/b"));
  EXPECT_FALSE(matches_pattern("/v1/{}/x/{}", "/v1/a/y/b"));
}

TEST(Gate, TakesTokensBeforeTheBodyAndOfWholeSlash64s) {
  auto options = options_with({});
  options.rate = RateLimit::Options{.per_second = 1, .burst = 3};
  const auto gate = gate_of(options);
  const auto from = [&](const char* address) {
    return gate->judge(head_of("GET", "/v1/ledger"), address, start).has_value();
  };

  EXPECT_TRUE(from("2001:db8::1") && from("2001:db8::2") && from("2001:db8::3"));
  EXPECT_FALSE(from("2001:db8::4")) << "another address of the same subscriber";
  EXPECT_TRUE(from("2001:db8:0:1::1"));
  const auto refused = gate->judge(head_of("GET", "/v1/ledger"), "2001:db8::5", start);
  EXPECT_EQ(refused.error().status, 429);
  const auto empty = gate->rate_left("2001:db8::6", start);
  ASSERT_TRUE(empty.has_value());
  EXPECT_EQ(empty->remaining, 0);
  EXPECT_EQ(empty->whole_after, 3s);
  EXPECT_EQ(gate->rate_left("2001:db8::6", start + 2s)->remaining, 2);
  EXPECT_EQ(gate->rate_left("192.0.2.1", start)->remaining, 3) << "another address";

  const auto open = gate_of(options_with({}));
  EXPECT_FALSE(open->rate_left("2001:db8::6", start).has_value());
  for (int i = 0; i < 1000; ++i)
    EXPECT_EQ(status_of(*open, head_of("GET", "/v1/ledger")), 200) << "the attack";
}

TEST(Gate, BehindATrustedProxyCountsTheClients) {
  auto options = options_with({.newcomers_rates = 0});
  options.rate = RateLimit::Options{.per_second = 1, .burst = 1};
  options.trusted_proxies = {"10.0.0.1"};
  const auto gate = gate_of(options);
  const auto of = [&](const char* client, const char* proxy) {
    RequestHead head = head_of("GET", "/v1/ledger");
    head.forwarded_for = client;
    return gate->judge(head, proxy, start).has_value();
  };

  EXPECT_TRUE(of("203.0.113.1", "10.0.0.1") && of("203.0.113.2", "10.0.0.1"));
  EXPECT_FALSE(of("203.0.113.1", "10.0.0.1"));
  EXPECT_TRUE(of("203.0.113.3", "10.0.0.9"));
  EXPECT_FALSE(of("203.0.113.4", "10.0.0.9")) << "no proxy of ours: its header is its own word";
}

TEST(Gate, TakesNoNewWorkOntoAFullDisk) {
  std::uint64_t left = 100 << 20;
  int asked = 0;
  auto options = options_with({.disk_bytes_kept = 256 << 20});
  options.disk_bytes_free = [&] {
    ++asked;
    return left;
  };
  const auto gate = gate_of(options);

  EXPECT_EQ(status_of(*gate, signed_head(100)), 503);
  EXPECT_EQ(status_of(*gate, head_of("GET", "/v1/ledger")), 200) << "views go on";
  EXPECT_EQ(status_of(*gate, head_of("PUT", "/v1/blobs/ab", 100)), 200) << "and results";
  left = std::uint64_t{1} << 30;
  EXPECT_EQ(status_of(*gate, signed_head(100), start + 300ms), 200);
  EXPECT_EQ(asked, 2);

  left = 0;
  options.limits.disk_bytes_kept = 0;
  const auto open = gate_of(options);
  EXPECT_EQ(status_of(*open, signed_head(100)), 200) << "the attack";
}

// --- Tests of ConnectionTable.

struct Sockets {
  std::set<std::uint64_t> closed;
  std::uint64_t next = 1;
  ConnectionTable table;

  explicit Sockets(Limits limits, std::size_t all = 1000)
      : table(limits, all, [this](const ConnectionTable::Socket& socket) {
          return !closed.contains(socket.cookie);
        }) {}
  bool accept(const std::string& address, Instant at = start, bool bounded = true) {
    const std::uint64_t number = next++;
    const auto taken =
        table.accept(address + ":" + std::to_string(number), address_group(address),
                     {.descriptor = static_cast<int>(number), .cookie = number}, bounded, at);
    if (taken.ended) closed.insert(taken.ended->cookie);
    return taken.welcome;
  }
  // Marks the newest connection as that of a known peer.
  void recognise_last(const std::string& address) {
    table.recognise(address + ":" + std::to_string(next - 1));
  }
};

TEST(Connections, AreBoundedByAddressAndSlash64) {
  Sockets sockets({.connections_per_address = 3});
  EXPECT_TRUE(sockets.accept("192.0.2.1") && sockets.accept("192.0.2.1") &&
              sockets.accept("192.0.2.1"));
  EXPECT_FALSE(sockets.accept("192.0.2.1"));
  EXPECT_TRUE(sockets.accept("192.0.2.2"));
  EXPECT_TRUE(sockets.accept("2001:db8::1") && sockets.accept("2001:db8::2") &&
              sockets.accept("2001:db8::3"));
  EXPECT_FALSE(sockets.accept("2001:db8::4"));
  EXPECT_TRUE(sockets.accept("192.0.2.1", start, false)) << "a trusted proxy";

  Sockets open({.connections_per_address = 0});
  for (int i = 0; i < 900; ++i) EXPECT_TRUE(open.accept("192.0.2.1")) << "the attack";
}

// If the process can hold few connections, the bound of one address is a part of their number.
TEST(Connections, OfOneAddressAreAPartOfASmallTotal) {
  const auto taken = [](const Limits& limits, std::size_t all) {
    Sockets sockets(limits, all);
    int count = 0;
    while (count < 1000 && sockets.accept("192.0.2.1")) ++count;
    return count;
  };
  EXPECT_EQ(taken({.largest_gives_way = false}, 20'000), 256);
  EXPECT_EQ(taken({.largest_gives_way = false}, 480), 60);
  EXPECT_EQ(taken({.largest_gives_way = false}, 24), 8) << "a page needs a few";
  EXPECT_EQ(taken({.address_share = 0, .known_share = 0, .largest_gives_way = false}, 240), 240)
      << "the attack";
}

TEST(Connections, AreBoundedInAll) {
  Sockets sockets({.known_share = 0}, 5);
  for (int i = 1; i <= 5; ++i) EXPECT_TRUE(sockets.accept("192.0.2." + std::to_string(i)));
  EXPECT_FALSE(sockets.accept("192.0.2.6"));
  sockets.table.gone("192.0.2.1:1");
  EXPECT_TRUE(sockets.accept("192.0.2.7"));
}

// Opens connections from many addresses, each within its bound.
void hoard(Sockets& sockets, int count) {
  for (int i = 0; i < count; ++i) (void)sockets.accept("198.51.100." + std::to_string(i));
}

TEST(Connections, OfStrangersKeepNoKnownPeerOut) {
  const auto known_taken = [](double share) {
    Sockets sockets({.known_share = share}, 20);
    hoard(sockets, 40);
    int taken = 0;
    for (int i = 0; i < 5; ++i) {
      if (!sockets.accept("192.0.2." + std::to_string(i))) continue;
      sockets.recognise_last("192.0.2." + std::to_string(i));
      hoard(sockets, 40);
      ++taken;
    }
    EXPECT_LE(sockets.table.size(), 20u);
    return taken;
  };
  EXPECT_EQ(known_taken(0.25), 5);
  EXPECT_EQ(known_taken(0), 0) << "the attack";
}

TEST(Connections, OfKnownPeersStayHoweverManyOthersCome) {
  Sockets sockets({}, 8);
  hoard(sockets, 8);
  for (const char* address : {"192.0.2.1", "192.0.2.2"}) {
    ASSERT_TRUE(sockets.accept(address));
    sockets.recognise_last(address);
  }
  const auto first = sockets.next - 2;

  hoard(sockets, 100);

  EXPECT_FALSE(sockets.closed.contains(first) || sockets.closed.contains(first + 1));
  EXPECT_FALSE(sockets.accept("192.0.2.3")) << "the share that is kept is full";
}

// A few addresses with many connections each cannot keep a newcomer out, and the newcomer's
// connection stays open.
TEST(Connections, OfFewAddressesKeepNoNewcomerOut) {
  const auto stays = [](bool fair) {
    Sockets sockets({.connections_per_address = 16, .largest_gives_way = fair}, 64);
    const auto flood = [&] {
      for (int i = 0; i < 200; ++i) (void)sockets.accept("198.51.100." + std::to_string(i % 8));
    };
    flood();
    const bool taken = sockets.accept("192.0.2.1");
    const auto newcomers = sockets.next - 1;
    flood();
    EXPECT_LE(sockets.table.size(), 64u);
    return taken && !sockets.closed.contains(newcomers);
  };
  EXPECT_TRUE(stays(true));
  EXPECT_FALSE(stays(false)) << "the attack";
}

TEST(Connections, OfATrustedProxyDoNotGiveWay) {
  Sockets sockets({.known_share = 0}, 8);
  for (int i = 0; i < 8; ++i) ASSERT_TRUE(sockets.accept("192.0.2.9", start, false));

  EXPECT_FALSE(sockets.accept("192.0.2.1"));
  EXPECT_TRUE(sockets.closed.empty());
}

TEST(Connections, BorrowAPlaceUntilOneOfTheirOwnIsFree) {
  Sockets sockets({}, 4);
  for (int i = 1; i <= 4; ++i) ASSERT_TRUE(sockets.accept("192.0.2." + std::to_string(i)));
  sockets.table.gone("192.0.2.1:1");
  ASSERT_TRUE(sockets.accept("192.0.2.5"));

  ASSERT_TRUE(sockets.accept("192.0.2.6"));

  EXPECT_EQ(sockets.closed, std::set<std::uint64_t>{5}) << "the fourth has a place of its own";
}

TEST(Connections, ThatAreClosedWithoutAWordAreForgottenAtTheBound) {
  Sockets sockets({.connections_per_address = 2});
  EXPECT_TRUE(sockets.accept("192.0.2.1") && sockets.accept("192.0.2.1"));
  sockets.closed = {1};

  EXPECT_TRUE(sockets.accept("192.0.2.1"));
  EXPECT_EQ(sockets.table.size(), 2u);
}

TEST(Connections, WithoutAHandshakeAreOverdueAfterItsTime) {
  Sockets sockets({.handshake_max = 10s});
  ASSERT_TRUE(sockets.accept("192.0.2.1") && sockets.accept("192.0.2.1"));
  sockets.table.ready("192.0.2.1:1");

  EXPECT_TRUE(sockets.table.overdue(start + 10s).empty());
  const auto late = sockets.table.overdue(start + 11s);
  ASSERT_EQ(late.size(), 1u);
  EXPECT_EQ(late[0].cookie, 2u);

  Sockets open({.handshake_max = {}});
  ASSERT_TRUE(open.accept("192.0.2.1"));
  EXPECT_TRUE(open.table.overdue(start + 1h).empty()) << "the attack";
}

}  // namespace
}  // namespace weft::net
