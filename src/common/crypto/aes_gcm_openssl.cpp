#include <memory>

#include <openssl/evp.h>

#include "common/base/check.h"
#include "common/crypto/aes_gcm.h"

namespace weft::crypto {
namespace {

struct FreeCipher {
  void operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }
};
using Cipher = std::unique_ptr<EVP_CIPHER_CTX, FreeCipher>;

}  // namespace

ByteVector aes_gcm_seal(const AesKey& key, const AesNonce& nonce, ByteSpan associated,
                        ByteSpan plain) {
  const Cipher context(EVP_CIPHER_CTX_new());
  ByteVector out(plain.size() + aes_tag_bytes);
  int size = 0;
  const bool done =
      context != nullptr &&
      EVP_EncryptInit_ex(context.get(), EVP_aes_256_gcm(), nullptr, key.bytes.data(),
                         nonce.bytes.data()) == 1 &&
      (associated.empty() || EVP_EncryptUpdate(context.get(), nullptr, &size, associated.data(),
                                               static_cast<int>(associated.size())) == 1) &&
      (plain.empty() || EVP_EncryptUpdate(context.get(), out.data(), &size, plain.data(),
                                          static_cast<int>(plain.size())) == 1) &&
      EVP_EncryptFinal_ex(context.get(), out.data() + plain.size(), &size) == 1 &&
      EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_GCM_GET_TAG, static_cast<int>(aes_tag_bytes),
                          out.data() + plain.size()) == 1;
  check(done, "OpenSSL has AES-256-GCM");
  return out;
}

Result<ByteVector> aes_gcm_open(const AesKey& key, const AesNonce& nonce, ByteSpan associated,
                                ByteSpan sealed) {
  const auto refused = [] {
    return fail(ErrorCode::permission_denied, "The bytes were not sealed with this key.");
  };
  if (sealed.size() < aes_tag_bytes) return refused();
  const ByteSpan body = sealed.first(sealed.size() - aes_tag_bytes);
  ByteVector tag(sealed.end() - aes_tag_bytes, sealed.end());
  const Cipher context(EVP_CIPHER_CTX_new());
  // OpenSSL may write up to the size of the body; an empty vector has no address.
  ByteVector out(body.size() + 1);
  int size = 0;
  const bool done =
      context != nullptr &&
      EVP_DecryptInit_ex(context.get(), EVP_aes_256_gcm(), nullptr, key.bytes.data(),
                         nonce.bytes.data()) == 1 &&
      (associated.empty() || EVP_DecryptUpdate(context.get(), nullptr, &size, associated.data(),
                                               static_cast<int>(associated.size())) == 1) &&
      (body.empty() || EVP_DecryptUpdate(context.get(), out.data(), &size, body.data(),
                                         static_cast<int>(body.size())) == 1) &&
      EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_GCM_SET_TAG, static_cast<int>(aes_tag_bytes),
                          tag.data()) == 1 &&
      EVP_DecryptFinal_ex(context.get(), out.data() + body.size(), &size) == 1;
  if (!done) return refused();
  out.resize(body.size());
  return out;
}

}  // namespace weft::crypto
