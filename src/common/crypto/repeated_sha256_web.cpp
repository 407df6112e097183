#include "common/crypto/repeated_sha256.h"
#include "common/crypto/sha256_portable.h"

namespace weft::crypto {

struct RepeatedSha256::State {};

RepeatedSha256::RepeatedSha256() = default;
RepeatedSha256::~RepeatedSha256() = default;

Hash RepeatedSha256::operator()(ByteSpan message) {
  Sha256Portable hash;
  hash.update(message);
  return hash.finish();
}

}  // namespace weft::crypto
