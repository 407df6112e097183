// Direct links to other members of a chain: when a chain is reported as linked or parted, which
// frames are accepted, and how latency is measured.
#include "worker/inference/direct_links.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "worker/inference/test_machine.h"

namespace weft::worker {
namespace {

namespace wire = protocol::serving;
using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

// Links that open and close when the test says so.
class FakePeers final : public PeerLines {
 public:
  void open(Chain chain, Events events) override {
    wanted = std::move(chain);
    told = std::move(events);
  }
  void signal(std::uint32_t, std::uint32_t, std::uint32_t, std::string text) override {
    signals.push_back(std::move(text));
  }
  bool send(std::uint32_t, std::uint32_t member, ByteSpan frame) override {
    if (broken) return false;
    sent.emplace_back(member, ByteVector(frame.begin(), frame.end()));
    return true;
  }
  void close(std::uint32_t chain) override { closed.push_back(chain); }

  Chain wanted;
  Events told;
  bool broken = false;
  std::vector<std::pair<std::uint32_t, ByteVector>> sent;
  std::vector<std::string> signals;
  std::vector<std::uint32_t> closed;
};

struct DirectLinksTest : testing::Test {
  // Opens the links of member `index` in a chain of `count` members, which all offer "tcp".
  void open(std::uint32_t index, std::uint32_t count, std::uint32_t epoch = 5) {
    wire::Link link{.chain = 1, .epoch = epoch, .index = index, .members = {}};
    for (std::uint32_t i = 0; i < count; ++i) {
      wire::Member member{.worker = {}, .shard = i, .lines = {"tcp://10.0.0.1:1#aa"}, .token = "t"};
      member.worker.bytes[0] = static_cast<std::uint8_t>(i + 1);
      link.members.push_back(member);
    }
    links->open(link);
  }
  template <class Message>
  std::vector<Message> told() const {
    std::vector<Message> out;
    for (const auto& message : messages)
      if (const auto* one = std::get_if<Message>(&message)) out.push_back(*one);
    return out;
  }
  ByteVector hop(std::uint16_t from, std::uint16_t to, std::uint32_t epoch = 5) const {
    return wire::encode(
        wire::PingFrame{.chain = 1, .epoch = epoch, .from = from, .to = to, .number = 9});
  }

  SimulatedTime time;
  SimulatedMachine machine{time};
  FakePeers peers;
  std::vector<wire::ServingWorkerMessage> messages;
  std::vector<ByteVector> frames;
  std::shared_ptr<DirectLinks> links = std::make_shared<DirectLinks>(
      machine,
      DirectLinks::Options{.lines = {"tcp://10.0.0.2:1#bb"}, .peers = &peers, .patience = 3s},
      DirectLinks::Outputs{.tell = [this](const auto& message) { messages.push_back(message); },
                           .frame = [this](const auto& frame) { frames.push_back(frame); }});
};

TEST_F(DirectLinksTest, ReportAChainAsLinkedWhenAllConnectionsAreOpen) {
  open(1, 4);
  ASSERT_EQ(peers.wanted.others.size(), 2U) << "the next one, and the first, which is before it";
  EXPECT_EQ(peers.wanted.others[0].member, 0U);
  EXPECT_EQ(peers.wanted.others[1].member, 2U);

  peers.told.open(0, "tcp");
  EXPECT_THAT(told<wire::Linked>(), IsEmpty());
  peers.told.open(2, "tcp");

  ASSERT_EQ(told<wire::Linked>().size(), 1U);
  EXPECT_EQ(told<wire::Linked>()[0].line, "tcp");
  EXPECT_THAT(told<wire::Linked>()[0].unreached, IsEmpty());
  time.run_for(10s);
  EXPECT_EQ(told<wire::Linked>().size(), 1U);
}

TEST_F(DirectLinksTest, GoOverTheCoordinatorIfAConnectionTakesTooLong) {
  open(1, 3);
  peers.told.open(0, "tcp");
  time.run_for(3s);

  ASSERT_EQ(told<wire::Linked>().size(), 1U);
  EXPECT_EQ(told<wire::Linked>()[0].line, "relay");
  EXPECT_THAT(told<wire::Linked>()[0].unreached, ElementsAre(2U));

  peers.told.open(2, "tcp");
  EXPECT_EQ(links->send(1, 2, hop(1, 2)), DirectLinks::Sent::no_link)
      << "what was relayed must not be overtaken";
  EXPECT_EQ(links->send(1, 0, hop(1, 0)), DirectLinks::Sent::directly);
}

TEST_F(DirectLinksTest, AreNotWantedWithoutAKindOfConnectionInCommon) {
  DirectLinks tab(
      machine, {.lines = {"webrtc"}, .peers = &peers, .patience = 3s},
      {.tell = [this](const auto& message) { messages.push_back(message); }, .frame = {}});
  wire::Link link{.chain = 1, .epoch = 5, .index = 0, .members = {}};
  for (int i = 0; i < 2; ++i)
    link.members.push_back(
        {.worker = {}, .shard = 0, .lines = {"tcp://10.0.0.1:1#aa"}, .token = "t"});

  tab.open(link);

  ASSERT_EQ(told<wire::Linked>().size(), 1U);
  EXPECT_EQ(told<wire::Linked>()[0].line, "relay");
  EXPECT_THAT(peers.wanted.others, IsEmpty());
}

TEST_F(DirectLinksTest, ReportALostConnectionOnceAndNotWhatTheOldEpochSaysLater) {
  open(0, 2);
  peers.told.open(1, "tcp");
  peers.broken = true;

  EXPECT_EQ(links->send(1, 1, hop(0, 1)), DirectLinks::Sent::lost);
  EXPECT_EQ(links->send(1, 1, hop(0, 1)), DirectLinks::Sent::no_link);
  ASSERT_EQ(told<wire::Parted>().size(), 1U);
  EXPECT_EQ(told<wire::Parted>()[0].member, 1U);

  const PeerLines::Events old = peers.told;
  links->close(1);
  EXPECT_THAT(peers.closed, ElementsAre(1U));
  open(0, 2);
  old.open(1, "tcp");
  old.closed(1);
  EXPECT_EQ(told<wire::Parted>().size(), 1U);
  EXPECT_EQ(told<wire::Linked>().size(), 1U) << "that of the first epoch";
}

TEST_F(DirectLinksTest, LetInOnlyFramesOfTheMemberAtTheOtherEnd) {
  open(0, 3);
  peers.told.open(1, "tcp");
  peers.told.open(2, "tcp");

  peers.told.frame(1, hop(2, 0));
  ASSERT_EQ(told<wire::Parted>().size(), 1U) << "a frame in another member's name";
  EXPECT_EQ(told<wire::Parted>()[0].member, 1U);
  peers.told.frame(2, hop(2, 0, 4));
  EXPECT_EQ(told<wire::Parted>().size(), 2U) << "a frame of another epoch";
  EXPECT_THAT(frames, IsEmpty());
}

TEST_F(DirectLinksTest, MeasureTheShortestWayByAnsweredPings) {
  open(0, 2);
  peers.told.open(1, "tcp");
  const auto answer_after = [&](Duration trip) {
    links->ping();
    auto ping = wire::decode_ping(peers.sent.back().second).value();
    time.spend(trip);
    std::swap(ping.from, ping.to);
    ping.answer = true;
    peers.told.frame(1, wire::encode(ping));
    return ping;
  };

  answer_after(30ms);
  auto stale = answer_after(10ms);
  const auto latencies = links->take_latencies();
  ASSERT_EQ(latencies.size(), 1U);
  EXPECT_EQ(latencies.begin()->first.bytes[0], 2);
  EXPECT_EQ(latencies.begin()->second, 5ms);

  links->ping();
  peers.told.frame(1, wire::encode(stale));
  EXPECT_THAT(links->take_latencies(), IsEmpty()) << "an answer to an earlier ping";
}

TEST_F(DirectLinksTest, AnswerPings) {
  open(0, 2);
  peers.told.open(1, "tcp");

  peers.told.frame(1, hop(1, 0));

  ASSERT_EQ(peers.sent.size(), 1U);
  const auto answer = wire::decode_ping(peers.sent[0].second).value();
  EXPECT_TRUE(answer.answer);
  EXPECT_EQ(answer.from, 0);
  EXPECT_EQ(answer.to, 1);
}

TEST_F(DirectLinksTest, ReportNothingAfterTheyAreGone) {
  open(0, 2);
  links.reset();

  peers.told.open(1, "tcp");
  time.run_for(10s);

  EXPECT_THAT(messages, IsEmpty());
}

}  // namespace
}  // namespace weft::worker
