// Ed25519 (RFC 8032) keys. Coroutines, since the browser's WebCrypto answers later; natively they
// are done at once.
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

// A key owner that can sign without showing the key.
class Signer {
 public:
  virtual ~Signer() = default;
  [[nodiscard]] virtual const PublicKey& public_key() const = 0;
  [[nodiscard]] virtual Async<Result<Signature>> sign(ByteVector message) = 0;
};

[[nodiscard]] Async<Result<bool>> verify(PublicKey key, ByteVector message, Signature signature);

#ifndef __EMSCRIPTEN__
// Natively a key is a 32-byte seed and everything is synchronous.
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
// In the browser the key is a CryptoKey that cannot be exported: a script that gets into the page
// can sign with it as long as the page is open, and cannot take it away. It is made in the Worker
// and kept in IndexedDB, so that the same wallet earns the next time. Without IndexedDB (Node, some
// private windows) it lives as long as the Worker. unsupported if WebCrypto is missing (a page over
// plain http) or lacks Ed25519.
class BrowserKey final : public Signer {
 public:
  [[nodiscard]] static Async<Result<std::unique_ptr<BrowserKey>>> load_or_create();
  // Takes Solana's id.json (wallet_text.h). The key replaces the one that is kept.
  [[nodiscard]] static Async<Result<std::unique_ptr<BrowserKey>>> import_wallet(std::string text);
  // permission_denied, except for a key that an earlier version kept and that can be exported: it
  // is written as id.json once, and kept from then on as one that cannot.
  [[nodiscard]] Async<Result<std::string>> export_wallet();
  ~BrowserKey() override;

  [[nodiscard]] const PublicKey& public_key() const override { return public_key_; }
  [[nodiscard]] Async<Result<Signature>> sign(ByteVector message) override;

 private:
  BrowserKey(std::uint32_t handle, PublicKey public_key)
      : handle_(handle), public_key_(public_key) {}
  std::uint32_t handle_;  // In the table of keys_web.js.
  PublicKey public_key_;
};
#endif

// From the operating system or the browser; ends the program where that fails.
void random_bytes(std::span<std::uint8_t> out);

}  // namespace weft::crypto
