#include "worker/camera/invitation.h"

#include <algorithm>

#include "common/base/base64_url.h"
#include "common/crypto/hkdf.h"
#include "common/crypto/hmac.h"
#include "common/crypto/sha256.h"

namespace weft::worker {
namespace {

constexpr std::string_view mark = "#camera=";
constexpr std::size_t link_bytes_max = 2048;

}  // namespace

Result<CameraLink> read_camera_link(std::string_view link) {
  const auto refused = [] {
    return fail(ErrorCode::invalid_argument,
                "The link is not one of a shared camera: https://HOST/vision#camera= and 43 "
                "letters, from \"Share the work\" on the page Vision.");
  };
  const std::size_t at = link.find(mark);
  if (link.size() > link_bytes_max || at == std::string_view::npos) return refused();
  const auto bytes = from_base64_url(link.substr(at + mark.size()));
  CameraLink out;
  auto& [secret, print] = out.invitation;
  if (!bytes || bytes->size() != secret.size + print.size) return refused();
  std::copy_n(bytes->begin(), secret.size, secret.bytes.begin());
  std::copy_n(bytes->begin() + secret.size, print.size, print.bytes.begin());
  const std::string_view page = link.substr(0, at);
  const std::size_t scheme = page.find("://");
  if (scheme == std::string_view::npos) return refused();
  out.coordinator = page.substr(0, page.find('/', scheme + 3));
  return out;
}

CameraMeeting meeting_of(const CameraInvitation& invitation) {
  const ByteSpan secret = invitation.secret.span();
  CameraMeeting out{
      .id = to_hex(crypto::hkdf_sha256(secret, {}, as_bytes("weft-camera-meeting-1"), 16)),
      .key = {}};
  const ByteVector key =
      crypto::hkdf_sha256(secret, {}, as_bytes("weft-camera-signals-1"), crypto::AesKey::size);
  std::ranges::copy(key, out.key.bytes.begin());
  return out;
}

bool is_of_camera(const crypto::ExchangePoint& key, const CameraInvitation& invitation) {
  const Hash whole = crypto::sha256(key.span());
  return crypto::equal_in_constant_time(whole.span().first(invitation.print.size),
                                        invitation.print.span());
}

}  // namespace weft::worker
