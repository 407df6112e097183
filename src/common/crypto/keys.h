// Ed25519 (RFC 8032) keys. The functions are coroutines, because the browser's WebCrypto answers
// later; natively they are done at once.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "common/base/async.h"
#include "common/base/bytes.h"
#include "common/base/ids.h"
#include "common/base/result.h"

namespace weft::crypto {

// The holder of a key, which signs without showing the key.
class Signer {
 public:
  virtual ~Signer() = default;
  [[nodiscard]] virtual const PublicKey& public_key() const = 0;
  [[nodiscard]] virtual Async<Result<Signature>> sign(ByteVector message) = 0;
};

[[nodiscard]] Async<Result<bool>> verify(PublicKey key, ByteVector message, Signature signature);

#ifndef __EMSCRIPTEN__
// A native key, a 32-byte seed. All its functions are synchronous.
class KeyPair final : public Signer {
 public:
  [[nodiscard]] static Result<KeyPair> generate();
  [[nodiscard]] static Result<KeyPair> from_seed(ByteSpan seed);
  KeyPair(KeyPair&&) noexcept;
  KeyPair& operator=(KeyPair&&) noexcept;
  ~KeyPair() override;

  [[nodiscard]] const PublicKey& public_key() const override { return public_key_; }
  [[nodiscard]] ByteVector seed() const;
  [[nodiscard]] Async<Result<Signature>> sign(ByteVector message) override;
  [[nodiscard]] Signature sign_now(ByteSpan message) const;

 private:
  struct Key;
  KeyPair(std::unique_ptr<Key> key, PublicKey public_key);
  std::unique_ptr<Key> key_;
  PublicKey public_key_;
};

[[nodiscard]] bool verify_now(const PublicKey& key, ByteSpan message, const Signature& signature);
#else
// A key in the browser, a CryptoKey that cannot be exported. A script that gets into the page can
// sign with the key while the page is open, but cannot take the key away. The key is made in the
// Worker and kept in IndexedDB, so that the next visit earns for the same wallet. Without IndexedDB
// (Node, some private windows) the key lives as long as the Worker. Fails with unsupported if
// WebCrypto is missing (a page over plain http) or lacks Ed25519.
class BrowserKey final : public Signer {
 public:
  [[nodiscard]] static Async<Result<std::unique_ptr<BrowserKey>>> load_or_create();
  // Imports Solana's id.json (wallet_text.h). The key replaces the stored one.
  [[nodiscard]] static Async<Result<std::unique_ptr<BrowserKey>>> import_wallet(std::string text);
  // Fails with permission_denied, except for a key that an earlier version stored in an exportable
  // form. Such a key is written as id.json once, and is stored in a form that is not exportable
  // from then on.
  [[nodiscard]] Async<Result<std::string>> export_wallet();
  ~BrowserKey() override;

  [[nodiscard]] const PublicKey& public_key() const override { return public_key_; }
  [[nodiscard]] Async<Result<Signature>> sign(ByteVector message) override;

 private:
  BrowserKey(std::uint32_t handle, PublicKey public_key)
      : handle_(handle), public_key_(public_key) {}
  std::uint32_t handle_;  // Index into the table of keys_web.js.
  PublicKey public_key_;
};
#endif

// Fills `out` from the operating system or the browser. Ends the program if that fails.
void random_bytes(std::span<std::uint8_t> out);

}  // namespace weft::crypto
