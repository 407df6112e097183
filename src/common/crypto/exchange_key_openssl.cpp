#include <algorithm>
#include <string>

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>

#include "common/base/check.h"
#include "common/crypto/exchange_key.h"

namespace weft::crypto {
namespace {

constexpr const char* curve = "P-256";
constexpr std::size_t shared_bytes = 32;

struct Free {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(EVP_PKEY_CTX* context) const { EVP_PKEY_CTX_free(context); }
  void operator()(OSSL_PARAM_BLD* builder) const { OSSL_PARAM_BLD_free(builder); }
  void operator()(OSSL_PARAM* parameters) const { OSSL_PARAM_free(parameters); }
  void operator()(BIGNUM* number) const { BN_clear_free(number); }
};
template <class T>
using Owned = std::unique_ptr<T, Free>;

// Makes a key of OpenSSL from a point, with `secret` if it is not empty. Null if OpenSSL refuses
// it.
Owned<EVP_PKEY> make_key(const ExchangePoint& point, ByteSpan secret) {
  const Owned<OSSL_PARAM_BLD> builder(OSSL_PARAM_BLD_new());
  check(builder != nullptr, "there is memory for a key");
  Owned<BIGNUM> number;
  OSSL_PARAM_BLD_push_utf8_string(builder.get(), OSSL_PKEY_PARAM_GROUP_NAME, curve, 0);
  OSSL_PARAM_BLD_push_octet_string(builder.get(), OSSL_PKEY_PARAM_PUB_KEY, point.bytes.data(),
                                   point.bytes.size());
  if (!secret.empty()) {
    number.reset(BN_bin2bn(secret.data(), static_cast<int>(secret.size()), nullptr));
    OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_PRIV_KEY, number.get());
  }
  const Owned<OSSL_PARAM> parameters(OSSL_PARAM_BLD_to_param(builder.get()));
  const Owned<EVP_PKEY_CTX> context(EVP_PKEY_CTX_new_from_name(nullptr, "EC", nullptr));
  EVP_PKEY* key = nullptr;
  const int selection = secret.empty() ? EVP_PKEY_PUBLIC_KEY : EVP_PKEY_KEYPAIR;
  if (context == nullptr || parameters == nullptr || EVP_PKEY_fromdata_init(context.get()) != 1 ||
      EVP_PKEY_fromdata(context.get(), &key, selection, parameters.get()) != 1)
    return nullptr;
  Owned<EVP_PKEY> made(key);
  const Owned<EVP_PKEY_CTX> checks(EVP_PKEY_CTX_new_from_pkey(nullptr, made.get(), nullptr));
  const int valid = checks == nullptr ? 0
                    : secret.empty()  ? EVP_PKEY_public_check(checks.get())
                                      : EVP_PKEY_pairwise_check(checks.get());
  return valid == 1 ? std::move(made) : nullptr;
}

}  // namespace

struct ExchangeKey::Key {
  Owned<EVP_PKEY> pkey;
};

ExchangeKey::ExchangeKey(std::unique_ptr<Key> key, ExchangePoint point)
    : key_(std::move(key)), point_(point) {}
ExchangeKey::ExchangeKey(ExchangeKey&&) noexcept = default;
ExchangeKey& ExchangeKey::operator=(ExchangeKey&&) noexcept = default;
ExchangeKey::~ExchangeKey() = default;

ExchangeKey ExchangeKey::generate() {
  auto key = std::make_unique<Key>();
  key->pkey.reset(EVP_EC_gen(curve));
  check(key->pkey != nullptr, "OpenSSL has the curve P-256");
  ExchangePoint point;
  std::size_t size = 0;
  check(EVP_PKEY_get_octet_string_param(key->pkey.get(), OSSL_PKEY_PARAM_PUB_KEY,
                                        point.bytes.data(), point.bytes.size(), &size) == 1 &&
            size == ExchangePoint::size,
        "OpenSSL gives the point of its key");
  return ExchangeKey(std::move(key), point);
}

Result<ExchangeKey> ExchangeKey::from_parts(ByteSpan secret, const ExchangePoint& point) {
  auto key = std::make_unique<Key>();
  if (!secret.empty()) key->pkey = make_key(point, secret);
  if (key->pkey == nullptr)
    return fail(ErrorCode::invalid_argument, "The secret and the point are no key of P-256.");
  return ExchangeKey(std::move(key), point);
}

Result<ByteVector> ExchangeKey::shared_with(const ExchangePoint& theirs) const {
  const Owned<EVP_PKEY> peer = make_key(theirs, {});
  if (peer == nullptr)
    return fail(ErrorCode::invalid_argument,
                "The key of the other side is not a point of the curve P-256.");
  const Owned<EVP_PKEY_CTX> context(EVP_PKEY_CTX_new_from_pkey(nullptr, key_->pkey.get(), nullptr));
  ByteVector out(shared_bytes);
  std::size_t size = out.size();
  const bool done = context != nullptr && EVP_PKEY_derive_init(context.get()) == 1 &&
                    EVP_PKEY_derive_set_peer(context.get(), peer.get()) == 1 &&
                    EVP_PKEY_derive(context.get(), out.data(), &size) == 1 && size == shared_bytes;
  check(done, "OpenSSL computes a shared secret");
  return out;
}

}  // namespace weft::crypto
