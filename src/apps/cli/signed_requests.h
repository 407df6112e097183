// Sends requests signed by a wallet. The signature covers everything that the coordinator acts on,
// and the key of the coordinator that the user knows (known_coordinators.h).
//
// If a wallet lacks credits, and this user may read the coordinator's DATA/invite, the operator's
// own invitation is redeemed for the wallet and the request is tried once more. Blocking; the rules
// for waits, errors and threads are those of PatientClient.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

#include "apps/cli/patient_client.h"
#include "common/base/bytes.h"
#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/crypto/keys.h"

namespace weft::cli {

class SignedRequests {
 public:
  explicit SignedRequests(PatientClient& client) : client_(client) {}

  // Returns the coordinator's key, which every signed request names. The coordinator has proven
  // that it holds the key, and the user knows no other key of this coordinator.
  [[nodiscard]] Result<PublicKey> coordinator();

  // Signs all further reads by this wallet, so that the data of its owner are returned; the
  // operator gets all data.
  [[nodiscard]] Result<> read_as(const crypto::KeyPair& wallet);
  [[nodiscard]] Result<net::Response> read(net::Request request);
  // Reads the JSON document of a path. Fails with not_found if the answer is not JSON, because then
  // another server has answered.
  [[nodiscard]] Result<std::string> read_document(const std::string& path);

  [[nodiscard]] Result<net::Response> post(const std::string& path, const std::string& body,
                                           const crypto::KeyPair& wallet);
  // Posts with a nonce of the caller's own, by which the coordinator detects a repeated request.
  [[nodiscard]] Result<net::Response> post(const std::string& path, const std::string& body,
                                           const crypto::KeyPair& wallet, ByteSpan nonce);
  [[nodiscard]] Result<net::Response> get(const std::string& path, const crypto::KeyPair& wallet);
  [[nodiscard]] Result<net::Response> remove(const std::string& path,
                                             const crypto::KeyPair& wallet);
  // Uploads a blob under its hash, as a client.
  [[nodiscard]] Result<Hash> put_blob(ByteSpan bytes, const crypto::KeyPair& wallet);
  // Uploads a part of a blob of `total` bytes, without retries; the caller handles the answer
  // (large_upload.h).
  [[nodiscard]] Result<net::Response> put_blob_part(const Hash& hash, ByteSpan part,
                                                    std::uint64_t offset, std::uint64_t total,
                                                    const crypto::KeyPair& wallet);
  // Redeems an invitation for the wallet. Fails with already_exists if it was redeemed before.
  [[nodiscard]] Result<net::Response> redeem(const std::string& invitation,
                                             const crypto::KeyPair& wallet);

 private:
  // `body` is the hash of the request's body; for an upload the hash of the blob.
  [[nodiscard]] Result<net::Request> sign(net::Request request, const crypto::KeyPair& wallet,
                                          const Hash& body, ByteSpan nonce);
  [[nodiscard]] Result<net::Response> send(net::Request request, const crypto::KeyPair& wallet);
  // Signs and sends a request; `nonce` is that of the first attempt.
  [[nodiscard]] Result<net::Response> send(net::Request request, const crypto::KeyPair& wallet,
                                           const Hash& body, ByteSpan nonce);
  // Redeems the operator's invitation at the first call. True if it has granted credits to the
  // wallet, now or before.
  [[nodiscard]] bool redeem_own(const crypto::KeyPair& wallet);

  PatientClient& client_;
  std::mutex meeting_;  // Guards coordinator_: one thread asks, and others wait for its result.
  std::optional<PublicKey> coordinator_;
  std::optional<crypto::KeyPair> reader_;
  std::atomic<bool> redeemed_ = false;  // True after redeem_own() was called.
};

}  // namespace weft::cli
