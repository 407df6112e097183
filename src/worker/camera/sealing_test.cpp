// The keys, signals and records of a relayed line are those of the page's sealing.ts: the golden
// file was computed by the page's own code.
#include "worker/camera/sealing.h"

#include <gtest/gtest.h>

#include "common/base/base64_url.h"
#include "worker/camera/test_golden.h"

namespace weft::worker {
namespace {

CameraLink link() { return read_camera_link(test::golden_text("link")).value(); }
CameraSignal signal(std::string_view key) {
  return {.attempt = test::golden_text(key, "attempt"),
          .public_key = test::golden_text(key, "publicKey"),
          .sdp = test::golden_text(key, "sdp")};
}
crypto::ExchangeKey key_of(std::string_view side) {
  return crypto::ExchangeKey::from_parts(
             from_hex(test::golden_text(side, "secret")).value(),
             test::fixed<crypto::ExchangePoint>(test::golden_text(side, "point")))
      .value();
}

TEST(CameraInvitation, IsReadFromALink) {
  EXPECT_EQ(link().coordinator, "https://192.0.2.7:7300");
  EXPECT_EQ(meeting_of(link().invitation).id, test::golden_text("id"));
  EXPECT_TRUE(is_of_camera(key_of("camera").point(), link().invitation));
  EXPECT_FALSE(is_of_camera(key_of("helper").point(), link().invitation));
}

TEST(CameraInvitation, RefusesOtherLinks) {
  const std::string good = test::golden_text("link");
  for (const std::string& bad :
       {std::string(), std::string("https://192.0.2.7:7300/vision"),
        good.substr(0, good.size() - 1), good + "A", good.substr(8),
        "#camera=" + std::string(43, 'A'), good + "=", good + std::string(3000, 'A')}) {
    const auto read = read_camera_link(bad);
    ASSERT_FALSE(read) << bad;
    EXPECT_EQ(read.error().code, ErrorCode::invalid_argument);
  }
}

TEST(CameraSignals, OfThePageAreOpened) {
  const crypto::AesKey key = meeting_of(link().invitation).key;
  const auto offer = open_signal(key, SignalKind::offer, test::golden_text("sealedOffer"));
  ASSERT_TRUE(offer);
  EXPECT_EQ(offer->attempt, signal("offer").attempt);
  EXPECT_EQ(offer->public_key, signal("offer").public_key);
  EXPECT_EQ(offer->sdp, "");
  EXPECT_TRUE(open_signal(key, SignalKind::answer, test::golden_text("sealedAnswer")));
}

TEST(CameraSignals, HaveOneUseAndOneKey) {
  const crypto::AesKey key = meeting_of(link().invitation).key;
  const std::string sealed = seal_signal(key, SignalKind::offer, signal("offer"), {});
  EXPECT_TRUE(open_signal(key, SignalKind::offer, sealed));
  EXPECT_FALSE(open_signal(key, SignalKind::answer, sealed)) << "a reflected offer";
  EXPECT_FALSE(open_signal({}, SignalKind::offer, sealed));
  EXPECT_FALSE(open_signal(key, SignalKind::offer, sealed.substr(1)));
  EXPECT_FALSE(open_signal(key, SignalKind::offer, ""));
  EXPECT_FALSE(open_signal(key, SignalKind::offer, std::string(20'000, 'A')));
  CameraSignal odd = signal("offer");
  odd.attempt = "short";
  EXPECT_FALSE(open_signal(key, SignalKind::offer, seal_signal(key, SignalKind::offer, odd, {})));
}

TEST(RelayKeys, SealTheRecordsOfThePage) {
  const auto keys =
      relay_keys(key_of("helper"), link().invitation, signal("offer"), signal("answer"));
  ASSERT_TRUE(keys) << keys.error().message;
  RecordSealer from_helper(keys->from_helper), from_camera(keys->from_camera);

  for (const std::string& sealed : test::golden_texts("helperRecords"))
    EXPECT_EQ(to_hex(from_helper.seal(as_bytes("a record"))), sealed);
  for (const std::string& sealed : test::golden_texts("cameraRecords")) {
    const auto record = from_camera.open(from_hex(sealed).value());
    ASSERT_TRUE(record);
    EXPECT_EQ(as_text(*record), "a record");
  }
}

TEST(RelayKeys, DependOnEachPartOfTheMeeting) {
  const auto keys = [](auto change) {
    CameraInvitation invitation = link().invitation;
    CameraSignal offer = signal("offer"), answer = signal("answer");
    change(invitation, offer, answer);
    return relay_keys(key_of("helper"), invitation, offer, answer);
  };
  const auto right = keys([](auto&, auto&, auto&) {});
  const auto differs = [&](const Result<LineKeys>& other) {
    return other && other->from_camera != right->from_camera &&
           other->from_helper != right->from_helper;
  };
  EXPECT_NE(right->from_camera, right->from_helper);
  EXPECT_TRUE(
      differs(keys([](auto& invitation, auto&, auto&) { invitation.secret.bytes[0] ^= 1; })));
  EXPECT_TRUE(differs(keys([](auto&, auto& offer, auto&) { offer.attempt[0] ^= 1; })));
  EXPECT_TRUE(differs(keys([](auto&, auto& offer, auto&) { offer.public_key[5] ^= 1; })));
  EXPECT_TRUE(differs(keys([](auto&, auto&, auto& answer) { answer.attempt[0] ^= 1; })));
  EXPECT_TRUE(differs(keys([](auto&, auto&, auto& answer) {
    answer.public_key = to_base64_url(crypto::ExchangeKey::generate().point().span());
  })));
  EXPECT_FALSE(keys([](auto&, auto&, auto& answer) { answer.sdp = "v=0"; }));
  EXPECT_FALSE(keys([](auto&, auto&, auto& answer) { answer.public_key = "AAAA"; }));
}

TEST(RecordSealer, OpensTheNextRecordOnly) {
  RecordSealer seals({}), opens({});
  const ByteVector first = seals.seal(as_bytes("1")), second = seals.seal(as_bytes("2"));
  EXPECT_TRUE(opens.open(first));
  EXPECT_FALSE(opens.open(first)) << "doubled";
  RecordSealer late({});
  EXPECT_FALSE(late.open(second)) << "out of order";
}

}  // namespace
}  // namespace weft::worker
