#include "common/crypto/sha256.h"
#include "common/crypto/sha256_portable.h"

namespace weft::crypto {

struct Sha256::State {
  Sha256Portable digest;
};

Sha256::Sha256() : state_(std::make_unique<State>()) {}
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256::~Sha256() = default;

Sha256& Sha256::update(ByteSpan bytes) {
  state_->digest.update(bytes);
  return *this;
}

Hash Sha256::finish() { return state_->digest.finish(); }

Hash sha256(ByteSpan bytes) {
  Sha256Portable digest;
  digest.update(bytes);
  return digest.finish();
}

}  // namespace weft::crypto
