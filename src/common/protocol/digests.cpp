#include "common/crypto/sha256.h"
#include "common/protocol/codec.h"
#include "common/protocol/signing.h"

namespace weft::protocol {
namespace {

ByteVector digest_of(crypto::Sha256& digest) {
  const Hash hash = digest.finish();
  return {hash.bytes.begin(), hash.bytes.end()};
}

}  // namespace

ByteVector hello_digest(const PublicKey& coordinator, const Hash& nonce, const PublicKey& worker) {
  crypto::Sha256 digest;
  digest.update(as_bytes(std::string_view("weft-hello-1"))).update(coordinator.span()).update(nonce.span()).update(worker.span());
  return digest_of(digest);
}

ByteVector submit_digest(const Hash& manifest_digest, ByteSpan nonce) {
  crypto::Sha256 digest;
  digest.update(as_bytes(std::string_view("weft-submit-1"))).update(manifest_digest.span()).update(nonce);
  return digest_of(digest);
}

ByteVector blob_digest(const Hash& blob, ByteSpan nonce) {
  crypto::Sha256 digest;
  digest.update(as_bytes(std::string_view("weft-blob-1"))).update(blob.span()).update(nonce);
  return digest_of(digest);
}

}  // namespace weft::protocol
