// WebCrypto answers through promises: each call below hands a Waiting to keys_web.js, which fills
// it and resumes the coroutine through weft_crypto_done().
#include <algorithm>
#include <array>

#include <emscripten/emscripten.h>

#include "common/crypto/keys.h"
#include "common/crypto/wallet_text.h"

namespace weft::crypto {
namespace {

struct Answer {
  bool ok = false;
  std::uint32_t value = 0;
  std::string message;
};

}  // namespace
}  // namespace weft::crypto

extern "C" {
// Each function writes its `out` buffer before it calls weft_crypto_done() with its `token`.
void weft_key_load(void* token, std::uint8_t* out_public_key);
void weft_key_import(void* token, const std::uint8_t* seed, std::uint8_t* out_public_key);
void weft_key_export(void* token, std::uint32_t key, std::uint8_t* out_seed);
void weft_key_sign(void* token, std::uint32_t key, const std::uint8_t* message, std::uint32_t size,
                   std::uint8_t* out_signature);
void weft_key_verify(void* token, const std::uint8_t* key, const std::uint8_t* message,
                     std::uint32_t size, const std::uint8_t* signature);
void weft_key_keep(void* token, std::uint32_t key);
void weft_key_release(std::uint32_t key);
void weft_random(std::uint8_t* out, std::uint32_t size);

// `message` is null unless the call failed.
EMSCRIPTEN_KEEPALIVE void weft_crypto_done(void* token, std::uint32_t value, const char* message) {
  auto* pending = static_cast<weft::Pending<weft::crypto::Answer>*>(token);
  const weft::Pending<weft::crypto::Answer> held =
      *pending;  // The waiting frame, and with it *pending, may be gone after set().
  held.set(
      {.ok = message == nullptr, .value = value, .message = message == nullptr ? "" : message});
}
}

namespace weft::crypto {

Async<Result<std::unique_ptr<BrowserKey>>> BrowserKey::load_or_create() {
  Pending<Answer> pending;
  PublicKey public_key;
  weft_key_load(&pending, public_key.bytes.data());
  const Answer answer = co_await pending;
  if (!answer.ok)
    co_return fail(ErrorCode::unsupported, "The browser gives no Ed25519 key: {}", answer.message);
  co_return std::unique_ptr<BrowserKey>(new BrowserKey(answer.value, public_key));
}

Async<Result<std::unique_ptr<BrowserKey>>> BrowserKey::import_wallet(std::string text) {
  auto numbers = parse_wallet_text(text);
  if (!numbers) co_return pass(std::move(numbers), "while reading the wallet");
  Pending<Answer> pending;
  PublicKey public_key;
  weft_key_import(&pending, numbers->seed.data(), public_key.bytes.data());
  const Answer answer = co_await pending;
  if (!answer.ok)
    co_return fail(ErrorCode::unsupported, "The browser takes no Ed25519 key: {}", answer.message);
  std::unique_ptr<BrowserKey> key(new BrowserKey(answer.value, public_key));
  if (public_key != numbers->public_key)
    co_return fail(ErrorCode::invalid_argument,
                   "The wallet holds a public key that does not belong to its seed.");
  Pending<Answer> keeping;
  weft_key_keep(&keeping, key->handle_);
  const Answer kept = co_await keeping;
  if (!kept.ok)
    co_return fail(ErrorCode::unavailable, "The browser does not keep the key: {}", kept.message);
  co_return key;
}

BrowserKey::~BrowserKey() { weft_key_release(handle_); }

Async<Result<std::string>> BrowserKey::export_wallet() {
  Pending<Answer> pending;
  WalletNumbers numbers{.seed = {}, .public_key = public_key_};
  weft_key_export(&pending, handle_, numbers.seed.data());
  const Answer answer = co_await pending;
  if (!answer.ok)
    co_return fail(ErrorCode::internal, "The browser does not export the key: {}", answer.message);
  if (answer.value == 0)
    co_return fail(ErrorCode::permission_denied,
                   "The key of this wallet stays in this browser: it cannot be exported.");
  co_return wallet_text(numbers);
}

Async<Result<Signature>> BrowserKey::sign(ByteVector message) {
  Pending<Answer> pending;
  Signature signature;
  weft_key_sign(&pending, handle_, message.data(), static_cast<std::uint32_t>(message.size()),
                signature.bytes.data());
  const Answer answer = co_await pending;
  if (!answer.ok)
    co_return fail(ErrorCode::internal, "The browser does not sign: {}", answer.message);
  co_return signature;
}

Async<Result<bool>> verify(PublicKey key, ByteVector message, Signature signature) {
  Pending<Answer> pending;
  weft_key_verify(&pending, key.bytes.data(), message.data(),
                  static_cast<std::uint32_t>(message.size()), signature.bytes.data());
  const Answer answer = co_await pending;
  if (!answer.ok)
    co_return fail(ErrorCode::unsupported, "The browser does not check the signature: {}",
                   answer.message);
  co_return answer.value != 0;
}

void random_bytes(std::span<std::uint8_t> out) {
  weft_random(out.data(), static_cast<std::uint32_t>(out.size()));
}

}  // namespace weft::crypto
