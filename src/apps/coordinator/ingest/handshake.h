// The handshake in which a worker and the coordinator prove their keys to each other: the
// coordinator answers Hello with a signed Challenge, and a valid Prove makes the worker's arrival.
//
// Threading: one thread at a time; after greet() any thread may call the accessors.
#pragma once

#include <functional>
#include <string>

#include "common/base/bytes.h"
#include "common/base/ids.h"
#include "common/base/result.h"
#include "common/protocol/coordinator_message.h"
#include "common/protocol/hello.h"
#include "decisions/jobs/events.h"
#include "decisions/trust/levels.h"

namespace weft::coordinator {

class Handshake {
 public:
  struct Parts {
    PublicKey coordinator;
    std::function<Signature(ByteSpan)> sign;  // Signs with the coordinator's key.
    std::string host;                         // Host in the worker's URL (canonical_host).
    // The path of the invitation file, which native workers on loopback are told; empty if no
    // worker is told.
    std::string invite_file{};
    // The chain and program for which receipts count; zeros if the coordinator has no chain.
    Hash genesis{};
    PublicKey program{};
    std::string prefix{};  // Address prefix of the worker (net::address_prefix()).
    // The level of invitation of workers that present no invitation.
    trust::Invitation without = trust::Invitation::none;
  };
  explicit Handshake(Parts parts) : parts_(std::move(parts)) {}

  // Answers Hello. Fails with unsupported if the worker and the coordinator share no protocol
  // version.
  [[nodiscard]] Result<protocol::Challenge> greet(const protocol::Hello& hello);
  // Checks the worker's proof. Call after greet(). Fails with unauthenticated if the worker's key
  // did not make the signature, with permission_denied if the invitation is for clients, and with
  // the errors of crypto::read_invitation().
  [[nodiscard]] Result<jobs::Arrival> prove(jobs::SessionId id, const protocol::Prove& prove) const;

  [[nodiscard]] const PublicKey& worker() const { return hello_.key; }
  // The nonces that the two sides sign in this session.
  [[nodiscard]] const Hash& nonce() const { return nonce_; }
  [[nodiscard]] const Hash& worker_nonce() const { return hello_.nonce; }

 private:
  [[nodiscard]] Result<trust::Invitation> invitation(const std::string& invite) const;

  const Parts parts_;
  protocol::Hello hello_;
  Hash nonce_;
};

}  // namespace weft::coordinator
