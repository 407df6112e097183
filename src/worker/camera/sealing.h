// Authenticates the two ends of a line between a camera and a helper that goes over the
// coordinator's relay. The two signals are sealed with a key from the link's secret. The line's
// keys come from a key exchange and from both signals, so that the records are authenticated by the
// link even if the coordinator or another guest interferes. The same as
// web/src/features/vision/sharing/sealing.ts, for helpers without a direct connection.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "worker/camera/invitation.h"

namespace weft::worker {

// The most characters of a sealed signal, as in the coordinator (meetings.h).
inline constexpr std::size_t signal_characters_max = std::size_t{12} << 10;

struct CameraSignal {
  std::string attempt;     // A random id of one attempt to join: 22 letters of base64url.
  std::string public_key;  // The sender's point in base64url.
  std::string sdp;         // Empty: the sender has no direct connections.
};
// Helpers send offers, and the camera sends answers.
enum class SignalKind : std::uint8_t { offer, answer };

// `nonce` is random.
[[nodiscard]] std::string seal_signal(const crypto::AesKey& key, SignalKind kind,
                                      const CameraSignal& signal, const crypto::AesNonce& nonce);
// Returns nullopt if the text was not sealed with this key for this use, or has other contents.
[[nodiscard]] std::optional<CameraSignal> open_signal(const crypto::AesKey& key, SignalKind kind,
                                                      std::string_view text);
// Returns nullopt if the text is not a point in base64url. It may still be off the curve.
[[nodiscard]] std::optional<crypto::ExchangePoint> point_of(std::string_view public_key);

// A line's keys for its two directions.
struct LineKeys {
  crypto::AesKey from_camera;
  crypto::AesKey from_helper;
};
// Returns the keys of a relayed line, for its helper. Both signals have an empty `sdp`, and their
// texts are base64url. Fails with invalid_argument if the answer's key is not a point of the curve.
[[nodiscard]] Result<LineKeys> relay_keys(const crypto::ExchangeKey& own,
                                          const CameraInvitation& invitation,
                                          const CameraSignal& offer, const CameraSignal& answer);

// Seals or opens the records of one direction. The number of a record is its nonce, so that a
// record that is lost, doubled or out of order cannot be opened.
class RecordSealer {
 public:
  explicit RecordSealer(const crypto::AesKey& key) : key_(key) {}

  [[nodiscard]] ByteVector seal(ByteSpan record);
  // Fails with permission_denied if it is not the next record of the other side.
  [[nodiscard]] Result<ByteVector> open(ByteSpan sealed);

 private:
  [[nodiscard]] crypto::AesNonce next();

  const crypto::AesKey key_;
  std::uint64_t number_ = 0;
};

}  // namespace weft::worker
