#include <openssl/evp.h>

#include "common/base/check.h"
#include "common/crypto/sha256.h"

namespace weft::crypto {

// OpenSSL's digest calls fail only if memory runs out or the library is broken. A caller could
// handle neither, so check() ends the program.
struct Sha256::State {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  State() {
    check(context != nullptr && EVP_DigestInit_ex(context, EVP_sha256(), nullptr) == 1,
          "OpenSSL starts a SHA-256");
  }
  State(const State&) = delete;
  ~State() { EVP_MD_CTX_free(context); }
};

Sha256::Sha256() : state_(std::make_unique<State>()) {}
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256::~Sha256() = default;

Sha256& Sha256::update(ByteSpan bytes) {
  check(EVP_DigestUpdate(state_->context, bytes.data(), bytes.size()) == 1,
        "OpenSSL continues a SHA-256");
  return *this;
}

Hash Sha256::finish() {
  Hash hash;
  check(EVP_DigestFinal_ex(state_->context, hash.bytes.data(), nullptr) == 1,
        "OpenSSL ends a SHA-256");
  return hash;
}

Hash sha256(ByteSpan bytes) { return Sha256().update(bytes).finish(); }

}  // namespace weft::crypto
