#include <openssl/evp.h>

#include "common/base/check.h"
#include "common/crypto/repeated_sha256.h"

namespace weft::crypto {

struct RepeatedSha256::State {
  EVP_MD* method = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  State() = default;
  State(const State&) = delete;
  ~State() {
    EVP_MD_CTX_free(context);
    EVP_MD_free(method);
  }
};

RepeatedSha256::RepeatedSha256() : state_(std::make_unique<State>()) {
  check(state_->method != nullptr && state_->context != nullptr, "OpenSSL has SHA-256");
}
RepeatedSha256::~RepeatedSha256() = default;

Hash RepeatedSha256::operator()(ByteSpan message) {
  Hash hash;
  check(EVP_DigestInit_ex2(state_->context, state_->method, nullptr) == 1 &&
            EVP_DigestUpdate(state_->context, message.data(), message.size()) == 1 &&
            EVP_DigestFinal_ex(state_->context, hash.bytes.data(), nullptr) == 1,
        "OpenSSL makes a SHA-256");
  return hash;
}

}  // namespace weft::crypto
