// Requests in the name of a wallet: signed over everything that the coordinator acts on, for the
// coordinator that the user knows (known_coordinators.h).
//
// What a wallet without credits may not do is tried once more after the operator's own invitation
// was redeemed for it, where this user may read the coordinator's (DATA/invite). Blocking; waits,
// errors and threads as PatientClient.
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

  // The key for which requests are signed: the coordinator has shown that it holds it, and it is
  // the one that the user knows.
  [[nodiscard]] Result<PublicKey> coordinator();

  // From now on reads are signed by this wallet: its owner's data is shown then; the operator sees
  // all data.
  [[nodiscard]] Result<> read_as(const crypto::KeyPair& wallet);
  [[nodiscard]] Result<net::Response> read(net::Request request);
  // The JSON of a path; not_found if another server answers in HTML or the like.
  [[nodiscard]] Result<std::string> read_document(const std::string& path);

  [[nodiscard]] Result<net::Response> post(const std::string& path, const std::string& body,
                                           const crypto::KeyPair& wallet);
  // With a nonce of the caller's own, by which the coordinator knows a request that comes again.
  [[nodiscard]] Result<net::Response> post(const std::string& path, const std::string& body,
                                           const crypto::KeyPair& wallet, ByteSpan nonce);
  [[nodiscard]] Result<net::Response> get(const std::string& path, const crypto::KeyPair& wallet);
  [[nodiscard]] Result<net::Response> remove(const std::string& path,
                                             const crypto::KeyPair& wallet);
  // Puts bytes under their hash, as a client.
  [[nodiscard]] Result<Hash> put_blob(ByteSpan bytes, const crypto::KeyPair& wallet);
  // Part of a blob of `total` bytes, once: whatever comes of it is the caller's to see
  // (large_upload.h).
  [[nodiscard]] Result<net::Response> put_blob_part(const Hash& hash, ByteSpan part,
                                                    std::uint64_t offset, std::uint64_t total,
                                                    const crypto::KeyPair& wallet);
  // Has the wallet granted what an invitation brings. already_exists if it was before.
  [[nodiscard]] Result<net::Response> redeem(const std::string& invitation,
                                             const crypto::KeyPair& wallet);

 private:
  // `body` is the blob's hash for an upload.
  [[nodiscard]] Result<net::Request> sign(net::Request request, const crypto::KeyPair& wallet,
                                          const Hash& body, ByteSpan nonce);
  [[nodiscard]] Result<net::Response> send(net::Request request, const crypto::KeyPair& wallet);
  // Signs and sends; `nonce` of the first attempt.
  [[nodiscard]] Result<net::Response> send(net::Request request, const crypto::KeyPair& wallet,
                                           const Hash& body, ByteSpan nonce);
  // True if the wallet has been granted credits by it, now or before, at the first call.
  [[nodiscard]] bool redeem_own(const crypto::KeyPair& wallet);

  PatientClient& client_;
  std::mutex meeting_;  // Guards coordinator_: one thread asks, the others wait for the answer.
  std::optional<PublicKey> coordinator_;
  std::optional<crypto::KeyPair> reader_;
  std::atomic<bool> redeemed_ = false;  // redeem_own() was called.
};

}  // namespace weft::cli
