// A line over the relay joins only the camera of its link, sends only what it has credit for, and
// ends with everything that does not belong on it. The camera of these tests has the key of the
// golden file.
#include "worker/camera/relay_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/base64_url.h"
#include "common/base/byte_reader.h"
#include "worker/camera/test_golden.h"

namespace weft::worker::camera {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

crypto::ExchangeKey key_of(std::string_view side) {
  return crypto::ExchangeKey::from_parts(
             from_hex(test::golden_text(side, "secret")).value(),
             test::fixed<crypto::ExchangePoint>(test::golden_text(side, "point")))
      .value();
}
FixedBytes<16> golden_attempt() {
  FixedBytes<16> out;
  std::ranges::copy(*from_base64_url(test::golden_text("offer", "attempt")), out.bytes.begin());
  return out;
}
ByteVector message(std::uint8_t kind, ByteSpan content) {
  ByteVector out{kind};
  append(out, content);
  return out;
}
ByteVector credit(std::uint32_t bytes) {
  ByteVector out{1};
  append_le(out, bytes);
  return out;
}

// A line whose messages are kept, and the camera's seals for it.
struct Ends {
  Ends()
      : line(invitation,
             {.text = [this](std::string text) { texts.push_back(std::move(text)); },
              .binary = [this](ByteVector bytes) { binaries.push_back(std::move(bytes)); }},
             {.key = key_of("helper"), .nonce = {}, .attempt = golden_attempt()}) {
    const CameraSignal offer{.attempt = test::golden_text("offer", "attempt"),
                             .public_key = test::golden_text("offer", "publicKey"),
                             .sdp = {}};
    const CameraSignal answer{.attempt = test::golden_text("answer", "attempt"),
                              .public_key = test::golden_text("answer", "publicKey"),
                              .sdp = {}};
    const LineKeys keys = relay_keys(key_of("helper"), invitation, offer, answer).value();
    camera.emplace(keys.from_camera);
  }
  void meet() {
    line.open();
    ASSERT_TRUE(line.take_text(R"({"iceServers":[]})"));
    const auto taken = line.take_text(test::golden_text("sealedAnswer"));
    ASSERT_TRUE(taken) << taken.error().message;
  }
  void join() {
    meet();
    ASSERT_TRUE(line.take_binary(credit(100'000)));
    ASSERT_TRUE(line.take_binary(message(0, camera->seal(encode(Hello())))));
    ASSERT_TRUE(line.is_joined());
  }

  const CameraInvitation invitation =
      read_camera_link(test::golden_text("link")).value().invitation;
  std::vector<std::string> texts;
  std::vector<ByteVector> binaries;
  RelayLine line;
  std::optional<RecordSealer> camera;
};

TEST(RelayLine, JoinsTheCameraOfItsLink) {
  Ends ends;
  ends.join();

  EXPECT_EQ(ends.texts[0], R"({"meet":")" + test::golden_text("id") + R"(","as":"guest"})");
  EXPECT_TRUE(open_signal(meeting_of(ends.invitation).key, SignalKind::offer, ends.texts[1]));
  ASSERT_THAT(ends.binaries, SizeIs(2)) << "its greeting, and the count of the camera's";
  EXPECT_EQ(ends.binaries[1], credit(1));
  const auto record =
      ends.line.take_binary(message(0, ends.camera->seal(encode(Model{.bytes = 7}))));
  ASSERT_TRUE(record && *record);
  EXPECT_EQ(std::get<Model>(**record).bytes, 7U);
}

TEST(RelayLine, RefusesAnotherCamera) {
  const auto refused = [](auto change) {
    Ends ends;
    ends.line.open();
    EXPECT_TRUE(ends.line.take_text(R"({"iceServers":[]})"));
    CameraSignal answer{.attempt = test::golden_text("answer", "attempt"),
                        .public_key = test::golden_text("answer", "publicKey"),
                        .sdp = {}};
    change(answer);
    const crypto::AesKey key = meeting_of(ends.invitation).key;
    const auto taken = ends.line.take_text(seal_signal(key, SignalKind::answer, answer, {}));
    return taken ? "" : taken.error().message;
  };
  EXPECT_EQ(refused([](CameraSignal&) {}), "");
  const std::string why = "What answered is not the camera of this link.";
  EXPECT_EQ(refused([](CameraSignal& answer) {
              answer.public_key = to_base64_url(crypto::ExchangeKey::generate().point().span());
            }),
            why)
      << "another guest that has the link";
  EXPECT_EQ(refused([](CameraSignal& answer) { answer.attempt = std::string(22, 'A'); }), why);

  Ends ends;
  ends.line.open();
  ASSERT_TRUE(ends.line.take_text("{}"));
  EXPECT_FALSE(ends.line.take_text("garbage"));
}

TEST(RelayLine, SendsOnlyWhatItHasCreditFor) {
  Ends ends;
  ends.meet();
  EXPECT_THAT(ends.binaries, SizeIs(0)) << "its greeting waits";
  ASSERT_TRUE(ends.line.take_binary(credit(2048)));
  EXPECT_THAT(ends.binaries, SizeIs(1));

  ends.line.send(Refusal{.sentence = "a"});
  ends.line.send(Refusal{.sentence = "b"});

  EXPECT_THAT(ends.binaries, SizeIs(2)) << "each costs 1,024 bytes";
  EXPECT_EQ(ends.line.waiting(), 1U);
  ASSERT_TRUE(ends.line.take_binary(credit(1024)));
  EXPECT_THAT(ends.binaries, SizeIs(3));
}

TEST(RelayLine, EndsWithWhatDoesNotBelong) {
  const auto ends_with = [](auto make) {
    Ends ends;
    ends.join();
    return !ends.line.take_binary(make(ends)).has_value();
  };
  EXPECT_TRUE(ends_with([](Ends&) { return ByteVector(); }));
  EXPECT_TRUE(ends_with([](Ends&) { return ByteVector{2, 1}; }));
  EXPECT_TRUE(ends_with([](Ends&) { return ByteVector{1, 1}; }));
  EXPECT_TRUE(ends_with([](Ends&) { return message(0, ByteVector(300, 7)); })) << "not sealed";
  EXPECT_TRUE(ends_with([](Ends& ends) { return message(0, ends.camera->seal(ByteVector{99})); }))
      << "no record";
  EXPECT_TRUE(ends_with([](Ends& ends) {
    static_cast<void>(ends.camera->seal(encode(Model{.bytes = 7})));
    return message(0, ends.camera->seal(encode(Model{.bytes = 7})));
  })) << "one was lost";
  EXPECT_TRUE(ends_with([](Ends&) { return message(0, ByteVector(70'000, 7)); }));
  Ends early;
  EXPECT_FALSE(early.line.take_binary(credit(5))) << "before the meeting";
  Ends first;
  first.meet();
  EXPECT_FALSE(first.line.take_binary(message(0, first.camera->seal(encode(Model{.bytes = 7})))))
      << "the camera has not greeted";
}

}  // namespace
}  // namespace weft::worker::camera
