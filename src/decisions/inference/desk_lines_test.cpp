// Tests lines and heartbeats: tokens for pairs of members, a line that breaks, and chains that
// change when a worker slows down or a better one joins.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>

#include "decisions/inference/desk.h"
#include "decisions/inference/test_model_card.h"

namespace weft::inference {
namespace {

namespace wire = protocol::serving;
using namespace std::chrono_literals;

// A network of workers that obey all messages and send two heartbeats a second. A layer takes `ms`
// on each worker.
class LinesNetwork : public DeskWorld {
 public:
  explicit LinesNetwork(DeskSettings settings = {}) : desk(*this, std::move(settings)) {}

  static PublicKey key(ServingId id) {
    PublicKey out;
    out.bytes[0] = static_cast<std::uint8_t>(id);
    return out;
  }
  void join(ServingId id, double ms, std::vector<std::string> lines = {"tcp://10.0.0.1:1#f"}) {
    paces[id] = ms;
    desk.join(id, key(id),
              {.token = "t",
               .memory_bytes = std::uint64_t{500} << 20,
               .gb_per_s = 10,
               .lines = std::move(lines)},
              time);
    settle();
  }
  void pass(Duration duration) {
    for (Duration done{}; done < duration; done += 500ms) {
      time += 500ms;
      for (const auto& [id, ms] : paces) {
        wire::Pulse pulse{.load = 0.1};
        for (const auto& [shard, load] : loaded[id])
          pulse.paces.push_back({.shard = shard, .ms = ms * (load.end_layer - load.first_layer)});
        for (const auto& [pair, way] : ways) {
          if (pair.first == id) pulse.peers.push_back({.worker = key(pair.second), .ms = way});
        }
        desk.hear(id, pulse, time);
      }
      desk.tick(time);
      settle();
    }
  }
  RequestId ask(std::uint32_t tokens) {
    AnswerRequest request{.id = ++ids, .model = "m", .conversation = ids, .ask = {}};
    request.ask.tokens_max = tokens;
    EXPECT_TRUE(desk.ask(std::move(request), time).has_value());
    settle();
    return ids;
  }
  void settle() {
    while (!waiting.empty()) {
      const auto [session, message] = waiting.front();
      waiting.pop_front();
      if (const auto* load = std::get_if<wire::Load>(&message)) {
        loaded[session][load->shard] = *load;
        desk.hear(session, wire::Loaded{.shard = load->shard}, time);
      } else if (const auto* unload = std::get_if<wire::Unload>(&message)) {
        loaded[session].erase(unload->shard);
      } else if (const auto* link = std::get_if<wire::Link>(&message)) {
        links[session] = *link;
        if (answers)
          desk.hear(session,
                    wire::Linked{.chain = link->chain,
                                 .epoch = link->epoch,
                                 .line = "tcp",
                                 .unreached = unreached[session]},
                    time);
      } else if (const auto* what = std::get_if<wire::Ask>(&message)) {
        asked.emplace_back(session, *what);
      }
    }
  }
  void send(ServingId session, const wire::ServingCoordinatorMessage& message) override {
    waiting.emplace_back(session, message);
  }
  void send_hop(ServingId, ByteVector) override {}
  void close(ServingId, const std::string&) override {}
  void tokens(RequestId, const std::vector<wire::Token>&) override {}
  void ended(RequestId request, const AnswerEnd& end) override { ends[request] = end; }

  // The members' sessions in the order of the layers.
  std::vector<ServingId> members() {
    std::vector<ServingId> out;
    for (const ServedMember& member : desk.chains().at(0).members) {
      for (const auto& [id, ms] : paces) {
        if (key(id).text() == member.key) out.push_back(id);
      }
    }
    return out;
  }

  Desk desk;
  Instant time{};
  RequestId ids = 0;
  bool answers = true;
  std::deque<std::pair<ServingId, wire::ServingCoordinatorMessage>> waiting;
  std::map<ServingId, double> paces;
  std::map<std::pair<ServingId, ServingId>, double> ways;
  std::map<ServingId, std::map<std::uint32_t, wire::Load>> loaded;
  std::map<ServingId, wire::Link> links;
  std::map<ServingId, std::vector<std::uint32_t>> unreached;
  std::vector<std::pair<ServingId, wire::Ask>> asked;
  std::map<RequestId, AnswerEnd> ends;
};

TEST(DeskLines, EveryPairHasATokenOfItsOwnForEveryEpoch) {
  LinesNetwork network({.secret = {1, 2, 3}});
  for (ServingId id = 1; id <= 3; ++id) network.join(id, 1);
  network.desk.put_model(card("m", 3), network.time);
  network.settle();
  const auto members = network.members();
  ASSERT_EQ(members.size(), 3u);
  const auto token = [&](std::size_t of, std::size_t to) {
    return network.links[members[of]].members[to].token;
  };
  std::set<std::string> tokens;
  for (std::size_t a = 0; a < 3; ++a) {
    EXPECT_TRUE(token(a, a).empty());
    for (std::size_t b = 0; b < a; ++b) {
      EXPECT_EQ(token(a, b).size(), 64u);
      EXPECT_EQ(token(a, b), token(b, a));
      tokens.insert(token(a, b));
    }
  }
  EXPECT_EQ(tokens.size(), 3u);

  // The line between two members breaks. The next epoch has new tokens for all other pairs and none
  // for these two members, which may try again later.
  const std::uint32_t epoch = network.links[members[0]].epoch;
  const RequestId request = network.ask(8);
  network.desk.hear(members[0], wire::Parted{.chain = 1, .epoch = epoch, .member = 1},
                    network.time);
  network.settle();
  EXPECT_EQ(network.links[members[0]].epoch, epoch + 1);
  EXPECT_TRUE(token(0, 1).empty());
  EXPECT_TRUE(token(1, 0).empty());
  EXPECT_FALSE(tokens.contains(token(0, 2)));
  ASSERT_EQ(network.asked.size(), 2u) << "the request goes on";
  EXPECT_EQ(network.asked[1].second.request, request);
  EXPECT_EQ(network.asked[1].second.epoch, epoch + 1);
  // A second report, from an old epoch, changes nothing.
  network.desk.hear(members[1], wire::Parted{.chain = 1, .epoch = epoch, .member = 0},
                    network.time);
  network.settle();
  EXPECT_EQ(network.links[members[0]].epoch, epoch + 1);

  network.pass(61s);
  network.desk.hear(members[1], wire::Parted{.chain = 1, .epoch = epoch + 1, .member = 2},
                    network.time);
  network.settle();
  EXPECT_FALSE(token(0, 1).empty());
}

TEST(DeskLines, TwoThatDoNotReachEachOtherAreToldOnce) {
  LinesNetwork network;
  for (ServingId id = 1; id <= 2; ++id) network.join(id, 1);
  for (ServingId id = 1; id <= 2; ++id) network.unreached[id] = {0, 1};
  network.desk.put_model(card("m", 2), network.time);
  network.settle();
  const auto members = network.members();
  EXPECT_FALSE(network.links[members[0]].members[1].token.empty());
  network.desk.hear(members[0],
                    wire::Parted{.chain = 1, .epoch = network.links[members[0]].epoch, .member = 1},
                    network.time);
  network.settle();
  EXPECT_TRUE(network.links[members[0]].members[1].token.empty());
}

TEST(DeskLines, WhoSaysForEverThatALineBreaksHasNotTheChainForEver) {
  LinesNetwork network;
  for (ServingId id = 1; id <= 2; ++id) network.join(id, 1);
  network.desk.put_model(card("m", 2), network.time);
  network.settle();
  const auto members = network.members();
  const auto parted = [&] {
    const auto& link = network.links[members[0]];
    network.desk.hear(members[0],
                      wire::Parted{.chain = link.chain, .epoch = link.epoch, .member = 1},
                      network.time);
    network.settle();
  };
  parted();
  EXPECT_EQ(network.links[members[0]].chain, 1U) << "linked again, over the relay";
  parted();
  EXPECT_NE(network.links[members[0]].chain, 1U)
      << "a line that is the coordinator's does not break";
}

TEST(DeskLines, OnlyTabsGetServersForTheirConnections) {
  LinesNetwork network({.ice = [](const PublicKey& worker) {
    return std::vector<wire::IceServer>{{.urls = {"stun:a"}, .username = worker.text()}};
  }});
  network.join(1, 1, {"webrtc"});
  network.join(2, 1);
  network.desk.put_model(card("m", 2), network.time);
  network.settle();
  ASSERT_EQ(network.links[1].ice.size(), 1u);
  EXPECT_EQ(network.links[1].ice[0].username, LinesNetwork::key(1).text());
  EXPECT_TRUE(network.links[2].ice.empty());
}

TEST(DeskLines, ShowsWhatHeartbeatsSay) {
  LinesNetwork network;
  for (ServingId id = 1; id <= 2; ++id) network.join(id, 2);
  network.ways[{1, 2}] = 0.25;
  network.desk.put_model(card("m", 2), network.time);
  network.settle();
  network.pass(2s);
  network.desk.measured(1, 3ms, network.time);
  const auto workers = network.desk.workers();
  ASSERT_EQ(workers.size(), 2u);
  ASSERT_EQ(workers[0].peers.size(), 1u);
  EXPECT_EQ(workers[0].peers[0].key, LinesNetwork::key(2).text());
  EXPECT_DOUBLE_EQ(workers[0].peers[0].ms, 0.25);
  EXPECT_DOUBLE_EQ(workers[0].coordinator_ms, 1.5);
  EXPECT_NEAR(workers[0].gb_per_s, (10 << 20) / 2e6, 1e-9);
  const auto chains = network.desk.chains();
  EXPECT_EQ(chains[0].transport, "tcp");
  EXPECT_EQ(chains[0].wire, "f32");
  EXPECT_DOUBLE_EQ(chains[0].members[0].ms,
                   2 * (chains[0].members[0].end - chains[0].members[0].begin));
}

TEST(DeskLines, AWorkerThatBecomesSlowIsReplacedAndItsRequestsGoOn) {
  LinesNetwork network;
  for (ServingId id = 1; id <= 3; ++id) network.join(id, 2);
  network.desk.put_model(card("m", 2), network.time);
  network.settle();
  const auto before = network.members();
  const RequestId request = network.ask(1000);
  auto draw = [&, told = std::uint32_t{0}](int tokens) mutable {
    for (int i = 0; i < tokens; ++i) {
      const auto& [first, ask] = network.asked.back();
      network.desk.hear(
          first,
          wire::Tokens{
              .request = request, .epoch = ask.epoch, .first = told, .tokens = {{.id = 5}}},
          network.time);
      ++told;
    }
  };
  // Noise of the measured paces changes nothing.
  for (int i = 0; i < 80; ++i) {
    network.paces[before[0]] = i % 2 == 0 ? 1.8 : 2.3;
    network.pass(1s);
    draw(1);
  }
  EXPECT_EQ(network.desk.counters().replanned, 0u);
  EXPECT_EQ(network.members(), before);

  network.paces[before[1]] = 40;
  for (int i = 0; i < 40; ++i) {
    network.pass(1s);
    draw(1);
  }
  EXPECT_EQ(network.desk.counters().replanned, 1u);
  EXPECT_FALSE(std::ranges::contains(network.members(), before[1]));

  EXPECT_GE(network.asked.back().second.answered.size(), 80u);
  EXPECT_FALSE(network.ends.contains(request));
}

TEST(DeskLines, AFasterWorkerThatComesTakesItsPlace) {
  LinesNetwork network;
  for (ServingId id = 1; id <= 2; ++id) network.join(id, 30);
  network.desk.put_model(card("m", 2), network.time);
  network.settle();
  network.pass(40s);
  EXPECT_EQ(network.desk.counters().replanned, 0u);
  // The new worker stands by before it joins a chain, so that its speed is known.
  network.join(3, 1);
  network.pass(60s);
  EXPECT_GE(network.desk.counters().replanned, 1u);
  EXPECT_TRUE(std::ranges::contains(network.members(), ServingId{3}));
}

}  // namespace
}  // namespace weft::inference
