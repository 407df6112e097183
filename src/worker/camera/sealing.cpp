#include "worker/camera/sealing.h"

#include <algorithm>

#include "common/base/base64_url.h"
#include "common/base/format.h"
#include "common/crypto/hkdf.h"
#include "common/crypto/sha256.h"
#include "common/json/json.h"
#include "common/json/quote.h"

namespace weft::worker {
namespace {

constexpr std::size_t attempt_letters = 22;

std::string_view word_of(SignalKind kind) { return kind == SignalKind::offer ? "offer" : "answer"; }

Result<CameraSignal> read_signal(std::string_view text) {
  WEFT_ASSIGN(const json::Value root, json::parse(text, {.bytes_max = signal_characters_max}));
  WEFT_ASSIGN(const json::Object object, root.object({"attempt", "publicKey", "sdp"}));
  const json::StringBounds bounds{.bytes_max = signal_characters_max};
  CameraSignal out;
  WEFT_ASSIGN(const json::Value attempt, object.get("attempt"));
  WEFT_ASSIGN(out.attempt, attempt.string(bounds));
  WEFT_ASSIGN(const json::Value key, object.get("publicKey"));
  WEFT_ASSIGN(out.public_key, key.string(bounds));
  WEFT_ASSIGN(const json::Value sdp, object.get("sdp"));
  WEFT_ASSIGN(out.sdp, sdp.string(bounds));
  if (out.attempt.size() != attempt_letters || !from_base64_url(out.attempt))
    return attempt.error("must be {} letters of base64url", attempt_letters);
  return out;
}

}  // namespace

std::string seal_signal(const crypto::AesKey& key, SignalKind kind, const CameraSignal& signal,
                        const crypto::AesNonce& nonce) {
  const std::string text =
      weft::format(R"({{"attempt":{},"publicKey":{},"sdp":{}}})", json::quote(signal.attempt),
                   json::quote(signal.public_key), json::quote(signal.sdp));
  ByteVector out(nonce.bytes.begin(), nonce.bytes.end());
  append(out, crypto::aes_gcm_seal(key, nonce, as_bytes(word_of(kind)), as_bytes(text)));
  return to_base64_url(out);
}

std::optional<CameraSignal> open_signal(const crypto::AesKey& key, SignalKind kind,
                                        std::string_view text) {
  if (text.size() > signal_characters_max) return std::nullopt;
  const auto bytes = from_base64_url(text);
  crypto::AesNonce nonce;
  if (!bytes || bytes->size() <= nonce.size) return std::nullopt;
  std::copy_n(bytes->begin(), nonce.size, nonce.bytes.begin());
  const auto open = crypto::aes_gcm_open(key, nonce, as_bytes(word_of(kind)),
                                         ByteSpan(*bytes).subspan(nonce.size));
  if (!open) return std::nullopt;
  auto signal = read_signal(as_text(*open));
  return signal ? std::optional(std::move(*signal)) : std::nullopt;
}

std::optional<crypto::ExchangePoint> point_of(std::string_view public_key) {
  const auto bytes = from_base64_url(public_key);
  crypto::ExchangePoint out;
  if (!bytes || bytes->size() != out.size) return std::nullopt;
  std::ranges::copy(*bytes, out.bytes.begin());
  return out;
}

Result<LineKeys> relay_keys(const crypto::ExchangeKey& own, const CameraInvitation& invitation,
                            const CameraSignal& offer, const CameraSignal& answer) {
  const auto theirs = point_of(answer.public_key);
  if (!theirs || !offer.sdp.empty() || !answer.sdp.empty())
    return fail(ErrorCode::invalid_argument, "The camera's answer is not one for the relay.");
  WEFT_ASSIGN(const ByteVector shared, own.shared_with(*theirs));
  // The text that JSON.stringify() writes in the page; all letters are those of base64url.
  const std::string both = weft::format(R"([["{}","{}",""],["{}","{}",""]])", offer.attempt,
                                        offer.public_key, answer.attempt, answer.public_key);
  const Hash hash = crypto::sha256(as_bytes(both));
  const auto derive = [&](std::string_view sender) {
    const std::string word = weft::format("weft-camera-relay-1 {}", sender);
    ByteVector info(word.begin(), word.end());
    append(info, hash.span());
    const ByteVector bytes =
        crypto::hkdf_sha256(shared, invitation.secret.span(), info, crypto::AesKey::size);
    crypto::AesKey key;
    std::ranges::copy(bytes, key.bytes.begin());
    return key;
  };
  return LineKeys{.from_camera = derive("camera"), .from_helper = derive("helper")};
}

crypto::AesNonce RecordSealer::next() {
  // The number is the nonce's last eight bytes, big-endian.
  crypto::AesNonce nonce;
  const std::uint64_t number = number_++;
  for (std::size_t i = 0; i < sizeof number; ++i)
    nonce.bytes[nonce.size - 1 - i] = static_cast<std::uint8_t>(number >> (8 * i));
  return nonce;
}

ByteVector RecordSealer::seal(ByteSpan record) {
  return crypto::aes_gcm_seal(key_, next(), {}, record);
}

Result<ByteVector> RecordSealer::open(ByteSpan sealed) {
  return crypto::aes_gcm_open(key_, next(), {}, sealed);
}

}  // namespace weft::worker
