#include <memory>

#include <openssl/core_names.h>
#include <openssl/kdf.h>
#include <openssl/params.h>

#include "common/base/check.h"
#include "common/crypto/hkdf.h"

namespace weft::crypto {
namespace {

struct FreeKdf {
  void operator()(EVP_KDF* kdf) const { EVP_KDF_free(kdf); }
};
struct FreeContext {
  void operator()(EVP_KDF_CTX* context) const { EVP_KDF_CTX_free(context); }
};

// OpenSSL's parameters are not const, but inputs are not changed.
OSSL_PARAM octets(const char* name, ByteSpan bytes) {
  return OSSL_PARAM_construct_octet_string(name, const_cast<std::uint8_t*>(bytes.data()),
                                           bytes.size());
}

}  // namespace

ByteVector hkdf_sha256(ByteSpan secret, ByteSpan salt, ByteSpan info, std::size_t size) {
  const std::unique_ptr<EVP_KDF, FreeKdf> kdf(EVP_KDF_fetch(nullptr, "HKDF", nullptr));
  check(kdf != nullptr, "OpenSSL has HKDF");
  const std::unique_ptr<EVP_KDF_CTX, FreeContext> context(EVP_KDF_CTX_new(kdf.get()));
  std::string digest = "SHA256";
  // RFC 5869: no salt means a salt of zeros, as long as the hash.
  const ByteVector zeros(32);
  const OSSL_PARAM parameters[] = {
      OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, digest.data(), 0),
      octets(OSSL_KDF_PARAM_KEY, secret),
      octets(OSSL_KDF_PARAM_SALT, salt.empty() ? ByteSpan(zeros) : salt),
      octets(OSSL_KDF_PARAM_INFO, info), OSSL_PARAM_construct_end()};
  ByteVector out(size);
  check(EVP_KDF_derive(context.get(), out.data(), out.size(), parameters) == 1,
        "OpenSSL derives keys");
  return out;
}

}  // namespace weft::crypto
