#include <openssl/hmac.h>

#include "common/base/check.h"
#include "common/crypto/hmac.h"

namespace weft::crypto {

ByteVector hmac_sha1(ByteSpan key, ByteSpan message) {
  ByteVector out(EVP_MAX_MD_SIZE);
  unsigned int size = 0;
  check(HMAC(EVP_sha1(), key.data(), static_cast<int>(key.size()), message.data(), message.size(),
             out.data(), &size) != nullptr,
        "OpenSSL has SHA-1");
  out.resize(size);
  return out;
}

}  // namespace weft::crypto
