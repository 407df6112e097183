// Tests roots and the search for a guilty stage at the desk: which members and auditors are asked,
// which frames are evidence, and that a search ends whatever its workers do.
#include <gtest/gtest.h>

#include "common/crypto/keys.h"
#include "common/crypto/sha256.h"
#include "common/proof/frame_block.h"
#include "common/protocol/hops.h"
#include "decisions/inference/test_desk.h"

namespace weft::inference {
namespace {

// Workers 1 to 3 are members of a chain, each with a key; workers 4 and 5 can search.
class DeskTraces : public testing::Test {
 protected:
  DeskTraces() {
    for (ServingId id = 1; id <= 3; ++id) join(id);
    network.desk.put_model(card("m", 3), network.time);
    network.settle();
    join(4);
    join(5);
    network.pass(1s);
  }
  void join(ServingId id) {
    PublicKey key;
    key.bytes[0] = static_cast<std::uint8_t>(id);
    network.alive.insert(id);
    keys.emplace(id, crypto::KeyPair::generate().value());
    network.desk.join(id, key,
                      {.token = "t",
                       .memory_bytes = std::uint64_t{1000} << 20,
                       .gb_per_s = 10,
                       .key = keys.at(id).public_key()},
                      network.time);
    network.settle();
  }
  [[nodiscard]] ServingId member(std::uint32_t index) const {
    for (const auto& [id, link] : network.links) {
      if (link.members.size() == 3 && link.index == index) return id;
    }
    return 0;
  }
  [[nodiscard]] const wire::Link& link() const { return network.links.at(member(0)); }
  void tell(ServingId by, std::uint32_t line, const Hash& root, bool signs = true) {
    wire::Frames frames{.chain = link().chain,
                        .epoch = link().epoch,
                        .line = line,
                        .first = 0,
                        .count = 1,
                        .root = root};
    if (signs)
      frames.signature = keys.at(by).sign_now(proof::frame_block_digest(
          {.chain = frames.chain, .epoch = frames.epoch, .line = line, .count = 1, .root = root}));
    network.desk.hear(by, frames, network.time);
    network.settle();
  }
  [[nodiscard]] TraceRequest request() const {
    TraceRequest out{.id = 900, .model = "m"};
    out.ask.prompt = {7, 8, 9};
    out.ask.answered = {1};
    out.pipeline = {.chain = link().chain, .epoch = link().epoch};
    for (const auto& one : link().members)
      out.pipeline.stages.push_back({.worker = one.worker, .begin = 0, .end = 2});
    for (const auto& one : link().members) out.except.push_back(one.worker);
    out.error_max = 0.005;
    return out;
  }

  Network network;
  std::map<ServingId, crypto::KeyPair> keys;
};

TEST_F(DeskTraces, MembersThatHaveKeysCommit) {
  EXPECT_TRUE(link().commits);
  Network without;
  for (ServingId id = 1; id <= 3; ++id) without.join(id);
  without.desk.put_model(card("m", 3), without.time);
  without.settle();
  EXPECT_FALSE(without.links.at(1).commits);
}

TEST_F(DeskTraces, AnAnswerNamesTheChainThatItIsOf) {
  const RequestId id = network.ask("m", 2);
  for (int i = 0; i < 3; ++i) network.draw();
  ASSERT_TRUE(network.ends.at(id).pipeline.has_value());
  const Pipeline& pipeline = *network.ends.at(id).pipeline;
  EXPECT_EQ(pipeline.chain, link().chain);
  ASSERT_EQ(pipeline.stages.size(), 3U);
  EXPECT_EQ(pipeline.stages[0].begin, 0U);
  EXPECT_EQ(pipeline.stages[2].begin, pipeline.stages[1].end);
}

// The answer went on at another chain, so that its fingerprints and frames are of two chains and
// name no worker.
TEST_F(DeskTraces, AnAnswerThatWentOnElsewhereNamesNone) {
  const RequestId id = network.ask("m", 2);
  network.draw();
  network.leave(member(1));
  network.pass(1s);
  for (int i = 0; i < 3; ++i) network.draw();
  ASSERT_TRUE(network.ends.contains(id));
  EXPECT_EQ(network.ends.at(id).resumed, 1U);
  EXPECT_FALSE(network.ends.at(id).pipeline.has_value());
}

TEST_F(DeskTraces, TheSameRootsAreNoDispute) {
  tell(member(0), 0, Hash{});
  tell(member(1), 0, Hash{});
  EXPECT_EQ(network.desk.counters().disputes, 0U);
  EXPECT_TRUE(network.closed.empty());
}

TEST_F(DeskTraces, OtherRootsSeparateThePairAndBlameNeither) {
  const RequestId id = network.ask("m", 2);
  Hash other;
  other.bytes[0] = 1;
  const auto before = link().chain;
  tell(member(0), 0, Hash{});
  tell(member(1), 0, other);
  EXPECT_EQ(network.desk.counters().disputes, 1U);
  EXPECT_TRUE(network.closed.empty()) << "all are there still";
  network.pass(1s);
  EXPECT_NE(link().chain, before);
  for (int i = 0; i < 3; ++i) network.draw();
  EXPECT_EQ(network.ends.at(id).reason, "length") << "the request went on";
}

TEST_F(DeskTraces, AnEndThatSaysNothingIsADisputeInTheEnd) {
  tell(member(0), 0, Hash{});
  network.pass(59s);
  EXPECT_EQ(network.desk.counters().disputes, 0U);
  network.pass(2s);
  EXPECT_EQ(network.desk.counters().disputes, 1U);
}

TEST_F(DeskTraces, ARootThatIsNotSignedEndsTheConnection) {
  tell(member(0), 0, Hash{}, false);
  EXPECT_EQ(network.closed, std::set{member(0)});
}

TEST_F(DeskTraces, BothEndsOfALineAreAskedForTheirFrames) {
  network.reopens.clear();
  network.desk.trace(request(), network.time);
  network.settle();
  std::map<std::uint32_t, std::set<ServingId>> asked;
  for (const auto& [session, order] : network.reopens) asked[order.line].insert(session);
  EXPECT_EQ(asked[0], (std::set{member(0), member(1)}));
  EXPECT_EQ(asked[2], (std::set{member(2), member(0)}));
}

TEST_F(DeskTraces, ASearchForWhichNoFramesComeEndsWithoutAVerdict) {
  network.desk.trace(request(), network.time);
  network.settle();
  network.pass(130s);
  ASSERT_TRUE(network.traces.contains(900));
  EXPECT_TRUE(network.traces.at(900).findings.empty());
}

TEST_F(DeskTraces, ASearchOfAModelThatIsNotThereEndsAtOnce) {
  TraceRequest other = request();
  other.model = "none";
  network.desk.trace(other, network.time);
  EXPECT_TRUE(network.traces.contains(900));
}

// A member may show a frame that it did not commit to, and a worker that is no end of the line may
// show any frame.
TEST_F(DeskTraces, AFrameThatIsUnderNoRootOfBothEndsIsNoEvidence) {
  ByteVector frame;
  proof::append_activations(frame, {.sequence = 0}, std::vector<std::int32_t>{7, 8, 9},
                            std::vector<float>(std::size_t{3} * card("m", 3).embedding, 1.0F));
  const proof::FrameOpening opening{.line = 0, .count = 1, .frame = frame};
  const Hash root = proof::root_of_roots(std::vector{crypto::sha256(frame)});
  const auto show = [&] {
    network.desk.trace(request(), network.time);
    network.settle();
    network.reopens.clear();
    for (const ServingId by : {member(0), member(1)}) {
      wire::cut_hops(link().chain, link().epoch, 0, wire::hop_to_coordinator,
                     proof::encode(opening),
                     [&](const ByteVector& hop) { network.desk.hop(by, hop, network.time); });
      network.desk.hear(by, wire::Reopened{.chain = link().chain, .epoch = link().epoch, .line = 0},
                        network.time);
    }
    for (const ServingId by : {member(2), member(0)})
      network.desk.hear(by, wire::Reopened{.chain = link().chain, .epoch = link().epoch, .line = 2},
                        network.time);
    network.settle();
  };
  tell(member(0), 0, root);
  show();
  EXPECT_TRUE(network.reopens.empty()) << "only the sender signed it";
  EXPECT_TRUE(network.traces.contains(900));
  network.traces.clear();
  tell(member(1), 0, root);
  show();
  EXPECT_FALSE(network.reopens.empty()) << "the other lines are opened, too";
}

}  // namespace
}  // namespace weft::inference
