// An invitation to a camera, as the camera's page writes it into a link:
// HTTPS://HOST/vision#camera= and 43 letters. The secret never leaves the two sides; the
// coordinator learns only the id of the meeting. The same as
// web/src/features/vision/sharing/invitation.ts.
#pragma once

#include <string>
#include <string_view>

#include "common/base/bytes.h"
#include "common/base/result.h"
#include "common/crypto/aes_gcm.h"
#include "common/crypto/exchange_key.h"

namespace weft::worker {

struct CameraInvitation {
  FixedBytes<16> secret;
  // The first bytes of the SHA-256 of the camera's public key, so that another guest cannot pretend
  // to be the camera.
  FixedBytes<16> print;
};
struct CameraLink {
  std::string coordinator;  // The link up to its path: "https://HOST:PORT".
  CameraInvitation invitation;
};
// Fails with invalid_argument.
[[nodiscard]] Result<CameraLink> read_camera_link(std::string_view link);

// The values that both sides derive from the secret.
struct CameraMeeting {
  std::string id;      // 32 hex digits; the secret cannot be derived from them.
  crypto::AesKey key;  // Seals the texts that the two exchange over the coordinator.
};
[[nodiscard]] CameraMeeting meeting_of(const CameraInvitation& invitation);

// True if `key` is the key that the link names.
[[nodiscard]] bool is_of_camera(const crypto::ExchangePoint& key,
                                const CameraInvitation& invitation);

}  // namespace weft::worker
