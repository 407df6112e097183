// Every message on /v1/serve is read as it was written, and invalid ones are refused with a
// sentence.
#include "common/protocol/serving.h"

#include <gtest/gtest.h>

#include <random>

#include "common/protocol/test_samples.h"

namespace weft::protocol::serving {
namespace {

std::vector<ServingWorkerMessage> worker_messages() {
  return {Offer{.token = "t", .memory_bytes = 1 << 30, .gb_per_s = 12.5, .lines = {"webrtc"}},
          Offer{.token = "t", .key = sample_id<PublicKey>(7)},
          Frames{.chain = 1,
                 .epoch = 2,
                 .line = 1,
                 .first = 64,
                 .count = 32,
                 .root = sample_id<Hash>(4),
                 .signature = sample_id<Signature>(5)},
          Reopened{.chain = 1, .epoch = 2, .line = 1},
          Loaded{.shard = 3, .seconds = 0.5, .memory_bytes = 77, .device = "llvmpipe"},
          Unloaded{.shard = 3, .code = "out_of_memory", .message = "There is no room."},
          Linked{.chain = 1, .epoch = 2, .line = "relay", .unreached = {0, 2}},
          Parted{.chain = 1, .epoch = 2, .member = 1},
          Broken{.chain = 1, .epoch = 2, .member = 1, .message = "It is silent."},
          Tokens{.request = 9,
                 .epoch = 1,
                 .first = 4,
                 .tokens = {{.id = 5, .logprob = -0.5, .top = {{.id = 5, .logprob = -0.5}}}},
                 .prompt_tokens = 20,
                 .prints = {{.at = 32, .data = "AQAAAAA="}}},
          Answered{.request = 9, .epoch = 1, .reason = "eos", .prompt_tokens = 20, .sequence = 3},
          Answered{
              .request = 10, .epoch = 1, .reason = "eos", .prompt_tokens = 5, .vector = "AACAPw=="},
          Pulse{.running = 1,
                .memory_free = 5,
                .load = 0.5,
                .direct_hops = 7,
                .direct_bytes = 700,
                .peers = {{.worker = sample_id<PublicKey>(2), .ms = 0.25}},
                .paces = {{.shard = 3, .ms = 1.5}}},
          Signal{.chain = 1, .epoch = 2, .from = 0, .to = 1, .text = "v=0\r\n"}};
}
std::vector<ServingCoordinatorMessage> coordinator_messages() {
  return {Serving{.pulse_ms = 500},
          Load{.shard = 1,
               .name = "m",
               .model = sample_id<Hash>(1),
               .bytes = 100,
               .header_bytes = 10,
               .chunk_bytes = 64,
               .chunks = sample_id<Hash>(2),
               .first_layer = 0,
               .end_layer = 2,
               .context = 512,
               .sequences = 4,
               .cache_bytes = 1 << 20,
               .activations = "int8"},
          Unload{.shard = 1},
          Link{.chain = 1,
               .epoch = 1,
               .index = 1,
               .wire = "f32",
               .exact = true,
               .members = {{.worker = sample_id<PublicKey>(1),
                            .shard = 1,
                            .lines = {"webrtc"},
                            .token = std::string(64, 'a')}},
               .ice = {{.urls = {"turn:turn.example:3478"},
                        .username = "1700000000:w",
                        .credential = "c2VjcmV0"}}},
          Link{.chain = 2, .epoch = 1, .index = 0, .wire = "f16", .commits = true},
          Unlink{.chain = 1},
          Reopen{.chain = 1, .epoch = 2, .line = 1, .by_sequence = true, .sequence = 3},
          Reopen{.chain = 1, .epoch = 2, .line = 1, .numbers = {3, 70}},
          Ask{.request = 9,
              .chain = 1,
              .epoch = 1,
              .prompt = {3, 0, 4},
              .tokens_max = 16,
              .seed = ~std::uint64_t{0},
              .stop = {"\n"},
              .answered = {1, 2},
              .prints = true,
              .audit = true,
              .redraw = 0.005,
              .format = "tool",
              .rule = "name",
              .calls = R"({"messages":[],"tools":[]})",
              .bias = {{.token = 5, .bias = -100}}},
          Drop{.request = 9},
          Signal{.chain = 1, .epoch = 2, .from = 1, .to = 0, .text = "candidate"}};
}

TEST(Serving, MessagesSurviveTheirText) {
  for (const auto& message : worker_messages()) {
    const std::string text = encode(message);
    const auto read = decode_worker(text);
    ASSERT_TRUE(read.has_value()) << text << read.error().message;
    EXPECT_EQ(encode(*read), text);
  }
  for (const auto& message : coordinator_messages()) {
    const std::string text = encode(message);
    const auto read = decode_coordinator(text);
    ASSERT_TRUE(read.has_value()) << text << read.error().message;
    EXPECT_EQ(encode(*read), text);
  }
}

// A worker sends token numbers only: the coordinator writes all text.
TEST(Serving, ATokenWithATextIsNoMessage) {
  std::string text = encode(ServingWorkerMessage(Tokens{.tokens = {{.id = 5}}}));
  text.replace(text.find("\"id\":5"), 6, R"("id":5,"text":"a")");
  EXPECT_FALSE(decode_worker(text).has_value());
}

// The longest prompt fits even with the longest numbers.
TEST(Serving, TheLongestPromptFitsIntoAFrameWithAsLongAnAnswer) {
  const Ask ask{.prompt = std::vector<std::int32_t>(prompt_tokens_max, 999'999),
                .answered = std::vector<std::int32_t>(prompt_tokens_max, 999'999)};
  const std::string written = encode(ServingCoordinatorMessage(ask));
  EXPECT_LE(written.size(), frame_bytes_max);
  EXPECT_TRUE(decode_coordinator(written).has_value());
}

TEST(Serving, BrokenTextsGetASentence) {
  EXPECT_EQ(decode_worker(R"({"type":"pulse","v":7,"running":1})").error().message,
            R"(lacks the key "memory_free" (line 1, column 1))");
  EXPECT_FALSE(decode_worker(encode(coordinator_messages()[0])).has_value());
  std::mt19937 random(3);
  for (const auto& message : worker_messages()) {
    const std::string whole = encode(message);
    for (int round = 0; round < 500; ++round) {
      std::string text = whole;
      for (int change = 0; change < 3; ++change)
        text[random() % text.size()] = static_cast<char>(random() % 96 + 32);
      text.resize(random() % (text.size() + 1));
      if (const auto read = decode_worker(text); !read) {
        EXPECT_FALSE(read.error().message.empty());
      }
    }
  }
}

TEST(Serving, IceServersAreWrittenAsBrowsersTakeThem) {
  EXPECT_EQ(encode(std::vector<IceServer>{}), "[]");
  EXPECT_EQ(
      encode(std::vector<IceServer>{{.urls = {"stun:a:1"}},
                                    {.urls = {"turn:b:2"}, .username = "9:w", .credential = "x="}}),
      R"([{"urls":["stun:a:1"]},{"urls":["turn:b:2"],"username":"9:w","credential":"x="}])");
}

TEST(Serving, HopsSurviveTheirBytes) {
  const HopFrame frame{
      .chain = 7, .epoch = 3, .from = 1, .to = 2, .more = true, .payload = {1, 2, 3}};
  const ByteVector bytes = encode(frame);
  const auto read = decode_hop(bytes);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->chain, 7u);
  EXPECT_EQ(read->epoch, 3u);
  EXPECT_EQ(read->from, 1u);
  EXPECT_EQ(read->to, 2u);
  EXPECT_TRUE(read->more);
  EXPECT_EQ(read->payload, frame.payload);
  for (std::size_t n = 0; n < hop_header_bytes; ++n)
    EXPECT_FALSE(decode_hop(ByteSpan(bytes).first(n)).has_value());
  EXPECT_FALSE(decode_hop(ByteVector(hop_header_bytes + hop_payload_bytes_max + 1, 1)).has_value());
}

}  // namespace
}  // namespace weft::protocol::serving
