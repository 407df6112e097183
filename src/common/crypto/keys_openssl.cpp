#include <algorithm>
#include <array>

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#ifdef WEFT_SODIUM
#include <sodium.h>
#endif

#include "common/base/check.h"
#include "common/crypto/keys.h"

namespace weft::crypto {
namespace {

constexpr std::size_t seed_bytes = 32;

struct FreeKey {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
};
struct FreeDigest {
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};
using OwnedKey = std::unique_ptr<EVP_PKEY, FreeKey>;
using OwnedDigest = std::unique_ptr<EVP_MD_CTX, FreeDigest>;

}  // namespace

struct KeyPair::Key {
  OwnedKey pkey;
#ifdef WEFT_SODIUM
  std::array<std::uint8_t, crypto_sign_SECRETKEYBYTES>
      secret{};  // The seed and the public key, in the form for libsodium.
  ~Key() { OPENSSL_cleanse(secret.data(), secret.size()); }
#endif
};

KeyPair::KeyPair(std::unique_ptr<Key> key, PublicKey public_key)
    : key_(std::move(key)), public_key_(public_key) {}
KeyPair::KeyPair(KeyPair&&) noexcept = default;
KeyPair& KeyPair::operator=(KeyPair&&) noexcept = default;
KeyPair::~KeyPair() = default;

Result<KeyPair> KeyPair::generate() {
  std::array<std::uint8_t, seed_bytes> seed;
  random_bytes(seed);
  auto pair = from_seed(seed);
  OPENSSL_cleanse(seed.data(), seed.size());
  return pair;
}

Result<KeyPair> KeyPair::from_seed(ByteSpan seed) {
  if (seed.size() != seed_bytes)
    return fail(ErrorCode::invalid_argument, "An Ed25519 seed has {} bytes; this one has {}.",
                seed_bytes, seed.size());
  auto key = std::make_unique<Key>();
  key->pkey.reset(
      EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr, seed.data(), seed.size()));
  PublicKey public_key;
  std::size_t size = PublicKey::size;
  if (!key->pkey ||
      EVP_PKEY_get_raw_public_key(key->pkey.get(), public_key.bytes.data(), &size) != 1 ||
      size != PublicKey::size) {
    return fail(ErrorCode::internal, "OpenSSL cannot make an Ed25519 key from the seed.");
  }
#ifdef WEFT_SODIUM
  std::ranges::copy(seed, key->secret.begin());
  std::ranges::copy(public_key.bytes, key->secret.begin() + seed_bytes);
#endif
  return KeyPair(std::move(key), public_key);
}

ByteVector KeyPair::seed() const {
  ByteVector seed(seed_bytes);
  std::size_t size = seed.size();
  check(EVP_PKEY_get_raw_private_key(key_->pkey.get(), seed.data(), &size) == 1 &&
            size == seed.size(),
        "an Ed25519 key shows its seed");
  return seed;
}

Async<Result<Signature>> KeyPair::sign(ByteVector message) { co_return sign_now(message); }

#ifdef WEFT_SODIUM

// libsodium signs and verifies in half the time of OpenSSL.
namespace {
void start_sodium() {
  static const bool ready = sodium_init() >= 0;  // libsodium is initialized once, from any thread.
  check(ready, "libsodium starts");
}
}  // namespace

Signature KeyPair::sign_now(ByteSpan message) const {
  start_sodium();
  Signature signature;
  check(crypto_sign_detached(signature.bytes.data(), nullptr, message.data(), message.size(),
                             key_->secret.data()) == 0,
        "libsodium signs");
  return signature;
}

// Besides what RFC 8032 refuses, libsodium refuses keys and commitments of small order, which no
// honest signer makes.
bool verify_now(const PublicKey& key, ByteSpan message, const Signature& signature) {
  start_sodium();
  return crypto_sign_verify_detached(signature.bytes.data(), message.data(), message.size(),
                                     key.bytes.data()) == 0;
}

#else

Signature KeyPair::sign_now(ByteSpan message) const {
  const OwnedDigest context(EVP_MD_CTX_new());
  Signature signature;
  std::size_t size = Signature::size;
  // Signing with Ed25519 needs no separate digest and no randomness, so it fails only if memory
  // runs out.
  check(context &&
            EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, key_->pkey.get()) == 1 &&
            EVP_DigestSign(context.get(), signature.bytes.data(), &size, message.data(),
                           message.size()) == 1 &&
            size == Signature::size,
        "OpenSSL signs with Ed25519");
  return signature;
}

bool verify_now(const PublicKey& key, ByteSpan message, const Signature& signature) {
  const OwnedKey pkey(
      EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, key.bytes.data(), key.bytes.size()));
  const OwnedDigest context(EVP_MD_CTX_new());
  if (!pkey || !context ||
      EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, pkey.get()) != 1)
    return false;
  return EVP_DigestVerify(context.get(), signature.bytes.data(), signature.bytes.size(),
                          message.data(), message.size()) == 1;
}

#endif

Async<Result<bool>> verify(PublicKey key, ByteVector message, Signature signature) {
  co_return verify_now(key, message, signature);
}

void random_bytes(std::span<std::uint8_t> out) {
  check(RAND_bytes(out.data(), static_cast<int>(out.size())) == 1,
        "the operating system gives random bytes");
}

}  // namespace weft::crypto
