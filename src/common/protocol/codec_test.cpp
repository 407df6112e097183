// Golden files fix the bytes on the wire. Input that is not exactly a message is refused with the
// place.
#include "common/protocol/codec.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <limits>
#include <sstream>

#include "common/crypto/sha256.h"
#include "common/protocol/digests.h"
#include "common/protocol/result_frame.h"
#include "common/protocol/signing.h"
#include "common/protocol/test_samples.h"

namespace weft::protocol {
namespace {

const std::string golden_folder =
    WEFT_SOURCE_DIR "/src/common/protocol/testdata/v" + std::to_string(version) + "/";

// The golden file's text. With WEFT_UPDATE_GOLDEN set, `current` is written to the file first.
std::string golden(const std::string& name, std::string_view current) {
  if (std::getenv("WEFT_UPDATE_GOLDEN") != nullptr)
    std::ofstream(golden_folder + name, std::ios::binary) << current;
  std::ostringstream text;
  text << std::ifstream(golden_folder + name, std::ios::binary).rdbuf();
  return text.str();
}
std::string type_of(const std::string& text) {
  const std::size_t begin = text.find(":\"") + 2;
  return text.substr(begin, text.find('"', begin) - begin);
}
std::string message(const auto& result) { return result ? "accepted" : result.error().message; }

TEST(WorkerMessage, EachIsWrittenAndReadAsItsGoldenFileSays) {
  for (const WorkerMessage& sample : sample_worker_messages()) {
    const std::string text = encode(sample);
    EXPECT_EQ(text, golden("worker." + type_of(text) + ".json", text));
    const auto decoded = decode_worker_message(text);
    ASSERT_TRUE(decoded.has_value()) << decoded.error().message;
    EXPECT_EQ(decoded->index(), sample.index());
    EXPECT_EQ(encode(*decoded), text);
  }
}

TEST(CoordinatorMessage, EachIsWrittenAndReadAsItsGoldenFileSays) {
  for (const CoordinatorMessage& sample : sample_coordinator_messages()) {
    const std::string text = encode(sample);
    EXPECT_EQ(text, golden("coordinator." + type_of(text) + ".json", text));
    const auto decoded = decode_coordinator_message(text);
    ASSERT_TRUE(decoded.has_value()) << decoded.error().message;
    EXPECT_EQ(decoded->index(), sample.index());
    EXPECT_EQ(encode(*decoded), text);
  }
}

TEST(ResultFrame, IsWrittenAndReadAsItsGoldenFileSays) {
  const ByteVector bytes =
      encode_frame({.result = sample_result(), .payload = {0, 1, 2, 254, 255}}).value();

  EXPECT_EQ(as_text(bytes), golden("worker.result.bin", as_text(bytes)));
  const auto decoded = decode_frame(bytes);
  ASSERT_TRUE(decoded.has_value()) << decoded.error().message;
  EXPECT_EQ(decoded->payload, (ByteVector{0, 1, 2, 254, 255}));
  EXPECT_EQ(decoded->result.task, sample_task(3));
  EXPECT_EQ(encode_frame(*decoded).value(), bytes);
}

TEST(Decode, KeepsEveryBitOfIntegersAndFloats) {
  Hello hello = std::get<Hello>(sample_worker_messages()[0]);
  hello.capabilities.limits["maxBufferSize"] = std::numeric_limits<std::uint64_t>::max();
  hello.capabilities.copy_gb_per_s = 0.1 + 0.2;
  const auto decoded = std::get<Hello>(decode_worker_message(encode(WorkerMessage(hello))).value());
  EXPECT_EQ(decoded.capabilities.limits, hello.capabilities.limits);
  EXPECT_EQ(decoded.capabilities.copy_gb_per_s, hello.capabilities.copy_gb_per_s);
  EXPECT_EQ(decoded.capabilities.description, hello.capabilities.description);

  const Verdict verdict{.paid = std::numeric_limits<MicroCredits>::max(),
                        .balance = std::numeric_limits<MicroCredits>::min()};
  const auto read =
      std::get<Verdict>(decode_coordinator_message(encode(CoordinatorMessage(verdict))).value());
  EXPECT_EQ(read.paid, verdict.paid);
  EXPECT_EQ(read.balance, verdict.balance);
}

TEST(Encode, WritesOnlyWhatCanBeReadAgain) {
  TaskFailed failed{
      .code = "internal",
      .message = std::string("a\xff\xc0\x80\xed\xa0\x80 \x01\x7f\0z", 13) + std::string(5000, 'x')};
  const auto decoded = decode_worker_message(encode(WorkerMessage(failed)));
  ASSERT_TRUE(decoded.has_value()) << decoded.error().message;
  const std::string text = std::get<TaskFailed>(*decoded).message;
  EXPECT_LE(text.size(), 4096U);
  EXPECT_TRUE(text.starts_with("a\uFFFD\uFFFD\uFFFD")) << text.substr(0, 40);

  TaskResult result = sample_result();
  result.gpu_seconds = std::numeric_limits<double>::quiet_NaN();
  result.wall_seconds = std::numeric_limits<double>::infinity();
  EXPECT_EQ(decode_frame(encode_frame({.result = result, .payload = ByteVector(5)}).value())
                ->result.gpu_seconds,
            0);
}

struct Row {
  std::string text;
  std::string message;
};
class Nonsense : public testing::TestWithParam<Row> {};
TEST_P(Nonsense, IsRefusedWithTheReason) {
  EXPECT_EQ(message(decode_worker_message(GetParam().text)), GetParam().message);
}
INSTANTIATE_TEST_SUITE_P(
    Rows, Nonsense,
    testing::Values(
        Row{"", "the JSON is empty (line 1, column 1)"},
        Row{"[]", "must be an object, not an array (line 1, column 1)"},
        Row{R"({"v":8})", "lacks the key \"type\" (line 1, column 1)"},
        Row{R"({"type":"beat"})", "lacks the key \"v\" (line 1, column 1)"},
        Row{R"({"type":"beat","v":9,"running":1})",
            "The message is of protocol version 9; this side speaks versions 7 to 8."},
        Row{R"({"type":"beat","v":"1","running":1})",
            "v: must be a number, not a string (line 1, column 20)"},
        Row{R"({"type":"dance","v":8})",
            "type: is not a message that is expected here (line 1, column 9)"},
        Row{R"({"type":"welcome","v":8,"session":"s","beat_ms":1,"blob_token":"","balance":0})",
            "type: is not a message that is expected here (line 1, column 9)"},
        Row{R"({"type":"beat","v":8})", "lacks the key \"running\" (line 1, column 1)"},
        Row{R"({"type":"beat","v":8,"running":1,"more":1})",
            "more: is not a known key; known here: type, v, running (line 1, column 41)"},
        Row{R"({"type":"beat","v":8,"running":1,"running":1})",
            "running: occurs twice (line 1, column 44)"},
        Row{R"({"type":"beat","v":8,"running":1} x)", "this is not valid JSON (line 1, column 35)"},
        Row{R"({"type":"beat","v":8,"running":-1})",
            "running: must be from 0 to 4294967295, not -1 (line 1, column 32)"},
        Row{R"({"type":"beat","v":8,"running":4294967296})",
            "running: must be from 0 to 4294967295, not 4294967296 (line 1, column 32)"},
        Row{R"({"type":"slots","v":8,"slots":5000})",
            "slots: must be from 0 to 4096, not 5000 (line 1, column 31)"},
        Row{R"({"type":"resume","v":8,"held":[{"task":"00/1","attempt":1}]})",
            "held[0].task: A job id has 16 bytes; this one has 1. (line 1, column 40)"},
        Row{R"({"type":"resume","v":8,"held":[{"task":"A0a1a2a3a4a5a6a7a8a9aaabacadaeaf/1","attempt":1}]})",
            "held[0].task: is not in its usual spelling, \"a0a1a2a3a4a5a6a7a8a9aaabacadaeaf/1\" "
            "(line 1, column 40)"},
        Row{R"({"type":"resume","v":8,"held":[{"task":"a0a1a2a3a4a5a6a7a8a9aaabacadaeaf/01","attempt":1}]})",
            "held[0].task: is not in its usual spelling, \"a0a1a2a3a4a5a6a7a8a9aaabacadaeaf/1\" "
            "(line 1, column 40)"}));

TEST(Decode, BoundsListsTextsAndDepth) {
  std::string many = R"({"type":"resume","v":8,"held":[)";
  for (int i = 0; i < 4097; ++i)
    many += (i > 0 ? "," : "") +
            std::string(R"({"task":"a0a1a2a3a4a5a6a7a8a9aaabacadaeaf/1","attempt":1})");
  EXPECT_EQ(message(decode_worker_message(many + "]}")),
            "held: has more than 4096 elements (line 1, column 31)");
  EXPECT_EQ(message(decode_worker_message(R"({"type":"bye","v":8,"reason":")" +
                                          std::string(4097, 'x') + "\"}")),
            "reason: has 4097 bytes; at most 4096 are allowed (line 1, column 30)");
  EXPECT_EQ(message(decode_worker_message(std::string(frame_bytes_max + 1, ' '))),
            "The JSON has 1048577 bytes; at most 1048576 are read.");
  EXPECT_NE(message(decode_worker_message(std::string(1000, '['))).find("nested deeper"),
            std::string::npos);
}

TEST(Decode, BoundsRootsOfStepsAndStatesBetweenThem) {
  const std::string open =
      R"({"type":"open_states","v":8,"task":"a0a1a2a3a4a5a6a7a8a9aaabacadaeaf/1","attempt":1,"groups":)";
  EXPECT_EQ(message(decode_coordinator_message(open + "[1,2,3,4,5,6,7,31]}")), "accepted");
  EXPECT_EQ(message(decode_coordinator_message(open + "[1,2,3,4,5,6,7,8,9]}")),
            "groups: has more than 8 elements (line 1, column 94)");
  EXPECT_EQ(message(decode_coordinator_message(open + "[32]}")),
            "groups[0]: must be from 0 to 31, not 32 (line 1, column 95)");

  States states{.task = sample_task(1), .attempt = 1, .states = std::vector<StepState>(8)};
  EXPECT_EQ(message(decode_worker_message(encode(WorkerMessage(states)))), "accepted");
  states.states.emplace_back();
  EXPECT_NE(message(decode_worker_message(encode(WorkerMessage(states)))).find("more than 8"),
            std::string::npos);

  TaskResult result = sample_result();
  result.step_roots.resize(31);
  EXPECT_TRUE(
      decode_frame(encode_frame({.result = result, .payload = ByteVector(5)}).value()).has_value());
  result.step_roots.resize(32);
  EXPECT_FALSE(
      decode_frame(encode_frame({.result = result, .payload = ByteVector(5)}).value()).has_value());
}

// A side of version 7 knows none of the fields of version 8, and refuses them.
TEST(Encode, WritesNoFieldOfALaterVersionThatIsNotSet) {
  for (const WorkerMessage& message : sample_worker_messages()) {
    if (std::holds_alternative<States>(message)) continue;
    const std::string name = "v7/worker." + type_of(encode(message)) + ".json";
    std::ostringstream released;
    released << std::ifstream(WEFT_SOURCE_DIR "/src/common/protocol/testdata/" + name).rdbuf();
    const auto decoded = decode_worker_message(released.str());
    ASSERT_TRUE(decoded.has_value()) << name;
    EXPECT_EQ(encode(*decoded, 7), released.str());
  }
  TaskResult result = sample_result();
  result.step_roots.clear();
  EXPECT_EQ(encode(WorkerMessage(result), 7).find("step_roots"), std::string::npos);
  const Lease lease{.tasks = {{.index = 1}}};
  EXPECT_EQ(encode(CoordinatorMessage(lease), 7).find("step_roots"), std::string::npos);
}

TEST(Decode, TakesAResultAsABinaryFrameOnly) {
  EXPECT_EQ(message(decode_worker_message(encode(WorkerMessage(sample_result())))),
            "A result travels as a binary frame, not as text.");
  const std::string beat = encode(WorkerMessage(Beat{}));
  ByteVector bytes;
  append_le(bytes, static_cast<std::uint32_t>(beat.size()));
  append(bytes, as_bytes(beat));
  EXPECT_EQ(message(decode_frame(bytes)), "A binary frame carries a result and nothing else.");
}

TEST(ResultFrame, RefusesLengthsThatDoNotAddUp) {
  const ByteVector good =
      encode_frame({.result = sample_result(), .payload = ByteVector(5)}).value();
  EXPECT_EQ(message(decode_frame(ByteSpan(good).first(3))),
            "The frame has 3 bytes, too few for the length of its header.");
  EXPECT_EQ(message(decode_frame(ByteSpan(good).first(good.size() - 1))),
            "The frame says that one output has 5 bytes; the payload has only 4.");
  ByteVector longer = good;
  longer.push_back(0);
  EXPECT_EQ(message(decode_frame(longer)),
            "The frame says that its outputs have 5 bytes; the payload has 6.");
  ByteVector header = good;
  header[3] = 0xff;
  EXPECT_NE(message(decode_frame(header)).find("says that its header has"), std::string::npos);
  EXPECT_FALSE(decode_frame(ByteVector(frame_bytes_max + 1)).has_value());

  // Two lengths whose sum wraps around to the length of the payload.
  TaskResult wrapping = sample_result();
  wrapping.outputs = {{.bytes = ~std::uint64_t{0}, .in_frame = true},
                      {.bytes = 6, .in_frame = true}};
  const std::string text = encode(WorkerMessage(wrapping));
  ByteVector bytes;
  append_le(bytes, static_cast<std::uint32_t>(text.size()));
  append(bytes, as_bytes(text));
  bytes.resize(bytes.size() + 5);
  EXPECT_FALSE(decode_frame(bytes).has_value());
}

TEST(ResultFrame, RefusesToSendMoreThanAFrameHolds) {
  TaskResult result = sample_result();
  result.outputs = {{.bytes = frame_bytes_max, .in_frame = true}};
  EXPECT_EQ(encode_frame({.result = result, .payload = ByteVector(frame_bytes_max)}).error().code,
            ErrorCode::resource_exhausted);
}

TEST(Digests, AreTheHashesOfTheStatedBytes) {
  ByteVector hello;
  append(hello, as_bytes(std::string_view("weft-hello-1")));
  for (const std::uint8_t first : {std::uint8_t{1}, std::uint8_t{2}, std::uint8_t{3}})
    append(hello, sample_id<Hash>(first).span());
  EXPECT_EQ(
      to_hex(hello_digest(sample_id<PublicKey>(1), sample_id<Hash>(2), sample_id<PublicKey>(3))),
      crypto::sha256(hello).text());

  ByteVector identity;
  append(identity, as_bytes(std::string_view("weft-identity-1")));
  append(identity, sample_id<PublicKey>(1).span());
  const ByteVector nonce(16, 9);
  append(identity, nonce);
  append(identity, as_bytes(std::string_view("host:1")));
  EXPECT_EQ(to_hex(identity_digest(sample_id<PublicKey>(1), nonce, "host:1")),
            crypto::sha256(identity).text());
  ByteVector rotation;
  append(rotation, as_bytes(std::string_view("weft-rotation-1")));
  append(rotation, sample_id<PublicKey>(1).span());
  append(rotation, sample_id<PublicKey>(2).span());
  EXPECT_EQ(to_hex(rotation_digest(sample_id<PublicKey>(1), sample_id<PublicKey>(2))),
            crypto::sha256(rotation).text());
}

TEST(Digests, OfARequestCoverAllThatItAsksFor) {
  const ByteVector nonce(16, 9);
  const RequestClaim claim{.coordinator = sample_id<PublicKey>(1),
                           .method = "POST",
                           .target = read_target("/v1/a%20b?x=1&from=%2Fy"),
                           .body = sample_id<Hash>(4),
                           .time = 77,
                           .nonce = nonce};
  ByteVector bytes;
  const auto text = [&](std::string_view value) {
    append_le(bytes, static_cast<std::uint32_t>(value.size()));
    append(bytes, as_bytes(value));
  };
  append(bytes, as_bytes(std::string_view("weft-request-2")));
  append(bytes, sample_id<PublicKey>(1).span());
  text("POST");
  text("/v1/a b");
  append_le(bytes, std::uint32_t{2});
  for (const std::string_view part : {"from", "/y", "x", "1"}) text(part);
  append(bytes, sample_id<Hash>(4).span());
  append_le(bytes, std::uint64_t{77});
  append(bytes, nonce);

  EXPECT_EQ(to_hex(request_digest(claim)), crypto::sha256(bytes).text());
}

TEST(Digests, ReadATargetAsItIsActedOn) {
  EXPECT_EQ(read_target("/v1/jobs").path, "/v1/jobs");
  EXPECT_EQ(read_target("/a%2fb%zz%4").path, "/a/b%zz%4");
  EXPECT_EQ(read_target("/a?").query, (std::map<std::string, std::string>{}));
  EXPECT_EQ(read_target("/a?b&c=&d=e=f").query,
            (std::map<std::string, std::string>{{"b", ""}, {"c", ""}, {"d", "e=f"}}));
}

}  // namespace
}  // namespace weft::protocol
